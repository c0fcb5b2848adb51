//! Debian packages from other suites, without touching the machine's own
//! package state.
//!
//! Everything apt reads or writes (source list, lists, cache, status) is put
//! into a private directory; packages are downloaded and unpacked, never
//! installed. Where packages come from is read from the machine's own sources,
//! so that a mirror, a proxy or a dated archive keeps being used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::run;

const UPDATE: Duration = Duration::from_secs(180);
const DOWNLOAD: Duration = Duration::from_secs(600);
const QUERY: Duration = Duration::from_secs(60);
const UNPACK: Duration = Duration::from_secs(120);

/// Where Debian's package keeps its keys.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Names that Debian's suites go by whatever is stable at the time.
const ALIASES: [&str; 5] = ["oldstable", "stable", "testing", "unstable", "sid"];

/// A place that packages come from, as the machine's configuration names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    uri: String,
    /// A keyring file; without one the machine's trusted keys apply.
    signed_by: Option<String>,
    suites: Vec<String>,
}

/// The suite that the machine itself runs, such as `bookworm`.
pub(crate) fn own_suite() -> Result<String> {
    let text = fs::read_to_string("/etc/os-release").context("cannot read /etc/os-release")?;
    text.lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .map(|name| name.trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .context("/etc/os-release has no VERSION_CODENAME: this needs a Debian machine")
}

/// The origins of the machine's own configuration that carry Debian's suites,
/// in the order of the files, each once.
pub(crate) fn origins(own_suite: &str) -> Result<Vec<Origin>> {
    let dir = Path::new("/etc/apt");
    let mut files = vec![dir.join("sources.list")];
    if let Ok(entries) = fs::read_dir(dir.join("sources.list.d")) {
        let mut parts: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        parts.sort();
        files.extend(parts);
    }
    let mut found = Vec::new();
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        if name.ends_with(".list") {
            found.extend(parse_list(&text));
        } else if name.ends_with(".sources") {
            found.extend(parse_sources(&text));
        }
    }
    let found = of_debian(found, own_suite);
    ensure!(
        !found.is_empty(),
        "the package sources below /etc/apt name no origin with the suite {own_suite}: \
         add one, or make a Docker with BuildKit reachable"
    );
    Ok(found)
}

/// Keeps the origins that hold whole suites of Debian, each once.
fn of_debian(origins: Vec<Origin>, own_suite: &str) -> Vec<Origin> {
    let mut kept: Vec<Origin> = Vec::new();
    for origin in origins {
        let whole = |suite: &String| suite == own_suite || ALIASES.contains(&suite.as_str());
        if origin.suites.iter().any(whole) && !kept.iter().any(|seen| seen.uri == origin.uri) {
            kept.push(origin);
        }
    }
    kept
}

/// The one-line format of sources.list(5).
fn parse_list(text: &str) -> Vec<Origin> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some(rest) = line.trim().strip_prefix("deb ") else {
            continue;
        };
        let rest = rest.trim();
        let (options, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((options, rest)) => (options, rest),
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        if let (Some(uri), Some(suite)) = (words.next(), words.next()) {
            found.push(Origin {
                uri: uri.trim_end_matches('/').to_owned(),
                signed_by: options
                    .split_whitespace()
                    .find_map(|option| option.strip_prefix("signed-by="))
                    .filter(|key| key.starts_with('/'))
                    .map(str::to_owned),
                suites: vec![suite.to_owned()],
            });
        }
    }
    found
}

/// The paragraphs of the deb822 format of sources.list(5).
fn parse_sources(text: &str) -> Vec<Origin> {
    let mut found = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            found.extend(paragraph(&fields));
            fields.clear();
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    found
}

fn paragraph(fields: &[(String, String)]) -> Vec<Origin> {
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value.as_str())
    };
    let off = ["no", "false", "off", "0", "disable"];
    if off.contains(&field("enabled").to_ascii_lowercase().as_str())
        || !field("types").split_whitespace().any(|kind| kind == "deb")
    {
        return Vec::new();
    }
    let suites: Vec<String> = field("suites")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    field("uris")
        .split_whitespace()
        .map(|uri| Origin {
            uri: uri.trim_end_matches('/').to_owned(),
            signed_by: Some(field("signed-by"))
                .filter(|key| key.starts_with('/') && !key.contains(' '))
                .map(str::to_owned),
            suites: suites.clone(),
        })
        .collect()
}

/// The packages of one suite, with lists of its own.
#[derive(Debug)]
pub(crate) struct Suite {
    name: String,
    dir: PathBuf,
}

impl Suite {
    /// Opens a suite, and fetches its list of packages from the first of the
    /// origins that has it unless that was done before.
    pub(crate) fn open(base: &Path, name: &str, origins: &[Origin]) -> Result<Suite> {
        let suite = Suite {
            name: name.to_owned(),
            dir: base.join(name),
        };
        let done = suite.dir.join("updated");
        if done.exists() {
            return Ok(suite);
        }
        for sub in ["lists/partial", "cache/archives/partial", "preferences"] {
            let dir = suite.dir.join(sub);
            fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        // Nothing is installed as far as this suite knows.
        fs::write(suite.dir.join("status"), "")?;
        let mut tried = Vec::new();
        for origin in origins {
            fs::write(suite.dir.join("sources.list"), source_line(origin, name))?;
            let mut update = suite.apt("apt-get");
            update.args([
                "-o",
                "Acquire::Retries=3",
                "-qq",
                "--error-on=any",
                "update",
            ]);
            match run::output(&mut update, UPDATE) {
                Ok(_) => {
                    fs::write(done, &origin.uri)?;
                    return Ok(suite);
                }
                Err(error) => tried.push(format!("{}: {error:#}", origin.uri)),
            }
        }
        bail!(
            "none of the machine's package sources has the suite {name}:\n{}",
            tried.join("\n")
        )
    }

    /// Opens the first of some suites that can be opened.
    pub(crate) fn first(base: &Path, names: &[&str], origins: &[Origin]) -> Result<Suite> {
        let mut why = Vec::new();
        for name in names {
            match Suite::open(base, name, origins) {
                Ok(suite) => return Ok(suite),
                Err(error) => why.push(format!("{error:#}")),
            }
        }
        bail!("no suite can be read:\n{}", why.join("\n"))
    }

    /// The suite's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Downloads packages into a folder and hands back their files, in the
    /// order of the names.
    pub(crate) fn download(&self, packages: &[&str], into: &Path) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(into)?;
        let before = debs(into)?;
        let mut download = self.apt("apt-get");
        download
            .args(["-o", "Acquire::Retries=3", "-qq", "download"])
            .args(packages)
            .current_dir(into);
        run::output(&mut download, DOWNLOAD)?;
        let mut files = Vec::new();
        let after = debs(into)?;
        for package in packages {
            let file = after
                .iter()
                .filter(|file| package_of(file) == Some(package))
                .max_by_key(|file| !before.contains(file))
                .with_context(|| format!("{package} was not downloaded"))?;
            files.push(file.clone());
        }
        Ok(files)
    }

    /// What packages need to be unpacked beside them, themselves included:
    /// the closure of their hard dependencies, sorted.
    pub(crate) fn closure(&self, packages: &[&str]) -> Result<Vec<String>> {
        let mut plan = self.apt("apt-get");
        plan.args(["-qq", "--simulate", "--no-install-recommends", "install"])
            .args(packages);
        let mut names: Vec<String> = run::output(&mut plan, QUERY)?
            .out
            .lines()
            .filter_map(|line| line.strip_prefix("Inst "))
            .filter_map(|rest| rest.split_whitespace().next())
            .map(str::to_owned)
            .collect();
        names.sort();
        ensure!(!names.is_empty(), "{} plans no package", self.name);
        Ok(names)
    }

    /// A command of apt's that sees this suite only.
    fn apt(&self, program: &str) -> Command {
        let dir = &self.dir;
        let mut command = Command::new(program);
        let mut set = |key: &str, value: &dyn AsRef<Path>| {
            let value = value.as_ref().display();
            command.arg("-o").arg(format!("{key}={value}"));
        };
        set("Dir::Etc::sourcelist", &dir.join("sources.list"));
        set("Dir::Etc::sourceparts", &"/dev/null");
        set("Dir::Etc::preferences", &"/dev/null");
        set("Dir::Etc::preferencesparts", &dir.join("preferences"));
        set("Dir::State", &dir);
        set("Dir::State::lists", &dir.join("lists"));
        set("Dir::State::status", &dir.join("status"));
        set("Dir::Cache", &dir.join("cache"));
        set("Dir::Cache::pkgcache", &"pkgcache.bin");
        set("Dir::Cache::srcpkgcache", &"");
        set("APT::Sandbox::User", &"root");
        set("APT::Get::List-Cleanup", &"false");
        set("Acquire::Languages", &"none");
        set("Acquire::Check-Valid-Until", &"false");
        set(
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled",
            &"false",
        );
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        command
    }
}

fn source_line(origin: &Origin, suite: &str) -> String {
    let key = origin
        .signed_by
        .clone()
        .or_else(|| Path::new(KEYRING).is_file().then(|| KEYRING.to_owned()));
    let options = key.map_or(String::new(), |key| format!("[signed-by={key}] "));
    format!("deb {options}{} {suite} main\n", origin.uri)
}

/// Unpacks package files into a folder, one after the other.
pub(crate) fn unpack(files: &[PathBuf], into: &Path) -> Result<()> {
    fs::create_dir_all(into)?;
    for file in files {
        run::output(Command::new("dpkg").arg("-x").arg(file).arg(into), UNPACK)?;
    }
    Ok(())
}

/// The package that a downloaded file holds: `NAME_VERSION_ARCH.deb`.
fn package_of(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()?.split('_').next()
}

/// The version in a downloaded file's name; apt writes `:` as `%3a` there.
pub(crate) fn version_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    Some(name.split('_').nth(1)?.replace("%3a", ":"))
}

fn debs(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "deb"))
        .collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEB822: &str = "\
Types: deb
# URIs: http://archive.test/debian/20250520T000000Z
URIs: http://mirror.test/debian/
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.test/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://off.test/debian
Suites: bookworm

Types: deb-src
URIs: http://src.test/debian
Suites: bookworm

Types: deb
URIs: http://node.test/node
Suites: nodistro
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
";

    #[test]
    fn only_enabled_binary_origins_of_a_whole_suite_count() {
        let found = of_debian(parse_sources(DEB822), "bookworm");
        assert_eq!(
            found,
            [Origin {
                uri: "http://mirror.test/debian".into(),
                signed_by: Some(KEYRING.into()),
                suites: vec!["bookworm".into(), "bookworm-updates".into()],
            }]
        );
    }

    #[test]
    fn a_key_that_stands_in_the_file_is_not_taken_for_a_path() {
        let found = parse_sources(DEB822);
        let node = found.iter().find(|o| o.uri.contains("node")).unwrap();
        assert_eq!(node.signed_by, None);
    }

    #[test]
    fn one_line_sources_with_and_without_options_are_read() {
        let text = "\
# deb http://no.test/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://a.test/archive/debian/20250520T000000Z bookworm main
deb-src http://no.test/debian bookworm main
deb http://b.test/debian stable main contrib # why
deb http://b.test/debian-security bookworm-security main
deb http://b.test/debian/ bookworm main
";
        let found = of_debian(parse_list(text), "bookworm");
        let lines: Vec<String> = found.iter().map(|o| source_line(o, "sid")).collect();
        assert_eq!(
            lines[0],
            "deb [signed-by=/k.gpg] http://a.test/archive/debian/20250520T000000Z sid main\n"
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(lines[1].ends_with("http://b.test/debian sid main\n"));
    }

    #[test]
    fn a_suite_that_no_source_has_is_an_error_that_names_every_source() {
        let dir = tempfile::tempdir().unwrap();
        let origins: Vec<Origin> = ["one", "two"]
            .iter()
            .map(|name| Origin {
                uri: format!("file:{}/{name}", dir.path().display()),
                signed_by: None,
                suites: Vec::new(),
            })
            .collect();
        let error = Suite::first(dir.path(), &["sid", "trixie"], &origins)
            .unwrap_err()
            .to_string();
        for part in ["suite sid", "suite trixie", "/one", "/two"] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
        assert!(!dir.path().join("sid/updated").exists());
    }

    #[test]
    fn names_of_package_files_give_package_and_version() {
        let file = Path::new("/x/busybox-static_1%3a1.38.0-3+b1_amd64.deb");
        assert_eq!(package_of(file), Some("busybox-static"));
        assert_eq!(version_of(file).as_deref(), Some("1:1.38.0-3+b1"));
    }
}
