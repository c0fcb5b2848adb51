//! The root file systems, put together from unpacked packages.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::needed;
use crate::run;

/// The programs of clang, lld and llvm that make and look at Windows binaries.
const TOOLS: &[&str] = &[
    "clang",
    "clang++",
    "ld.lld",
    "lld",
    "lld-link",
    "llvm-ar",
    "llvm-cvtres",
    "llvm-dlltool",
    "llvm-lib",
    "llvm-nm",
    "llvm-objcopy",
    "llvm-objdump",
    "llvm-ranlib",
    "llvm-rc",
    "llvm-readelf",
    "llvm-readobj",
    "llvm-strip",
];

/// Links to [`TOOLS`] that packages leave out.
const EXTRA: &[(&str, &str)] = &[("clang-cl", "clang")];

/// Whether a package of clang's closure is worth its download: what only serves
/// to link programs for this machine is not.
pub(super) fn clang_wants(package: &str) -> bool {
    let headers = package.ends_with("-dev") && !package.starts_with("libclang-common-");
    let native = ["binutils", "gcc-", "linux-"]
        .iter()
        .any(|prefix| package.starts_with(prefix));
    !headers && !native
}

/// A root with a shell and the usual small tools.
pub(super) fn busybox(unpacked: &Path, root: &Path) -> Result<()> {
    for dir in [
        "usr/bin", "usr/sbin", "usr/lib", "dev", "etc", "proc", "run", "sys", "var",
    ] {
        make_dir(&root.join(dir), 0o755)?;
    }
    make_dir(&root.join("root"), 0o700)?;
    make_dir(&root.join("tmp"), 0o1777)?;
    make_dir(&root.join("var/tmp"), 0o1777)?;
    // As Debian has it: one place for programs, the old names lead to it.
    for name in ["bin", "sbin", "lib"] {
        symlink(format!("usr/{name}"), root.join(name))?;
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    fs::write(root.join("etc/group"), "root:x:0:\n")?;

    let program = root.join("usr/bin/busybox");
    fs::copy(unpacked.join("usr/bin/busybox"), &program).context("busybox-static has moved")?;
    let listed = run::output(
        Command::new(&program).arg("--list-full"),
        Duration::from_secs(10),
    )?;
    for applet in listed.out.lines() {
        let place = if applet.contains("sbin/") {
            "usr/sbin"
        } else {
            "usr/bin"
        };
        let Some(name) = applet.rsplit('/').next().filter(|name| !name.is_empty()) else {
            continue;
        };
        let link = root.join(place).join(name);
        if name != "busybox" && fs::symlink_metadata(&link).is_err() {
            symlink("/usr/bin/busybox", link)?;
        }
    }
    Ok(())
}

/// Adds clang, lld and llvm to a root: the programs, clang's own headers, and
/// the libraries that these programs need, nothing else.
pub(super) fn clang(unpacked: &Path, root: &Path) -> Result<()> {
    let llvm = llvm_dir(unpacked)?;
    let bin = llvm.join("bin");
    let mut programs = Vec::new();
    for tool in TOOLS {
        let mut file = bin.join(tool);
        // A tool may be a link to another one; both are kept.
        while let Ok(target) = fs::read_link(unpacked.join(&file)) {
            put_link(root, &file, &target)?;
            file.set_file_name(target);
        }
        programs.push(file);
        replace_link(
            &format!("../lib/{}/bin/{tool}", name_of(&llvm)?),
            &root.join("usr/bin").join(tool),
        )?;
    }
    for (name, tool) in EXTRA {
        put_link(root, &bin.join(name), Path::new(tool))?;
        replace_link(
            &format!("../lib/{}/bin/{name}", name_of(&llvm)?),
            &root.join("usr/bin").join(name),
        )?;
    }
    programs.sort();
    programs.dedup();

    let folders = library_folders(unpacked, &llvm)?;
    let libraries = needed::closure(unpacked, &programs, &folders)?;
    for file in programs.iter().chain(&libraries) {
        put_file(unpacked, root, file)?;
    }
    for program in &programs {
        let bytes = fs::read(unpacked.join(program))?;
        if let Some(linker) = needed::of(&bytes)?.interpreter {
            put_interpreter(unpacked, root, &linker)?;
        }
    }
    put_tree(unpacked, root, &llvm.join("lib/clang"))
}

/// `usr/lib/llvm-N`, relative.
fn llvm_dir(unpacked: &Path) -> Result<PathBuf> {
    let lib = unpacked.join("usr/lib");
    fs::read_dir(&lib)?
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with("llvm-"))
        .max()
        .map(|name| Path::new("usr/lib").join(name))
        .context("the packages bring no usr/lib/llvm-N")
}

fn library_folders(unpacked: &Path, llvm: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = vec![llvm.join("lib")];
    for entry in fs::read_dir(unpacked.join("usr/lib"))?.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().contains("-linux-") {
            folders.push(Path::new("usr/lib").join(&name));
            // Before the merge of /usr, libc was here.
            folders.push(Path::new("lib").join(&name));
        }
    }
    folders.sort();
    Ok(folders)
}

/// Copies a file; where it is a link, the link and what it leads to.
fn put_file(from: &Path, root: &Path, file: &Path) -> Result<()> {
    let mut file = file.to_owned();
    while let Ok(target) = fs::read_link(from.join(&file)) {
        put_link(root, &file, &target)?;
        file = file.parent().unwrap_or(Path::new("")).join(target);
    }
    let to = root.join(&file);
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::copy(from.join(&file), &to).with_context(|| file.display().to_string())?;
    Ok(())
}

/// Makes the dynamic linker known by the absolute path that programs name.
fn put_interpreter(from: &Path, root: &Path, linker: &str) -> Result<()> {
    let path = Path::new(linker.trim_start_matches('/'));
    let top = path.parent().context("a dynamic linker at /")?;
    let merged = Path::new("usr").join(path);
    if from.join(&merged).exists() || fs::symlink_metadata(from.join(&merged)).is_ok() {
        put_file(from, root, &merged)?;
        if fs::symlink_metadata(root.join(top)).is_err() {
            symlink(Path::new("usr").join(top), root.join(top))?;
        }
        Ok(())
    } else {
        put_file(from, root, path)
    }
}

fn put_tree(from: &Path, root: &Path, dir: &Path) -> Result<()> {
    fs::create_dir_all(root.join(dir))?;
    for entry in fs::read_dir(from.join(dir))? {
        let entry = entry?;
        let path = dir.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            put_tree(from, root, &path)?;
        } else if kind.is_symlink() {
            put_link(root, &path, &fs::read_link(entry.path())?)?;
        } else {
            put_file(from, root, &path)?;
        }
    }
    Ok(())
}

fn put_link(root: &Path, file: &Path, target: &Path) -> Result<()> {
    let link = root.join(file);
    if let Some(dir) = link.parent() {
        fs::create_dir_all(dir)?;
    }
    replace_link(&target.to_string_lossy(), &link)
}

/// Makes a link, in place of one that is there.
fn replace_link(target: &str, link: &Path) -> Result<()> {
    if fs::symlink_metadata(link).is_ok() {
        fs::remove_file(link)?;
    }
    symlink(target, link).with_context(|| link.display().to_string())
}

fn make_dir(dir: &Path, mode: u32) -> Result<()> {
    fs::create_dir_all(dir)?;
    // The mode of a new directory is cut by the umask, this one is not.
    fs::set_permissions(dir, Permissions::from_mode(mode))?;
    Ok(())
}

fn name_of(path: &Path) -> Result<String> {
    let name = path.file_name().context("a path without a name")?;
    Ok(name.to_string_lossy().into_owned())
}
