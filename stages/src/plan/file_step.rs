//! A step that changes files and runs nothing.

use std::collections::BTreeMap;

use super::build::{Inherited, Planner};
use super::tree::{below, parent};
use super::uses::contained;
use super::{CopySource, FileCopy, FileWork, Owner, OwnerId, PlannedStep, Work};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{CopyFrom, CopyStep, FileStep, Network, Sandbox, Step};
use crate::text::Template;

/// Plans a file step. `empty` when nothing is in the root before it.
pub(super) fn plan(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    file: &FileStep,
    from: &Inherited,
    empty: bool,
) -> Option<PlannedStep> {
    let mut filler = Filler {
        planner,
        env: &from.env,
        empty,
    };
    let work = match file {
        FileStep::Copy(copy) => filler.copy(copy).map(FileWork::Copy),
        FileStep::Write {
            path,
            text,
            mode,
            owner,
        } => {
            let (path, text) = (filler.plain(path, &['*', '?']), filler.text(text));
            let owner = filler.owner(owner.as_ref());
            path.zip(text)
                .zip(owner)
                .map(|((path, text), owner)| FileWork::Write {
                    path,
                    text,
                    mode: *mode,
                    owner,
                })
        }
        FileStep::Mkdir { path, mode, owner } => {
            let path = filler.plain(path, &['*', '?']);
            let owner = filler.owner(owner.as_ref());
            path.zip(owner).map(|(path, owner)| FileWork::Mkdir {
                path,
                mode: *mode,
                owner,
            })
        }
        FileStep::Link { path, to } => {
            let (path, to) = (filler.plain(path, &['*', '?']), filler.text(to));
            path.zip(to).map(|(path, to)| FileWork::Link { path, to })
        }
        FileStep::Delete { path, optional } => filler.delete(path, *optional),
    };
    Some(PlannedStep {
        name: step.name.value.clone(),
        span: step.span.clone(),
        work: Work::File(work?),
        env: BTreeMap::new(),
        behind: None,
        host: Vec::new(),
        files: BTreeMap::new(),
        uses: Vec::new(),
        copies: Vec::new(),
        cache: Vec::new(),
        secrets: Vec::new(),
        ssh: Vec::new(),
        tmpfs: Vec::new(),
        network: Network::Default,
        sandbox: Sandbox::default(),
        cwd: "/".to_owned(),
        user: String::new(),
        record: false,
    })
}

/// Fills the texts of one file step in.
struct Filler<'p, 's, 'g> {
    planner: &'p mut Planner<'s, 'g>,
    env: &'p BTreeMap<String, String>,
    empty: bool,
}

impl Filler<'_, '_, '_> {
    fn text(&mut self, template: &Template) -> Option<String> {
        let Planner {
            selection, report, ..
        } = self.planner;
        selection.fill(template, self.env, report)
    }

    /// An absolute path that is not the root.
    fn path(&mut self, template: &Template) -> Option<String> {
        let text = self.text(template)?;
        let Planner {
            spelling, report, ..
        } = self.planner;
        let path = spelling.absolute(&text, &template.span, report)?;
        if path == "/" {
            let message = format!("`{}` is the root itself", spelling.shown(&path));
            report.push(
                Diagnostic::new(rule::PATH, message).at(&template.span, "expected a path in it"),
            );
            return None;
        }
        Some(path)
    }

    /// A path without patterns, which `marks` make one.
    fn plain(&mut self, template: &Template, marks: &[char]) -> Option<String> {
        let path = self.path(template)?;
        if path.contains(marks) {
            let message = format!("`{}` is a pattern", self.planner.spelling.shown(&path));
            self.planner
                .report
                .push(Diagnostic::new(rule::PATH, message).at(&template.span, "expected one path"));
            return None;
        }
        Some(path)
    }

    /// A place to copy to: with a `/` at its end, into that directory.
    fn to(&mut self, template: &Template) -> Option<String> {
        let text = self.text(template)?;
        let windows = self.planner.spelling.is_windows();
        if text == "/" && !windows || text == "C:\\" && windows {
            return Some("/".to_owned());
        }
        let mut path = self.plain(template, &['*', '?', '['])?;
        if text.ends_with(if windows { '\\' } else { '/' }) {
            path.push('/');
        }
        Some(path)
    }

    fn patterns(&mut self, templates: &[Template]) -> Option<Vec<String>> {
        let all: Vec<Option<String>> = templates
            .iter()
            .map(|template| {
                let text = self.text(template)?;
                below(&text, &template.span, &mut self.planner.report)
            })
            .collect();
        let mut all = all.into_iter().collect::<Option<Vec<String>>>()?;
        all.sort();
        all.dedup();
        Some(all)
    }

    /// The outer `None` is an error, the inner one nobody.
    fn owner(&mut self, template: Option<&Template>) -> Option<Option<Owner>> {
        let Some(template) = template else {
            return Some(None);
        };
        let text = self.text(template)?;
        let owner = owner(&text, &template.span, &mut self.planner.report)?;
        let named = |id: &OwnerId| matches!(id, OwnerId::Name(_));
        if self.empty && (named(&owner.user) || owner.group.as_ref().is_some_and(named)) {
            self.planner.report.push(
                Diagnostic::new(
                    rule::EMPTY,
                    format!("nobody is called `{text}` in an empty root"),
                )
                .at(&template.span, "there is no /etc/passwd to look it up in")
                .help("name the owner by numbers: owner = \"1000:1000\""),
            );
            return None;
        }
        Some(Some(owner))
    }

    fn copy(&mut self, copy: &CopyStep) -> Option<FileCopy> {
        let from = self.source(copy);
        let (only, except) = (self.patterns(&copy.only), self.patterns(&copy.except));
        let owner = self.owner(copy.owner.as_ref())?;
        Some(FileCopy {
            from: from?,
            only: only?,
            except: except?,
            mode: copy.mode,
            owner,
        })
    }

    fn source(&mut self, copy: &CopyStep) -> Option<CopySource> {
        let to = match &copy.to {
            Some(to) => Some(self.to(to)?),
            None => None,
        };
        match (&copy.from, to) {
            (CopyFrom::Context(path), Some(to)) => Some(CopySource::Context {
                path: path.value.trim_end_matches('/').to_owned(),
                to,
            }),
            (CopyFrom::Git(git, path), Some(to)) => {
                self.planner.take_git(&git.value);
                let path = path
                    .as_ref()
                    .map_or("", |path| path.value.trim_end_matches('/'));
                Some(CopySource::Git {
                    git: git.value.clone(),
                    path: path.to_owned(),
                    to,
                })
            }
            (CopyFrom::Stage(stage, None), _) => {
                let &stage = self.planner.index.get(stage.value.as_str())?;
                let paths = self.planner.paths(stage).to_vec();
                Some(CopySource::Tree { stage, paths })
            }
            (CopyFrom::Stage(name, Some(sub)), Some(to)) => {
                let path = self.path(sub)?;
                let &stage = self.planner.index.get(name.value.as_str())?;
                let pattern = path.contains(['*', '?']);
                let whole = if pattern { parent(&path) } else { &path };
                contained(self.planner, &name.value, stage, whole, &sub.span);
                if pattern && !to.ends_with('/') {
                    let Planner {
                        spelling, report, ..
                    } = self.planner;
                    let message = format!("`{}` may be several files", spelling.shown(&path));
                    let directory = spelling.quoted(&format!("{to}/"));
                    report.push(
                        Diagnostic::new(rule::PATH, message)
                            .at(&sub.span, "a pattern")
                            .help(format!("copy them into a directory: to = {directory}")),
                    );
                    return None;
                }
                Some(CopySource::Part { stage, path, to })
            }
            (CopyFrom::Fetch(fetch), Some(to)) => Some(CopySource::Fetch {
                path: self.planner.take_fetch(&fetch.value)?,
                fetch: fetch.value.clone(),
                to,
            }),
            (CopyFrom::Payload(payload), Some(to)) => Some(CopySource::Payload {
                path: self.planner.payload(&payload.value)?,
                payload: payload.value.clone(),
                to,
            }),
            (
                CopyFrom::Context(_)
                | CopyFrom::Git(..)
                | CopyFrom::Payload(_)
                | CopyFrom::Fetch(_)
                | CopyFrom::Stage(..),
                None,
            ) => None,
        }
    }

    fn delete(&mut self, template: &Template, optional: bool) -> Option<FileWork> {
        let path = self.path(template)?;
        if self.empty {
            self.planner.report.push(
                Diagnostic::new(rule::EMPTY, "there is nothing to delete in an empty root")
                    .at(&template.span, "the stage starts from scratch"),
            );
            return None;
        }
        Some(FileWork::Delete { path, optional })
    }
}

/// `USER` or `USER:GROUP`, by names or numbers. A user by number alone is of the group with that
/// number, as everywhere else in container builds.
fn owner(text: &str, span: &Span, report: &mut Report) -> Option<Owner> {
    let id = |text: &str| match text.parse() {
        Ok(number) => Some(OwnerId::Number(number)),
        Err(_) if text.bytes().all(|b| b.is_ascii_digit()) => None,
        Err(_) => Some(OwnerId::Name(text.to_owned())),
    };
    let owner = match text.split_once(':') {
        None => id(text).map(|user| Owner {
            group: Some(user.clone()).filter(|user| matches!(user, OwnerId::Number(_))),
            user,
        }),
        Some((user, group)) => id(user).zip(id(group)).map(|(user, group)| Owner {
            user,
            group: Some(group),
        }),
    };
    if owner.is_none() {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{text}` is no owner"))
                .at(span, "expected USER or USER:GROUP, by names or numbers"),
        );
    }
    owner
}
