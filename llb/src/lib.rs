//! BuildKit's LLB: wire types, typed ops and canonical bytes.
//!
//! A graph grows from sources ([`Image`], [`Local`], [`Http`], [`Git`],
//! [`OciLayout`]) through ops ([`Exec`], [`FileOp`], [`Merge`], [`Diff`]). Each
//! builder makes an [`Output`], or refuses with an [`Error`] what BuildKit would
//! refuse; the op is encoded there and then, so its [`Digest`] is known: the one
//! by which BuildKit names the vertex. [`Definition`] puts the graph behind an
//! output into the form that `Solve` and `buildctl build` take.
//!
//! What an op needs of the engine is declared where the field is set ([`caps`]);
//! what is said about it outside its key is its [`Metadata`].
//!
//! ```
//! use llb::{Definition, Exec, Image, Metadata, Platform, Root};
//!
//! let platform = Platform::new("linux", "amd64");
//! let base = Image::new("debian:13".parse()?, platform.clone()).build();
//! let run = Exec::new(platform, Root::writable(base), ["sh", "-c", "date > /now"])
//!     .metadata(Metadata::named("what time is it"))
//!     .build()?;
//! let definition = Definition::new(&run.root()?);
//! assert_eq!(definition.as_pb().def.len(), 3);
//! # Ok::<(), llb::Error>(())
//! ```

pub mod caps;
mod definition;
mod diff;
mod digest;
mod error;
mod exec;
mod file;
mod merge;
mod metadata;
mod mount;
mod path;
mod platform;
pub mod proto;
mod reference;
#[cfg(feature = "sample")]
pub mod sample;
mod source;
mod source_map;
mod vertex;
pub mod view;

pub use caps::{Cap, Caps, Missing};
pub use definition::Definition;
pub use diff::Diff;
pub use digest::{Digest, Hasher};
pub use error::Error;
pub use exec::{Exec, Network, Proxy, Root, Run, Security};
pub use file::{Copy, FileOp, Id, MkDir, MkFile, Owner, Rm, Symlink};
pub use merge::Merge;
pub use metadata::Metadata;
pub use mount::{Bind, Cache, ContentCache, Mount, Secret, Sharing, Ssh, Tmpfs};
pub use platform::Platform;
pub use reference::Reference;
pub use source::{Git, Http, Image, Local, OciLayout, ResolveMode};
pub use source_map::{Location, Position, Range, SourceFile};
pub use vertex::Output;
