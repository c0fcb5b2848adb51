//! A step that is a file operation: one vertex and one layer, like a step that runs.

use llb::{Copy, FileOp, Id, MkDir, MkFile, Output, Owner, Rm, Symlink};

use super::step::FILE_MODE;
use super::tree::copy_to;
use super::{Failed, Lowering};
use crate::diag::rule;
use crate::plan::{
    CopySource, FileCopy, FileWork, Owner as Owned, OwnerId, PlannedStage, PlannedStep, StageIndex,
};

/// Mode of directories that are made on the way to a file.
const PARENT_MODE: u16 = 0o755;

impl Lowering<'_> {
    pub(super) fn file_step(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        step: &PlannedStep,
        work: &FileWork,
        root: Option<Output>,
    ) -> Result<Output, Failed> {
        let op = FileOp::new(root);
        let (op, what) = match work {
            FileWork::Copy(copy) => self.copy(index, stage, step, copy, op)?,
            FileWork::Write {
                path,
                text,
                mode,
                owner: by,
            } => {
                let mut file = MkFile::new(path, *mode, text.as_bytes());
                if let Some(by) = by {
                    file = file.owner(owner(by));
                }
                (above(op, path).mkfile(file), format!("write {path}"))
            }
            FileWork::Mkdir {
                path,
                mode,
                owner: by,
            } => {
                // Not `make_parents`: that would give the directories above this mode and owner.
                let mut directory = MkDir::new(path, *mode);
                if let Some(by) = by {
                    directory = directory.owner(owner(by));
                }
                (above(op, path).mkdir(directory), format!("mkdir {path}"))
            }
            FileWork::Link { path, to } => (
                above(op, path).symlink(Symlink::new(to, path)),
                format!("link {path} to {to}"),
            ),
            FileWork::Delete { path, optional } => {
                let mut rm = Rm::new(path);
                if *optional {
                    rm = rm.may_be_missing();
                }
                if path.contains(['*', '?', '[']) {
                    rm = rm.wildcard();
                }
                (op.rm(rm), format!("delete {path}"))
            }
        };
        let metadata = self.step_metadata(&what, stage, step);
        Ok(op.metadata(metadata).build()?)
    }

    fn copy(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        step: &PlannedStep,
        copy: &FileCopy,
        mut op: FileOp,
    ) -> Result<(FileOp, String), Failed> {
        let changed = |mut one: Copy| {
            if !copy.only.is_empty() {
                one = one.include(&copy.only);
            }
            if !copy.except.is_empty() {
                one = one.exclude(&copy.except);
            }
            if let Some(by) = &copy.owner {
                one = one.owner(owner(by));
            }
            match copy.mode {
                Some(mode) => one.mode(mode),
                None => one,
            }
        };
        Ok(match &copy.from {
            CopySource::Tree { stage, paths } => {
                for path in paths {
                    let (product, from) = self.part_for(index, *stage, path.as_str())?;
                    let one = self.copy_of(&product, &from, path);
                    op = above(op, path.as_str()).copy(changed(one));
                }
                let name = &self.plan.stages[*stage].name;
                (op, format!("copy the tree of {name}"))
            }
            CopySource::Part { stage, path, to } => {
                let (product, from) = self.part_for(index, *stage, path)?;
                let mut one = copy_to(&product, &from, to);
                if path.contains(['*', '?']) {
                    one = one.wildcard(false);
                }
                let name = &self.plan.stages[*stage].name;
                let what = format!("copy {path} of {name} to {to}");
                (above(op, to).copy(changed(one)), what)
            }
            CopySource::Git { git, path, to } => {
                let checkout = self.checkout(git)?;
                let what = format!("copy {path} of {git} to {to}");
                let one = match path.as_str() {
                    "" => Copy::new(checkout, "/", to).contents().make_parents(),
                    path => copy_to(&checkout, &format!("/{path}"), to),
                };
                (above(op, to).copy(changed(one)), what)
            }
            CopySource::Payload { payload, path, to } => {
                let files = self.payload(payload)?;
                let normal = self.normal(stage, step, &files, path, copy.mode)?;
                let what = format!("copy payload {payload} to {to}");
                let one = copy_to(&normal, &self.files_at(path), to);
                (above(op, to).copy(changed(one)), what)
            }
            CopySource::Fetch { fetch, path, to } => {
                let files = self.fetch(fetch)?;
                let normal = self.normal(stage, step, &files, path, copy.mode)?;
                let what = format!("copy download {fetch} to {to}");
                let one = copy_to(&normal, &self.files_at(path), to);
                (above(op, to).copy(changed(one)), what)
            }
            CopySource::Context { path, to } => {
                let context = self.context_for(path)?;
                let normal = self.normal(stage, step, &context, path, copy.mode)?;
                let what = format!("copy {path} to {to}");
                let one = copy_to(&normal, &self.files_at(path), to);
                (above(op, to).copy(changed(one)), what)
            }
        })
    }

    /// What has a path of the context.
    pub(super) fn context_for(&self, path: &str) -> Result<Output, Failed> {
        self.context.clone().ok_or_else(|| {
            let text = format!("there is no context to take `{path}` from");
            Failed::new(rule::ENGINE, text)
        })
    }

    /// A file or directory of the context, or a payload, with a mode that no checkout changes, so that what the
    /// copy of it into a root is keyed by has none either.
    fn normal(
        &self,
        stage: &PlannedStage,
        step: &PlannedStep,
        files: &Output,
        path: &str,
        mode: Option<u16>,
    ) -> Result<Output, Failed> {
        let to = self.files_at(path);
        let copy = Copy::new(files.clone(), format!("/{path}"), &to)
            .follow_symlink()
            .contents()
            .make_parents()
            .mode(mode.unwrap_or(FILE_MODE));
        let name = format!("[{}] files of {}", stage.name, step.name);
        let op = above(FileOp::new(self.base()?), &to).copy(copy);
        Ok(op.metadata(self.metadata(name, &step.span)).build()?)
    }
}

/// Makes the directories above a path; of a place that ends with `/`, that one too. They are
/// root's, whoever gets what is put there.
fn above(op: FileOp, path: &str) -> FileOp {
    match path.rsplit_once('/') {
        Some(("", _)) | None => op,
        Some((parent, _)) => op.mkdir(MkDir::new(parent, PARENT_MODE).make_parents()),
    }
}

fn owner(by: &Owned) -> Owner {
    let id = |id: &OwnerId| match id {
        OwnerId::Number(number) => Id::Number(*number),
        OwnerId::Name(name) => Id::Name(name.clone()),
    };
    Owner {
        user: Some(id(&by.user)),
        group: by.group.as_ref().map(id),
    }
}
