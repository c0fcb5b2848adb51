//! The engine's programs, unpacked from Debian packages into a private prefix.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::apt::{self, Origin, Suite};
use crate::run;

/// Raised when what is unpacked changes, so that an older prefix is replaced.
const LAYOUT: u32 = 1;
const PROBE: Duration = Duration::from_secs(20);

/// A program of the engine and the package that it comes in.
struct Program {
    package: &'static str,
    /// Below the prefix.
    path: &'static str,
    /// Arguments with which it does nothing but show that it can run here.
    probe: &'static [&'static str],
}

/// What is unpacked. The newest suite comes first; where its program does not
/// run on this machine (a newer libc, say), an older suite's is taken, program
/// by program.
const PROGRAMS: &[Program] = &[
    Program {
        package: "docker.io",
        path: "usr/sbin/dockerd",
        probe: &["--version"],
    },
    Program {
        package: "docker-cli",
        path: "usr/bin/docker",
        probe: &["--version"],
    },
    Program {
        package: "docker-buildx",
        path: "usr/libexec/docker/cli-plugins/docker-buildx",
        probe: &["version"],
    },
    Program {
        package: "containerd",
        path: "usr/bin/containerd",
        probe: &["--version"],
    },
    Program {
        package: "runc",
        path: "usr/sbin/runc",
        probe: &["--version"],
    },
    Program {
        package: "docker-registry",
        path: "usr/bin/docker-registry",
        probe: &["--version"],
    },
    // For `ip`: a machine need not have one, and a bridge is needed.
    Program {
        package: "busybox-static",
        path: "usr/bin/busybox",
        probe: &["true"],
    },
];

/// Suites in the order in which they are tried; the machine's own comes last.
const SUITES: [&str; 2] = ["sid", "trixie"];

/// One unpacked program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installed {
    /// Debian's version of the package.
    pub(crate) version: String,
    /// The suite that it comes from.
    pub(crate) suite: String,
}

/// The unpacked programs, by package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prefix {
    layout: u32,
    #[serde(skip)]
    root: PathBuf,
    /// By name of the package.
    pub(crate) packages: BTreeMap<String, Installed>,
}

impl Prefix {
    /// The prefix below the engine's directory, if it is complete.
    pub(crate) fn find(base: &Path) -> Option<Prefix> {
        let text = fs::read(base.join("prefix.json")).ok()?;
        let mut prefix: Prefix = serde_json::from_slice(&text).ok()?;
        prefix.root = base.join("prefix");
        let whole = PROGRAMS.iter().all(|program| {
            prefix.packages.contains_key(program.package)
                && prefix.root.join(program.path).is_file()
        });
        (prefix.layout == LAYOUT && whole).then_some(prefix)
    }

    /// The prefix, made first where it is missing.
    pub(crate) fn ensure(base: &Path) -> Result<Prefix> {
        if let Some(prefix) = Prefix::find(base) {
            return Ok(prefix);
        }
        let root = base.join("prefix");
        if root.exists() {
            fs::remove_dir_all(&root)
                .with_context(|| format!("cannot remove the old {}", root.display()))?;
        }
        let shelf = Shelf::open(base)?;
        let mut packages = BTreeMap::new();
        shelf.fetch_all(PROGRAMS, &root, &mut packages)?;
        let prefix = Prefix {
            layout: LAYOUT,
            root,
            packages,
        };
        fs::create_dir_all(prefix.plugins())?;
        let plugin = prefix.plugins().join("docker-buildx");
        let _ = fs::remove_file(&plugin);
        std::os::unix::fs::symlink(
            prefix
                .root
                .join("usr/libexec/docker/cli-plugins/docker-buildx"),
            plugin,
        )?;
        fs::write(
            base.join("prefix.json"),
            serde_json::to_vec_pretty(&prefix)?,
        )?;
        Ok(prefix)
    }

    /// The folders that hold its programs, for `PATH`.
    pub(crate) fn path(&self) -> Vec<PathBuf> {
        vec![self.root.join("usr/bin"), self.root.join("usr/sbin")]
    }

    /// A program, by its place below the prefix.
    pub(crate) fn program(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The private `DOCKER_CONFIG`.
    pub(crate) fn docker_config(&self) -> PathBuf {
        self.root.with_file_name("docker-config")
    }

    fn plugins(&self) -> PathBuf {
        self.docker_config().join("cli-plugins")
    }

    /// Debian's version of a package, or `?`.
    pub(crate) fn version(&self, package: &str) -> String {
        self.packages.get(package).map_or_else(
            || "?".to_owned(),
            |found| format!("{} ({})", found.version, found.suite),
        )
    }
}

/// The suites that can be reached from this machine, newest first, opened when
/// first asked.
struct Shelf {
    base: PathBuf,
    origins: Vec<Origin>,
    names: Vec<String>,
}

impl Shelf {
    fn open(base: &Path) -> Result<Shelf> {
        let own = apt::own_suite()?;
        let mut names: Vec<String> = SUITES.iter().map(|name| (*name).to_owned()).collect();
        if !names.contains(&own) {
            names.push(own.clone());
        }
        Ok(Shelf {
            base: base.to_owned(),
            origins: apt::origins(&own)?,
            names,
        })
    }

    /// Unpacks every program from the newest suite whose program runs here.
    fn fetch_all(
        &self,
        programs: &[Program],
        root: &Path,
        packages: &mut BTreeMap<String, Installed>,
    ) -> Result<()> {
        let mut missing: Vec<&Program> = programs.iter().collect();
        let mut why = Vec::new();
        for name in &self.names {
            if missing.is_empty() {
                break;
            }
            let suite = match Suite::open(&self.base.join("apt"), name, &self.origins) {
                Ok(suite) => suite,
                Err(error) => {
                    why.push(format!("{error:#}"));
                    continue;
                }
            };
            missing = self.fetch_from(&suite, &missing, root, packages, &mut why)?;
        }
        if let Some(first) = missing.first() {
            bail!(
                "no suite has a {} that runs here:\n{}",
                first.package,
                why.join("\n")
            );
        }
        Ok(())
    }

    /// Unpacks what this suite can give; hands back what it cannot.
    fn fetch_from<'a>(
        &self,
        suite: &Suite,
        wanted: &[&'a Program],
        root: &Path,
        packages: &mut BTreeMap<String, Installed>,
        why: &mut Vec<String>,
    ) -> Result<Vec<&'a Program>> {
        let debs = self.base.join("debs").join(suite.name());
        let mut missing = Vec::new();
        for program in wanted {
            match fetch(suite, program, &debs, root) {
                Ok(version) => {
                    run::note(&format!(
                        "{} {version} from {}",
                        program.package,
                        suite.name()
                    ));
                    let suite = suite.name().to_owned();
                    packages.insert(program.package.to_owned(), Installed { version, suite });
                }
                Err(error) => {
                    why.push(format!(
                        "{} of {}: {error:#}",
                        program.package,
                        suite.name()
                    ));
                    missing.push(*program);
                }
            }
        }
        Ok(missing)
    }
}

/// Unpacks one program and makes sure that it runs; hands back its version.
fn fetch(suite: &Suite, program: &Program, debs: &Path, root: &Path) -> Result<String> {
    let files = suite.download(&[program.package], debs)?;
    apt::unpack(&files, root)?;
    let mut probe = Command::new(root.join(program.path));
    run::output(probe.args(program.probe), PROBE)?;
    let version = files.first().and_then(|file| apt::version_of(file));
    for file in files {
        fs::remove_file(file)?;
    }
    version.context("the package's file name has no version")
}
