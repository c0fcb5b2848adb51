//! Trees: taken out of a root, put together, put onto a root.

use llb::{Copy, FileOp, Output};

use super::step::FILE_MODE;
use super::{Failed, Lowering, copy_path, copy_some};
use crate::diag::Span;
use crate::plan::{CopiedPart, PlannedStage, PlannedStep, Product, StageIndex, TreePath};

impl Lowering<'_> {
    /// The product out of the root after the last step, at its own paths, and nothing else. Mount
    /// points that the engine made are gone by then: on Linux it takes them away (llb asks it to).
    pub(super) fn tree(
        &self,
        stage: &PlannedStage,
        paths: &[TreePath],
        root: &Output,
    ) -> Result<Output, Failed> {
        let mut op = FileOp::new(None);
        for path in paths {
            op = op.copy(copy_some(root, path));
        }
        let metadata =
            self.stage_metadata(format!("[{}] tree", stage.name), &stage.span, &stage.name);
        Ok(op.metadata(metadata).build()?)
    }

    /// Trees onto a root. A copy on every engine: what comes behind is keyed by the trees' bytes,
    /// which a merge as a root would not give (BuildKit hashes no content for merges).
    pub(super) fn add(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        root: Option<Output>,
    ) -> Result<Output, Failed> {
        let metadata =
            self.stage_metadata(format!("[{}] add", stage.name), &stage.span, &stage.name);
        let mut op = FileOp::new(root);
        for &part in &stage.add {
            op = self.put(op, index, part)?;
        }
        Ok(op.metadata(metadata).build()?)
    }

    /// Products of other stages, into the root of a step before it runs. By their bytes: a
    /// producer that makes the same ones again re-runs neither this copy nor the step.
    pub(super) fn copies(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        step: &PlannedStep,
        root: Option<Output>,
    ) -> Result<Option<Output>, Failed> {
        if step.copies.is_empty() {
            return Ok(root);
        }
        let mut root = root;
        for copied in &step.copies {
            // One vertex for each: BuildKit's key of a file operation holds the bytes of all that
            // it copies, but not which of two equal names went where.
            let op = FileOp::new(root);
            let op = match &copied.what {
                CopiedPart::Paths(paths) => self.put_paths(op, index, copied.stage, paths),
                CopiedPart::Part { sub, at } => {
                    let product = self.part_for(index, copied.stage, sub);
                    product.map(|(product, sub)| op.copy(copy_to(&product, &sub, at)))
                }
            }
            .map_err(|e| e.within(&copied.span))?;
            let name = format!("[{}] copy for {}", stage.name, step.name);
            let metadata = self.stage_metadata(name, &step.span, &stage.name);
            root = Some(op.metadata(metadata).build()?);
        }
        Ok(root)
    }

    /// The tree of `part` for `consumer`, put to what an op has.
    fn put(
        &mut self,
        op: FileOp,
        consumer: StageIndex,
        part: StageIndex,
    ) -> Result<FileOp, Failed> {
        match self.plan.stages[part].product.clone() {
            Product::Tree(paths) => self.put_paths(op, consumer, part, &paths),
            Product::Root => Ok(op),
        }
    }

    fn put_paths(
        &mut self,
        mut op: FileOp,
        consumer: StageIndex,
        part: StageIndex,
        paths: &[TreePath],
    ) -> Result<FileOp, Failed> {
        for path in paths {
            let (tree, from) = self.part_for(consumer, part, path.as_str())?;
            op = op.copy(self.copy_of(&tree, &from, path));
        }
        Ok(op)
    }

    /// A path of a tree, which has it at `from`, to its place. Windows takes it from the producer's root, where more is;
    /// elsewhere the tree holds nothing but itself.
    pub(super) fn copy_of(&self, tree: &Output, from: &str, path: &TreePath) -> Copy {
        if from != path.as_str() {
            copy_to(tree, from, path.as_str())
        } else if self.on_windows() {
            copy_some(tree, path)
        } else {
            copy_path(tree, path)
        }
    }

    /// A directory of the product, as the root of the output.
    pub(super) fn bundle(
        &self,
        product: &Output,
        root: &str,
        add: &[(String, String)],
        span: &Span,
    ) -> Result<Output, Failed> {
        let metadata = self.metadata(format!("[bundle] {root}"), span);
        let copy = Copy::new(product.clone(), root, "/").contents();
        let op = self.beside(FileOp::new(None).copy(copy), "", add)?;
        Ok(op.metadata(metadata).build()?)
    }

    /// Files of the context in a bundle whose root is at `root`, with modes that no checkout
    /// changes.
    pub(super) fn beside(
        &self,
        mut op: FileOp,
        root: &str,
        add: &[(String, String)],
    ) -> Result<FileOp, Failed> {
        for (from, to) in add {
            let Some(context) = &self.context else {
                let text = format!("there is no context to take `{from}` from");
                return Err(Failed::new(crate::diag::rule::ENGINE, text));
            };
            let to = format!("{}/{to}", root.trim_end_matches('/'));
            let copy = Copy::new(context.clone(), format!("/{from}"), to);
            let copy = copy.follow_symlink().contents().make_parents();
            op = op.copy(copy.mode(FILE_MODE));
        }
        Ok(op)
    }
}

/// A copy of a file, or of what is in a directory, to another place. With a `/` at its end that
/// is a directory into which it is put. Where the names are the same
/// the directory itself is copied into the one above, so that it keeps its mode and owner.
pub(super) fn copy_to(from: &Output, sub: &str, at: &str) -> Copy {
    if at.ends_with('/') {
        return Copy::new(from.clone(), sub, at).make_parents();
    }
    let split = |path: &str| {
        path.rsplit_once('/')
            .map(|(up, name)| (format!("{up}/"), name.to_owned()))
    };
    match (split(sub), split(at)) {
        (Some((_, from_name)), Some((up, name))) if from_name == name => {
            Copy::new(from.clone(), sub, up).make_parents()
        }
        _ => Copy::new(from.clone(), sub, at).contents().make_parents(),
    }
}
