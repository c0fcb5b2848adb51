//! The base images that the examples build on, made from Debian packages so
//! that nothing is pulled.
//!
//! An image is a function of the packages' versions: the same versions give
//! the same digest. The finished archive is kept, so that a second engine only
//! has to load it.

mod archive;
pub(crate) mod needed;
mod root;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::engine::{self, Engine, Suite};
use crate::run;
use archive::Config;

/// Suites that images are made from, in this order, before the machine's own:
/// one that no longer moves.
const SUITES: [&str; 1] = ["trixie"];
/// Raised when a recipe changes.
const RECIPE: u32 = 1;
/// The label that says what an image was made from.
const LABEL: &str = "org.lanekit.inputs";

const LOAD: Duration = Duration::from_secs(300);
const ASK: Duration = Duration::from_secs(30);

/// One of the images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// A shell and the usual small tools.
    Busybox,
    /// That, and clang, lld and llvm for Windows targets.
    Clang,
}

impl Base {
    /// All of them.
    pub(crate) const ALL: [Base; 2] = [Base::Busybox, Base::Clang];

    /// The name that steps start from.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Base::Busybox => "docker.io/lanekit/base-busybox:1",
            Base::Clang => "docker.io/lanekit/base-clang:1",
        }
    }

    /// Other names, given on engines of our own only.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            Base::Busybox => &["docker.io/library/busybox:1.36"],
            Base::Clang => &[],
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Base::Busybox => "base-busybox",
            Base::Clang => "base-clang",
        }
    }
}

/// An image that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// Its name.
    pub(crate) name: String,
    /// What it was made from, in short: the value of its label.
    pub(crate) inputs: String,
    /// Whether the engine had it already.
    pub(crate) kept: bool,
}

/// Makes sure that the engine has every image.
pub(crate) fn ensure(engine: &Engine) -> Result<Vec<Made>> {
    Base::ALL
        .into_iter()
        .map(|base| ensure_one(engine, base).with_context(|| format!("image {}", base.name())))
        .collect()
}

/// Pushes an image to a registry on loopback; hands back its name there.
pub(crate) fn push(engine: &Engine, base: Base, registry: &str) -> Result<String> {
    let name = base.name().replacen("docker.io", registry, 1);
    engine.run(&["tag", base.name(), &name], ASK)?;
    engine.run(&["push", "--quiet", &name], LOAD)?;
    Ok(name)
}

fn ensure_one(engine: &Engine, base: Base) -> Result<Made> {
    let dir = engine::base().join("images").join(base.folder());
    let archive = dir.join("image.tar");
    let note = dir.join("inputs");
    let noted = fs::read_to_string(&note)
        .ok()
        .filter(|inputs| inputs.starts_with(&format!("{RECIPE}-")) && archive.is_file());
    let inputs = match noted {
        Some(inputs) => inputs,
        None => {
            let inputs = make(base, &dir, &archive)?;
            fs::write(&note, &inputs)?;
            inputs
        }
    };
    let mut names = vec![base.name()];
    if engine.kind != engine::Kind::Ambient {
        names.extend(base.aliases());
    }
    let kept = names.iter().all(|name| has(engine, name, &inputs));
    if !kept {
        let archive = archive.to_string_lossy();
        engine.run(&["load", "--quiet", "--input", &archive], LOAD)?;
        for alias in names.iter().skip(1) {
            engine.run(&["tag", base.name(), alias], ASK)?;
        }
    }
    Ok(Made {
        name: base.name().to_owned(),
        inputs,
        kept,
    })
}

/// Whether the engine has an image of this name, made from these inputs.
fn has(engine: &Engine, name: &str, inputs: &str) -> bool {
    let format = format!("{{{{index .Config.Labels \"{LABEL}\"}}}}");
    engine
        .run(&["image", "inspect", "--format", &format, name], ASK)
        .is_ok_and(|said| said.out.trim() == inputs)
}

/// Makes the archive of an image; hands back what it was made from.
fn make(base: Base, dir: &Path, archive: &Path) -> Result<String> {
    run::note(&format!("making {}", base.name()));
    let (work, root) = (dir.join("packages"), dir.join("root"));
    for old in [&work, &root] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
        fs::create_dir_all(old)?;
    }
    let suite = engine::suite(&SUITES)?;
    let versions = match base {
        Base::Busybox => {
            let files = fetch(&suite, &["busybox-static"], &work)?;
            root::busybox(&work.join("unpacked"), &root)?;
            files
        }
        Base::Clang => {
            let closure = suite.closure(&["clang", "lld", "llvm", "busybox-static"])?;
            let wanted: Vec<&str> = closure
                .iter()
                .map(String::as_str)
                .filter(|name| root::clang_wants(name))
                .collect();
            let files = fetch(&suite, &wanted, &work)?;
            root::busybox(&work.join("unpacked"), &root)?;
            root::clang(&work.join("unpacked"), &root)?;
            files
        }
    };
    let inputs = format!("{RECIPE}-{}", digest(&versions));
    let config = Config {
        path: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        command: "/bin/sh",
        labels: &[(LABEL, &inputs)],
    };
    archive::write(&root, &config, base.name(), archive)?;
    for done in [&work, &root] {
        fs::remove_dir_all(done)?;
    }
    Ok(inputs)
}

/// Downloads packages and unpacks them below `work/unpacked`; hands back the
/// names of their files, which hold the versions.
fn fetch(suite: &Suite, packages: &[&str], work: &Path) -> Result<Vec<String>> {
    let files = suite.download(packages, &work.join("debs"))?;
    engine::unpack(&files, &work.join("unpacked"))?;
    Ok(files
        .iter()
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        .collect())
}

fn digest(names: &[String]) -> String {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    let mut hash = Sha256::new();
    for name in sorted {
        hash.update(name);
        hash.update("\n");
    }
    hex(&hash.finalize())[..16].to_owned()
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_inputs_follows_the_versions_and_not_their_order() {
        let names =
            |names: &[&str]| digest(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(names(&["a_1", "b_2"]), names(&["b_2", "a_1"]));
        assert_ne!(names(&["a_1", "b_2"]), names(&["a_1", "b_3"]));
    }
}
