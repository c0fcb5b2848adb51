//! What is known to be in a root: what trees, copies and file steps put there. What commands
//! write is not known.
//!
//! On Windows nothing may be put over it: a copy over a file of a layer below stores its name in
//! small letters there, and programs that look for the name as it was do not find it.

use super::build::Planner;
use super::{CopySource, FileCopy, FileWork, PlannedStep, StageIndex, TreePath, Work};
use crate::diag::{Diagnostic, Span, rule};

/// One thing in a root: what, and whose.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    path: TreePath,
    by: Span,
}

/// What a step is known to put into its root.
pub(super) fn by_step(step: &PlannedStep) -> impl Iterator<Item = Placed> {
    let copied = step.copies.iter().flat_map(|copied| copied.places());
    let written = match &step.work {
        Work::Run(_) => Vec::new(),
        Work::File(work) => by_work(work),
    };
    copied.chain(written).map(|path| Placed {
        path,
        by: step.span.clone(),
    })
}

fn by_work(work: &FileWork) -> Vec<TreePath> {
    match work {
        FileWork::Copy(FileCopy {
            from: CopySource::Tree { paths, .. },
            ..
        }) => paths.clone(),
        // Into a directory: under which names is not known.
        FileWork::Copy(FileCopy {
            from:
                CopySource::Part { to, .. }
                | CopySource::Git { to, .. }
                | CopySource::Payload { to, .. }
                | CopySource::Fetch { to, .. }
                | CopySource::Context { to, .. },
            ..
        }) if to.ends_with('/') => Vec::new(),
        FileWork::Copy(FileCopy {
            from:
                CopySource::Part { to, .. }
                | CopySource::Git { to, .. }
                | CopySource::Payload { to, .. }
                | CopySource::Fetch { to, .. }
                | CopySource::Context { to, .. },
            ..
        }) => vec![TreePath::all_of(to.clone())],
        FileWork::Write { path, .. } | FileWork::Link { path, .. } => {
            vec![TreePath::all_of(path.clone())]
        }
        // A directory is in nobody's way, and what is deleted is gone.
        FileWork::Mkdir { .. } | FileWork::Delete { .. } => Vec::new(),
    }
}

impl Planner<'_, '_> {
    /// What trees put onto a root is known from then on; on Windows nothing may be there before.
    pub(super) fn placed(
        &mut self,
        mut before: Vec<Placed>,
        added: &[(StageIndex, Span)],
    ) -> Vec<Placed> {
        let platform = &self.selection.setting.lane.platform.value;
        let windows = platform.split('/').next() == Some("windows");
        let mut new = Vec::new();
        for (stage, span) in added {
            for path in self.paths(*stage).to_vec() {
                let over = |placed: &&Placed| placed.path.folded().overlaps(&path.folded());
                if let Some(placed) = before.iter().find(over).filter(|_| windows) {
                    let name = &self.stages[*stage].name;
                    let message = format!(
                        "the tree of `{name}` goes over what is at {}",
                        self.spelling.shown(placed.path.as_str())
                    );
                    self.report.push(
                        Diagnostic::new(rule::OVERLAP, message)
                            .at(span, format!("it has {}", self.spelling.shown(path.as_str())))
                            .related(&placed.by, "this put it there")
                            .help("Windows loses the spelling of names that a copy goes over: merge the trees before anything is added, or add to new paths"),
                    );
                }
                new.push(Placed {
                    path,
                    by: span.clone(),
                });
            }
        }
        before.extend(new);
        before
    }
}
