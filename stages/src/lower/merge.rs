//! Trees put together, by a merge or, on engines without one, by a copy that makes the same tree.
//!
//! Each of the trees is a copy already, so none deletes what another has. Where two of them could
//! have one path, lanegate compares them, and the merged tree goes on through a mount that is
//! handed on as it is, like a product behind a gate: that the trees were compared is in no key of
//! what stands behind.

use llb::{Bind, ContentCache, Copy, FileOp, MkDir, MkFile, Output, caps};

use super::tree::copy_to;
use super::{Failed, Lowering};
use crate::diag::rule;
use crate::plan::{Merge, PlannedStage, StageIndex};

/// Where the compared trees are.
const TREES: &str = "/trees";
/// Where the merged tree is.
const MERGED: &str = "/merged";

impl Lowering<'_> {
    pub(super) fn merge(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        merge: &Merge,
    ) -> Result<Output, Failed> {
        let mut parts = Vec::new();
        for part in &merge.parts {
            let (product, _) = self.part_for(index, part.stage, "/")?;
            parts.push(match &part.moved {
                None => product,
                Some((from, to)) => {
                    let name = format!("[{}] {from} at {to}", stage.name);
                    let metadata = self.stage_metadata(name, &stage.span, &stage.name);
                    let copy = copy_to(&product, from, to);
                    FileOp::new(None).copy(copy).metadata(metadata).build()?
                }
            });
        }
        let mut trees = Vec::new();
        trees.extend(self.markers(stage, merge)?);
        trees.extend(parts.iter().cloned());
        trees.extend(self.winners(stage, merge, &parts)?);
        let merged = self.together(stage, trees)?;
        if merge.compare {
            self.compared(stage, merge, &parts, merged)
        } else {
            Ok(merged)
        }
    }

    /// What is said of the parts that the lane does not have: files in an empty root, on Windows on
    /// the base image.
    pub(super) fn markers(
        &self,
        stage: &PlannedStage,
        merge: &Merge,
    ) -> Result<Option<Output>, Failed> {
        if merge.markers.is_empty() {
            return Ok(None);
        }
        let mut op = FileOp::new(self.base()?);
        for marker in &merge.markers {
            if let Some((parent, _)) = marker.path.rsplit_once('/').filter(|(p, _)| !p.is_empty()) {
                op = op.mkdir(MkDir::new(parent, 0o755).make_parents());
            }
            op = op.mkfile(MkFile::new(&marker.path, 0o644, marker.text.as_bytes()));
        }
        let name = format!("[{}] absent", stage.name);
        let made = op.metadata(self.metadata(name, &stage.span)).build()?;
        Ok(Some(made))
    }

    /// The paths of trees that count where trees differ: once more, over all of them.
    fn winners(
        &self,
        stage: &PlannedStage,
        merge: &Merge,
        parts: &[Output],
    ) -> Result<Vec<Output>, Failed> {
        let mut winners = Vec::new();
        for (part, tree) in merge.parts.iter().zip(parts) {
            let taken = merge
                .take
                .iter()
                .filter(|(_, winner)| *winner == part.stage);
            let patterns: Vec<&str> = taken.map(|(pattern, _)| pattern.as_str()).collect();
            if patterns.is_empty() {
                continue;
            }
            let winner = &self.plan.stages[part.stage].name;
            let name = format!(
                "[{}] what {winner} has of {}",
                stage.name,
                patterns.join(", ")
            );
            let copy = Copy::new(tree.clone(), "/", "/")
                .contents()
                .include(patterns);
            let metadata = self.stage_metadata(name, &stage.span, &stage.name);
            winners.push(FileOp::new(None).copy(copy).metadata(metadata).build()?);
        }
        Ok(winners)
    }

    /// Trees over each other, later ones on top.
    fn together(&self, stage: &PlannedStage, trees: Vec<Output>) -> Result<Output, Failed> {
        let name = format!("[{}] merge", stage.name);
        let metadata = self.stage_metadata(name, &stage.span, &stage.name);
        match trees.as_slice() {
            [] => {
                let text = format!("stage `{}` merges nothing in this lane", stage.name);
                return Err(Failed::new(rule::VALUE, text));
            }
            [only] => return Ok(only.clone()),
            _ if self.host.caps.supports(caps::MERGE) => {
                return Ok(llb::Merge::new(trees).metadata(metadata).build()?);
            }
            _ => {}
        }
        // As a merge does: whole trees, so that the last one's directories keep their modes, and
        // what is of another kind is replaced.
        let replace = self.host.caps.supports(caps::FILE_COPY_ALWAYS_REPLACE);
        let mut op = FileOp::new(None);
        for tree in trees {
            let copy = Copy::new(tree, "/", "/").contents();
            op = op.copy(if replace { copy.always_replace() } else { copy });
        }
        Ok(op.metadata(metadata).build()?)
    }

    fn compared(
        &self,
        stage: &PlannedStage,
        merge: &Merge,
        parts: &[Output],
        merged: Output,
    ) -> Result<Output, Failed> {
        let name = |index: StageIndex| self.plan.stages[index].name.as_str();
        let mut args = vec!["overlap".to_owned()];
        for (number, part) in merge.parts.iter().enumerate() {
            args.extend([
                "--tree".to_owned(),
                format!("{}={TREES}/{number}", name(part.stage)),
            ]);
        }
        for pattern in &merge.any {
            args.extend(["--any".to_owned(), pattern.clone()]);
        }
        for (pattern, winner) in &merge.take {
            args.extend(["--take".to_owned(), format!("{pattern}={}", name(*winner))]);
        }
        if merge.fold {
            args.push("--fold".to_owned());
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut exec = self.lanegate(&args)?;
        for (number, tree) in parts.iter().enumerate() {
            exec = exec.mount(format!("{TREES}/{number}"), Bind::read_only(tree.clone()));
        }
        let mut merged = Bind::sealed(merged);
        if self.host.caps.supports(caps::EXEC_MOUNT_CONTENT_CACHE) {
            merged = merged.content(ContentCache::Off);
        }
        let title = format!("[{}] compare", stage.name);
        let metadata = self.stage_metadata(title, &stage.span, &stage.name);
        let run = exec.mount(MERGED, merged).metadata(metadata).build()?;
        Ok(run.output(MERGED)?)
    }
}
