//! File ops: a chain of file operations in one vertex.

use std::collections::BTreeSet;

use crate::caps::{self, Cap};
use crate::error::Error;
use crate::proto::pb;
use crate::vertex::{Inputs, NONE, Vertex, to_index};
use crate::{Metadata, Output, path};

/// A chain of file operations on a base. Each works on the result of the one
/// before; together they are one vertex and one layer.
///
/// Paths begin with a slash and have slashes, also on Windows.
#[derive(Clone, Debug)]
pub struct FileOp {
    base: Option<Output>,
    actions: Vec<Action>,
    metadata: Metadata,
}

#[derive(Clone, Debug)]
enum Action {
    Copy(Copy),
    MkFile(MkFile),
    MkDir(MkDir),
    Rm(Rm),
    Symlink(Symlink),
}

/// A user or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// By number.
    Number(u32),
    /// By name, looked up in the base.
    Name(String),
}

/// Who owns a file; what is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: Option<Id>,
    /// The group.
    pub group: Option<Id>,
}

impl Owner {
    /// A user and a group by number.
    #[must_use]
    pub fn ids(user: u32, group: u32) -> Self {
        Self {
            user: Some(Id::Number(user)),
            group: Some(Id::Number(group)),
        }
    }
}

/// Copies from another output.
#[derive(Clone, Debug)]
pub struct Copy {
    from: Output,
    owner: Option<Owner>,
    wire: pb::FileActionCopy,
}

impl Copy {
    /// Copies `src` of an output to `dest`.
    ///
    /// A directory at `dest` takes `src` in; otherwise `dest` becomes what
    /// `src` is. Modes, owners and times are kept.
    #[must_use]
    pub fn new(from: Output, src: impl Into<String>, dest: impl Into<String>) -> Self {
        Self {
            from,
            owner: None,
            wire: pb::FileActionCopy {
                src: src.into(),
                dest: dest.into(),
                mode: -1,
                timestamp: -1,
                ..pb::FileActionCopy::default()
            },
        }
    }

    /// Copies what a link at `src` points to, instead of the link.
    #[must_use]
    pub fn follow_symlink(mut self) -> Self {
        self.wire.follow_symlink = true;
        self
    }

    /// Copies what is in the directory `src`, instead of the directory.
    #[must_use]
    pub fn contents(mut self) -> Self {
        self.wire.dir_copy_contents = true;
        self
    }

    /// Makes the directories above `dest`.
    #[must_use]
    pub fn make_parents(mut self) -> Self {
        self.wire.create_dest_path = true;
        self
    }

    /// `src` is a pattern; it has to match something, unless `may_be_empty`.
    #[must_use]
    pub fn wildcard(mut self, may_be_empty: bool) -> Self {
        self.wire.allow_wildcard = true;
        self.wire.allow_empty_wildcard = may_be_empty;
        self
    }

    /// Copies only what one of these patterns matches, below `src`.
    #[must_use]
    pub fn include<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.wire.include_patterns = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Does not copy what one of these patterns matches, below `src`.
    #[must_use]
    pub fn exclude<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.wire.exclude_patterns = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Fails unless all of these paths are copied. Only together with
    /// [`Self::include`].
    #[must_use]
    pub fn required<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        self.wire.required_paths = paths.into_iter().map(Into::into).collect();
        self
    }

    /// The permission bits of all that is copied, directories included.
    #[must_use]
    pub fn mode(mut self, mode: u16) -> Self {
        self.wire.mode = permissions(mode);
        self
    }

    /// The owner of all that is copied.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// The times of all that is copied, in nanoseconds since 1970.
    #[must_use]
    pub fn time(mut self, nanoseconds: i64) -> Self {
        self.wire.timestamp = nanoseconds;
        self
    }

    /// Unpacks what `src` names, when it is an archive: a tar, also a compressed one.
    #[must_use]
    pub fn unpack(mut self) -> Self {
        self.wire.attempt_unpack_docker_compatibility = true;
        self
    }

    /// Replaces what is at the destination and of another kind, as a merge
    /// does, instead of failing.
    #[must_use]
    pub fn always_replace(mut self) -> Self {
        self.wire.always_replace_existing_dest_paths = true;
        self
    }
}

/// Makes a file.
#[derive(Clone, Debug)]
pub struct MkFile {
    owner: Option<Owner>,
    wire: pb::FileActionMkFile,
}

impl MkFile {
    /// A file at `path` with permission bits and content.
    #[must_use]
    pub fn new(path: impl Into<String>, mode: u16, data: impl Into<Vec<u8>>) -> Self {
        Self {
            owner: None,
            wire: pb::FileActionMkFile {
                path: path.into(),
                mode: permissions(mode),
                data: data.into(),
                timestamp: -1,
                owner: None,
            },
        }
    }

    /// The owner.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// The times, in nanoseconds since 1970.
    #[must_use]
    pub fn time(mut self, nanoseconds: i64) -> Self {
        self.wire.timestamp = nanoseconds;
        self
    }
}

/// Makes a directory.
#[derive(Clone, Debug)]
pub struct MkDir {
    owner: Option<Owner>,
    wire: pb::FileActionMkDir,
}

impl MkDir {
    /// A directory at `path` with permission bits.
    #[must_use]
    pub fn new(path: impl Into<String>, mode: u16) -> Self {
        Self {
            owner: None,
            wire: pb::FileActionMkDir {
                path: path.into(),
                mode: permissions(mode),
                timestamp: -1,
                ..pb::FileActionMkDir::default()
            },
        }
    }

    /// Makes the directories above it too; it may be there already.
    #[must_use]
    pub fn make_parents(mut self) -> Self {
        self.wire.make_parents = true;
        self
    }

    /// The owner.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// The times, in nanoseconds since 1970.
    #[must_use]
    pub fn time(mut self, nanoseconds: i64) -> Self {
        self.wire.timestamp = nanoseconds;
        self
    }
}

/// Removes a file or a directory with all that is in it.
#[derive(Clone, Debug)]
pub struct Rm {
    wire: pb::FileActionRm,
}

impl Rm {
    /// Removes `path`, which has to be there.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            wire: pb::FileActionRm {
                path: path.into(),
                ..pb::FileActionRm::default()
            },
        }
    }

    /// It need not be there.
    #[must_use]
    pub fn may_be_missing(mut self) -> Self {
        self.wire.allow_not_found = true;
        self
    }

    /// The path is a pattern.
    #[must_use]
    pub fn wildcard(mut self) -> Self {
        self.wire.allow_wildcard = true;
        self
    }
}

/// Makes a symbolic link.
#[derive(Clone, Debug)]
pub struct Symlink {
    owner: Option<Owner>,
    wire: pb::FileActionSymlink,
}

impl Symlink {
    /// A link at `path` that says `target`, which may be relative.
    #[must_use]
    pub fn new(target: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            owner: None,
            wire: pb::FileActionSymlink {
                oldpath: target.into(),
                newpath: path.into(),
                timestamp: -1,
                owner: None,
            },
        }
    }

    /// The owner.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// The times, in nanoseconds since 1970.
    #[must_use]
    pub fn time(mut self, nanoseconds: i64) -> Self {
        self.wire.timestamp = nanoseconds;
        self
    }
}

impl FileOp {
    /// File operations on `base`, or on an empty file system.
    #[must_use]
    pub fn new(base: impl Into<Option<Output>>) -> Self {
        Self {
            base: base.into(),
            actions: Vec::new(),
            metadata: Metadata::default(),
        }
    }

    /// Copies.
    #[must_use]
    pub fn copy(mut self, copy: Copy) -> Self {
        self.actions.push(Action::Copy(copy));
        self
    }

    /// Makes a file.
    #[must_use]
    pub fn mkfile(mut self, file: MkFile) -> Self {
        self.actions.push(Action::MkFile(file));
        self
    }

    /// Makes a directory.
    #[must_use]
    pub fn mkdir(mut self, directory: MkDir) -> Self {
        self.actions.push(Action::MkDir(directory));
        self
    }

    /// Removes.
    #[must_use]
    pub fn rm(mut self, rm: Rm) -> Self {
        self.actions.push(Action::Rm(rm));
        self
    }

    /// Makes a symbolic link.
    #[must_use]
    pub fn symlink(mut self, link: Symlink) -> Self {
        self.actions.push(Action::Symlink(link));
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The file system after the last operation.
    ///
    /// # Errors
    /// No operation; a path that is not absolute or has a `..`; an owner by
    /// name without a base.
    pub fn build(self) -> Result<Output, Error> {
        let mut needs = BTreeSet::from([caps::FILE_BASE]);
        let mut inputs = Inputs::default();
        let base = self.base.as_ref().map_or(NONE, |base| inputs.add(base));
        let last = self.actions.len().checked_sub(1).ok_or(Error::NoAction)?;

        let mut actions = Vec::with_capacity(self.actions.len());
        for (position, action) in self.actions.into_iter().enumerate() {
            let from = match &action {
                Action::Copy(copy) => inputs.add(&copy.from),
                _ => NONE,
            };
            actions.push(pb::FileAction {
                input: base,
                secondary_input: from,
                output: if position == last { 0 } else { NONE },
                action: Some(action.into_wire(base, &mut needs)?),
            });
        }
        // All but the first work on the result of the one before, which is
        // counted from the number of inputs on.
        for (position, action) in actions.iter_mut().enumerate().skip(1) {
            action.input = to_index(inputs.len() + position - 1);
        }

        let op = pb::op::Op::File(pb::FileOp { actions });
        Ok(Vertex::new(op, None, inputs.into_vec(), needs, self.metadata).output(0))
    }
}

impl Action {
    fn into_wire(
        self,
        base: i64,
        needs: &mut BTreeSet<Cap>,
    ) -> Result<pb::file_action::Action, Error> {
        use pb::file_action::Action as Wire;
        Ok(match self {
            Self::Copy(Copy {
                owner,
                wire: mut copy,
                ..
            }) => {
                copy.src = absolute(&copy.src)?;
                copy.dest = absolute_keeping_slash(&copy.dest)?;
                copy.owner = chown(owner, base)?;
                if !copy.include_patterns.is_empty() || !copy.exclude_patterns.is_empty() {
                    needs.insert(caps::FILE_COPY_PATTERNS);
                }
                if !copy.required_paths.is_empty() {
                    if copy.include_patterns.is_empty() {
                        return Err(Error::Empty {
                            what: "include patterns of a copy with required paths",
                        });
                    }
                    needs.insert(caps::FILE_COPY_REQUIRED_PATHS);
                }
                if copy.always_replace_existing_dest_paths {
                    needs.insert(caps::FILE_COPY_ALWAYS_REPLACE);
                }
                Wire::Copy(copy)
            }
            Self::MkFile(MkFile {
                owner,
                wire: mut file,
            }) => {
                file.path = absolute(&file.path)?;
                file.owner = chown(owner, base)?;
                Wire::Mkfile(file)
            }
            Self::MkDir(MkDir {
                owner,
                wire: mut dir,
            }) => {
                dir.path = absolute(&dir.path)?;
                dir.owner = chown(owner, base)?;
                Wire::Mkdir(dir)
            }
            Self::Rm(Rm { wire: mut rm }) => {
                rm.path = absolute(&rm.path)?;
                if rm.allow_wildcard {
                    needs.insert(caps::FILE_RM_WILDCARD);
                }
                Wire::Rm(rm)
            }
            Self::Symlink(Symlink {
                owner,
                wire: mut link,
            }) => {
                crate::error::filled("link target", &link.oldpath)?;
                link.newpath = absolute(&link.newpath)?;
                link.owner = chown(owner, base)?;
                needs.insert(caps::FILE_SYMLINK);
                Wire::Symlink(link)
            }
        })
    }
}

fn absolute(path: &str) -> Result<String, Error> {
    path::absolute("path", path)
}

/// At the end of a destination, a slash means a directory.
fn absolute_keeping_slash(path: &str) -> Result<String, Error> {
    let mut clean = absolute(path)?;
    if path.ends_with('/') && clean != "/" {
        clean.push('/');
    }
    Ok(clean)
}

/// Permission bits, set-id and sticky bits included.
fn permissions(mode: u16) -> i32 {
    i32::from(mode & 0o7777)
}

fn chown(owner: Option<Owner>, base: i64) -> Result<Option<pb::ChownOpt>, Error> {
    let id = |id: Option<Id>| {
        id.map(|id| {
            let user = match id {
                Id::Number(number) => pb::user_opt::User::ById(number),
                Id::Name(name) if base == NONE => {
                    return Err(Error::OwnerNameOnScratch { name });
                }
                Id::Name(name) => {
                    crate::error::filled("owner", &name)?;
                    pb::user_opt::User::ByName(pb::NamedUserOpt { name, input: base })
                }
            };
            Ok(pb::UserOpt { user: Some(user) })
        })
        .transpose()
    };
    owner
        .map(|owner| {
            Ok(pb::ChownOpt {
                user: id(owner.user)?,
                group: id(owner.group)?,
            })
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Output {
        FileOp::new(None)
            .mkdir(MkDir::new("/a", 0o755))
            .build()
            .unwrap()
    }

    #[track_caller]
    fn refused(op: FileOp) -> String {
        match op.build() {
            Ok(_) => panic!("should be refused"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn at_least_one_action_is_needed() {
        assert_eq!(
            refused(FileOp::new(tree())),
            "a file op needs at least one action"
        );
    }

    #[test]
    fn every_path_is_absolute_and_goes_down() {
        for path in ["", "a", "/a/../b", r"C:\a"] {
            let op = || FileOp::new(None);
            for op in [
                op().mkdir(MkDir::new(path, 0o755)),
                op().mkfile(MkFile::new(path, 0o644, "")),
                op().rm(Rm::new(path)),
                op().symlink(Symlink::new("t", path)),
                op().copy(Copy::new(tree(), path, "/")),
                op().copy(Copy::new(tree(), "/", path)),
            ] {
                assert!(refused(op).starts_with("path"), "{path}");
            }
        }
    }

    #[test]
    fn a_link_says_something() {
        assert_eq!(
            refused(FileOp::new(None).symlink(Symlink::new("", "/a"))),
            "link target must not be empty"
        );
    }

    #[test]
    fn an_owner_by_name_needs_a_base() {
        let owner = |name: &str| Owner {
            user: None,
            group: Some(Id::Name(name.to_owned())),
        };
        let file = |name| MkFile::new("/a", 0o644, "").owner(owner(name));
        assert!(refused(FileOp::new(None).mkfile(file("users"))).contains("use a number"));
        assert!(FileOp::new(tree()).mkfile(file("users")).build().is_ok());
        assert_eq!(
            refused(FileOp::new(tree()).mkfile(file(""))),
            "owner must not be empty"
        );
    }

    #[test]
    fn required_paths_need_include_patterns() {
        let copy = || Copy::new(tree(), "/a", "/").required(["b"]);
        assert!(refused(FileOp::new(None).copy(copy())).contains("include patterns"));
        assert!(
            FileOp::new(None)
                .copy(copy().include(["b"]))
                .build()
                .is_ok()
        );
    }

    #[test]
    fn capabilities_follow_the_fields() {
        let more = |op: FileOp| -> Vec<String> {
            let output = op.build().unwrap();
            output
                .vertex
                .needs()
                .map(|cap| cap.to_string())
                .filter(|cap| cap != "file.base")
                .collect()
        };
        let op = || FileOp::new(None);
        let copy = || Copy::new(tree(), "/a", "/");
        assert!(more(op().copy(copy())).is_empty());
        assert!(more(op().mkdir(MkDir::new("/a", 0))).is_empty());
        for (op, cap) in [
            (
                op().copy(copy().include(["a"])),
                "file.copy.includeexcludepatterns",
            ),
            (
                op().copy(copy().exclude(["a"])),
                "file.copy.includeexcludepatterns",
            ),
            (
                op().copy(copy().always_replace()),
                "file.copy.alwaysreplaceexistingdestpaths",
            ),
            (op().rm(Rm::new("/a*").wildcard()), "file.rm.wildcard"),
            (op().symlink(Symlink::new("a", "/b")), "file.symlink.create"),
        ] {
            assert_eq!(more(op), [cap]);
        }
        assert_eq!(
            more(op().copy(copy().include(["a"]).required(["a"]))),
            [
                "file.copy.includeexcludepatterns",
                "file.copy.requiredpaths"
            ]
        );
    }
}
