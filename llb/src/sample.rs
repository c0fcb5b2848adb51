//! A graph with every kind of op, to compare with what an engine makes of it.

use std::num::NonZeroU64;

use crate::{
    Bind, Cache, ContentCache, Copy, Diff, Error, Exec, FileOp, Id, Merge, Metadata, MkDir, MkFile,
    Network, Output, Owner, Platform, Rm, Root, Secret, Sharing, Ssh, Symlink, Tmpfs,
};

/// A graph that holds every kind of op and, as far as one run can, every field
/// that an engine of BuildKit 0.25 knows.
///
/// `base` is a root for `platform` (not Windows) with `/bin/sh`, `cat` and
/// `test`. Nothing else is needed: no network, no secret, no agent. The result
/// is a file system with `/out`, which an engine can build and export.
///
/// # Errors
/// None, unless `platform` is Windows.
pub fn every_op(base: Output, platform: &Platform) -> Result<Output, Error> {
    let files = FileOp::new(None)
        .mkdir(MkDir::new("/in/deep", 0o755).make_parents())
        .mkfile(
            MkFile::new("/in/text", 0o644, "text\n")
                .owner(Owner::ids(0, 7))
                .time(1_000_000_000),
        )
        .mkfile(MkFile::new("/in/deep/empty", 0o600, ""))
        .mkfile(MkFile::new("/in/gone", 0o644, "gone\n"))
        .symlink(Symlink::new("text", "/in/link"))
        .rm(Rm::new("/in/go*").wildcard())
        .rm(Rm::new("/in/never").may_be_missing())
        .metadata(Metadata::named("files"))
        .build()?;

    let script = "set -e
test \"$PLAIN\" = 'a b'
test -z \"$TOKEN\"
test \"$(cat /src/text)\" = text
cat /part > /scratch/part
echo 1 > /cache/1
echo 1 > /tmp/memory/1
echo root > /made
exit 3";
    let run = Exec::new(
        platform.clone(),
        Root::writable(base.clone()),
        ["/bin/sh", "-c", script],
    )
    .cwd("/work")
    .user("0:0")
    .hostname("sample")
    .env(
        "PATH",
        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    )
    .env("PLAIN", "a b")
    .secret_env("TOKEN", "token", true)
    .host("example.test", std::net::Ipv4Addr::LOCALHOST.into())
    .ulimit("nofile", 1024, 1024)
    .network(Network::None)
    .valid_exit_codes([0, 3])
    .mount("/src", Bind::read_only(files.clone()).selector("/in")?)
    .mount("/scratch", Bind::scratch())
    .mount("/cache", Cache::new("sample", Sharing::Locked)?)
    .mount("/tmp/memory", Tmpfs::new().size(MEBIBYTE))
    .mount("/run/secrets/file", Secret::new("file")?.optional(true))
    .mount("/run/agent", Ssh::new("default")?.optional(true))
    .mount(
        "/part",
        Bind::read_only(
            FileOp::new(None)
                .mkdir(MkDir::new("/a", 0o755))
                .mkfile(MkFile::new("/a/part", 0o644, "part\n"))
                .build()?,
        )
        .selector("/a/part")?
        .content(ContentCache::On),
    )
    .mount("/drop", Bind::discard(files.clone()))
    .metadata(Metadata::named("run").group("sample", "sample", false))
    .build()?;

    let changes = Diff::new(base.clone(), run.root()?)
        .metadata(Metadata::named("what the step changed"))
        .build();
    let copied = FileOp::new(None)
        .copy(
            Copy::new(files, "/in", "/out/files")
                .contents()
                .make_parents()
                .exclude(["deep"]),
        )
        .copy(
            Copy::new(run.output("/scratch")?, "/pa*", "/out/")
                .wildcard(false)
                .follow_symlink()
                .always_replace()
                .mode(0o755)
                .owner(Owner::ids(0, 0))
                .time(1_000_000_000),
        )
        .copy(Copy::new(changes.clone(), "/no*", "/out/").wildcard(true))
        .metadata(Metadata::named("copies"))
        .build()?;
    let merged = Merge::new([copied, changes])
        .metadata(Metadata::named("merge").export_cache(true))
        .build()?;
    let owned = FileOp::new(base)
        .mkfile(MkFile::new("/by-name", 0o644, "x").owner(Owner {
            user: Some(Id::Name("root".to_owned())),
            group: None,
        }))
        .build()?;

    // What a gate is: nothing of it is in the result but that it ran.
    let gate = Exec::new(
        platform.clone(),
        Root::read_only(owned),
        ["/bin/sh", "-c", "test -e /product/out"],
    )
    .network(Network::None)
    .mount("/product", Bind::sealed(merged).content(ContentCache::Off))
    .metadata(Metadata::named("gate"))
    .build()?;
    gate.output("/product")
}

const MEBIBYTE: NonZeroU64 = match NonZeroU64::new(1 << 20) {
    Some(bytes) => bytes,
    None => NonZeroU64::MIN,
};
