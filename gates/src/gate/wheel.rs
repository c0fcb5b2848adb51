//! The gate `wheel`: each wheel says in its name what it is, and is that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::magic::{self, Magic};
use crate::list::{self, Entries, Entry};
use crate::name::Name;
use crate::python::filename::{Tag, WheelName, cpython, free_threaded};
use crate::python::metadata::Headers;
use crate::python::normal;
use crate::python::record;
use crate::python::runtime::{self, Runtime};
use crate::python::wheel::{Contents, is_info};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

pub(crate) const NAME: Rule = Rule::new("WHL001", "no name of a wheel");
const TAGS: Rule = Rule::new("WHL002", "the tags inside are not those of the name");
const PLATFORM: Rule = Rule::new("WHL003", "for another platform than the target");
const SUFFIX: Rule = Rule::new(
    "WHL004",
    "a module that no interpreter of its tags looks for",
);
const RUNTIME: Rule = Rule::new("WHL005", "a module that needs another interpreter");
const PURE: Rule = Rule::new("WHL006", "binaries where none may be");
const RECORD: Rule = Rule::new("WHL007", "RECORD and content differ");
const EMPTY: Rule = Rule::new("WHL008", "for one platform, and without any binary");
const INFO: Rule = Rule::new("WHL009", "metadata that is missing or of something else");
const STORE: Rule = Rule::new("WHL010", "not for its store, or missing there");
pub(crate) const ZIP: Rule = Rule::new("WHL011", "a wheel that cannot be read");

/// The gate.
pub struct Wheels;

impl Check for Wheels {
    const NAME: &'static str = "wheel";
    const ABOUT: &'static str = "wheels are what their names say";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["members", "natives", "wheels"];
    const RULES: &'static [Rule] = &[
        NAME, TAGS, PLATFORM, SUFFIX, RUNTIME, PURE, RECORD, EMPTY, INFO, STORE, ZIP,
    ];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let found = look(ask, row, &tree.entries)?;
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// The interpreter that all wheels must fit: `3.14`, or `3.14t` for the free-threaded one.
    /// Without it, only what wheels say of themselves is held against them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Directories of stores by the interpreter that each is for, such as
    /// `{ "wheels" = "3.14", "wheels-cp314t" = "3.14t" }`; they take the place of `python`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stores: BTreeMap<String, String>,
    /// Distributions that must lie in every store in one version: the free-threaded twins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<String>,
}

impl Keys for Ask {}

/// An interpreter: `3.14t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Python {
    version: (u32, u32),
    free_threaded: bool,
}

impl Python {
    fn parse(text: &str) -> Result<Self, Failure> {
        let number = text.strip_suffix('t').unwrap_or(text);
        let version = number
            .split_once('.')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        Ok(Self {
            version: version.ok_or_else(|| {
                Failure::Usage(format!("python `{text}`: expected one like 3.14 or 3.14t"))
            })?,
            free_threaded: number.len() < text.len(),
        })
    }

    /// Whether it loads what has these two tags.
    fn loads(self, tag: &Tag) -> bool {
        let (major, minor) = self.version;
        match (tag.abi.as_str(), cpython(&tag.python)) {
            ("none", None) => tag.python == "py3" || tag.python == format!("py{major}{minor}"),
            ("none", Some(version)) => version == self.version,
            ("abi3", Some(version)) => !self.free_threaded && version <= self.version,
            ("abi3t", Some(version)) => version <= self.version,
            (abi, Some(version)) => {
                version == self.version
                    && cpython(abi) == Some(version)
                    && free_threaded(abi) == self.free_threaded
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Python {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = self.version;
        let t = if self.free_threaded { "t" } else { "" };
        write!(f, "CPython {major}.{minor}{t}")
    }
}

/// Looks at all wheels of the tree.
///
/// # Errors
/// [`Failure::Usage`] for settings that mean nothing, [`Failure::Unreadable`] for I/O.
pub fn look(settings: &Ask, row: &Row, entries: &Entries) -> Result<Seen, Failure> {
    let python = settings.python.as_deref().map(Python::parse).transpose()?;
    let stores = settings
        .stores
        .iter()
        .map(|(dir, python)| Ok((dir.trim_matches('/').to_owned(), Python::parse(python)?)))
        .collect::<Result<BTreeMap<String, Python>, Failure>>()?;
    if python.is_some() && !stores.is_empty() {
        return Err(Failure::Usage("`python` and `stores`: say one".to_owned()));
    }
    if !settings.twins.is_empty() && stores.len() < 2 {
        return Err(Failure::Usage("`twins` needs two `stores`".to_owned()));
    }
    let mut found = Seen::default();
    let mut held: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (subject, entry) in entries {
        let Entry::File(path, _) = entry else {
            continue;
        };
        if !subject.bytes().to_ascii_lowercase().ends_with(b".whl") {
            continue;
        }
        let store = stores.iter().find(|(dir, _)| in_directory(subject, dir));
        if !stores.is_empty() && store.is_none() {
            found.wrong(STORE, subject, "it lies in none of the stores");
        }
        let python = store.map(|(_, python)| *python).or(python);
        if let Some(name) = one(row, python, subject, path, &mut found)?
            && let Some((dir, _)) = store
        {
            let versions = held.entry(name.normal()).or_default();
            let versions = versions.entry(dir.clone()).or_default();
            versions.insert(name.version.to_string());
        }
    }
    for twin in &settings.twins {
        twins(&normal(twin), &stores, &held, &mut found);
    }
    Ok(found)
}

fn in_directory(subject: &Name, dir: &str) -> bool {
    let path = subject.bytes();
    let parent = path.rsplitn(2, |b| *b == b'/').nth(1).unwrap_or_default();
    parent == dir.as_bytes() || parent.ends_with(format!("/{dir}").as_bytes())
}

/// A twin lies in every store, in the same versions.
fn twins(
    dist: &str,
    stores: &BTreeMap<String, Python>,
    held: &BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    found: &mut Seen,
) {
    let none = BTreeMap::new();
    let held = held.get(dist).unwrap_or(&none);
    let all: BTreeSet<&String> = held.values().flatten().collect();
    for dir in stores.keys() {
        let here = held.get(dir);
        let subject = Name::from(format!("{dir}/{dist}").as_str());
        if here.is_none() {
            found.wrong(STORE, &subject, "the twin is not in this store");
        }
        for version in all
            .iter()
            .filter(|v| here.is_some_and(|h| !h.contains(**v)))
        {
            let why = format!("another store has the twin in version {version}, this one has not");
            found.wrong(STORE, &subject, why);
        }
    }
}

/// One wheel; its name, when it has one.
fn one(
    row: &Row,
    python: Option<Python>,
    subject: &Name,
    path: &Path,
    found: &mut Seen,
) -> Result<Option<WheelName>, Failure> {
    let mut natives: Vec<Native> = Vec::new();
    let mut unread = Vec::new();
    let mut digests: BTreeMap<Vec<u8>, (String, u64)> = BTreeMap::new();
    let contents = Contents::read(path, subject, is_info, |member, bytes| {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        digests.insert(member.to_vec(), (hash, bytes.len() as u64));
        let head = &bytes[..bytes.len().min(4096)];
        match magic::sniff(head, bytes.len() as u64) {
            Magic::Pe => match runtime::imported(bytes) {
                Ok(libraries) => natives.push((member.to_vec(), libraries)),
                Err(why) => {
                    natives.push((member.to_vec(), Vec::new()));
                    unread.push((member.to_vec(), why));
                }
            },
            Magic::Elf => natives.push((member.to_vec(), Vec::new())),
            _ => {}
        }
    })?;
    for (member, fault) in &contents.faults {
        let subject = if member.is_empty() {
            subject.clone()
        } else {
            subject.zip_member(member)
        };
        found.wrong(ZIP, &subject, format!("cannot be read: {fault}"));
    }
    for (member, why) in unread {
        let why = format!("its imports cannot be read: {why}");
        found.wrong(RUNTIME, &subject.zip_member(&member), why);
    }
    let numbers = [
        ("members", digests.len() as u64),
        ("natives", natives.len() as u64),
    ];
    found.count("wheels", subject, &numbers);
    let base = String::from_utf8_lossy(subject.bytes()).into_owned();
    let base = base.rsplit('/').next().unwrap_or_default();
    let name = match WheelName::parse(base) {
        Ok(name) => name,
        Err(why) => {
            found.wrong(NAME, subject, format!("no name of a wheel: {why}"));
            return Ok(None);
        }
    };
    let mut wheel = Wheel {
        row,
        subject,
        name: &name,
        natives: &natives,
        found,
    };
    wheel.tags(python);
    wheel.binaries();
    wheel.info(&contents, &digests);
    Ok(Some(name))
}

/// A member that is a binary, with the libraries that it imports when it is a PE image.
type Native = (Vec<u8>, Vec<String>);

/// One wheel that is looked at.
struct Wheel<'w> {
    row: &'w Row,
    subject: &'w Name,
    name: &'w WheelName,
    natives: &'w [Native],
    found: &'w mut Seen,
}

impl Wheel<'_> {
    /// Tags against the target and the interpreter.
    fn tags(&mut self, python: Option<Python>) {
        let platforms: Vec<&str> = self.name.platforms.iter().map(String::as_str).collect();
        let wrong: Vec<&str> = platforms
            .iter()
            .copied()
            .filter(|p| *p != "any" && !fits(p, self.row))
            .collect();
        if !wrong.is_empty() {
            self.found.differs(
                PLATFORM,
                self.subject,
                wrong.join("."),
                self.row
                    .fields
                    .get("wheel-tag")
                    .cloned()
                    .unwrap_or_default(),
                format!("its name says another platform than {}", self.row.target()),
            );
        }
        if let Some(python) = python
            && !self.name.tags().iter().any(|tag| python.loads(tag))
        {
            let tags = format!(
                "{}-{}",
                self.name.pythons.join("."),
                self.name.abis.join(".")
            );
            let why = "this interpreter does not load it";
            self.found
                .differs(STORE, self.subject, tags, python.to_string(), why);
        }
    }

    /// Binaries against tags.
    fn binaries(&mut self) {
        let pure = self.name.any_platform();
        if let (true, Some((first, _))) = (pure, self.natives.first()) {
            let why = format!(
                "for any platform, and {} binaries in it",
                self.natives.len()
            );
            self.found.wrong(PURE, &self.subject.zip_member(first), why);
        }
        if !pure && self.natives.is_empty() {
            let why = "for one platform, and no binary in it: the extension was not built";
            self.found.wrong(EMPTY, self.subject, why);
        }
        let (mut named, mut right) = (false, false);
        for (member, libraries) in self.natives {
            self.suffix(member);
            for library in libraries {
                if let Some(runtime) = Runtime::of(library) {
                    named = true;
                    let fits = self
                        .name
                        .abis
                        .iter()
                        .any(|abi| runtime.serves(abi, self.name));
                    right |= fits;
                    if !fits {
                        self.found.differs(
                            RUNTIME,
                            &self.subject.zip_member(member),
                            library.as_str(),
                            self.name.abis.join("."),
                            "it imports the library of another interpreter than its tag says",
                        );
                    }
                }
            }
        }
        let free = self.name.abis.iter().any(|abi| free_threaded(abi));
        let windows = self.row.os == "windows";
        if free && windows && !self.natives.is_empty() && !right && !named {
            let why = "for the free-threaded interpreter, and no module of it imports that";
            self.found.wrong(RUNTIME, self.subject, why);
        }
    }

    /// `cv2.cp314-win_amd64.pyd` in a wheel for arm64 is found by no interpreter there.
    fn suffix(&mut self, member: &[u8]) {
        let base = member.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let Ok(base) = std::str::from_utf8(base) else {
            return;
        };
        let lower = base.to_ascii_lowercase();
        let windows = lower.strip_suffix(".pyd");
        let Some(stem) = windows.or_else(|| lower.strip_suffix(".so")) else {
            return;
        };
        let Some((_, tag)) = stem.split_once('.') else {
            return;
        };
        let (abi, platform) = match windows {
            Some(_) => match tag.split_once('-') {
                Some((abi, platform)) => (abi.to_owned(), Some(platform.to_owned())),
                None => (tag.to_owned(), None),
            },
            None => match tag.strip_prefix("cpython-") {
                Some(rest) => match rest.split_once('-') {
                    Some((digits, platform)) => (format!("cp{digits}"), Some(platform.to_owned())),
                    None => (format!("cp{rest}"), None),
                },
                None => (tag.to_owned(), None),
            },
        };
        if abi != "abi3" && abi != "abi3t" && cpython(&abi).is_none() {
            return;
        }
        let right_abi = self.name.abis.contains(&abi);
        let right_platform = platform.as_deref().is_none_or(|p| self.suffix_platform(p));
        if !right_abi || !right_platform {
            self.found.differs(
                SUFFIX,
                &self.subject.zip_member(member),
                tag,
                format!("{} for {}", self.name.abis.join("."), self.row.target()),
                "no interpreter of the wheel's tags looks for a module of this name",
            );
        }
    }

    /// Whether a module's suffix names the target: `win_arm64`, `aarch64-linux-gnu`.
    fn suffix_platform(&self, platform: &str) -> bool {
        let field = |key: &str| self.row.fields.get(key).map(String::as_str);
        if self.row.os == "windows" {
            return field("wheel-tag") == Some(platform);
        }
        let gnu = field("deb-multiarch").unwrap_or_default();
        // Interpreters on musl name themselves either way, by their age.
        platform == gnu || platform == gnu.replace("-gnu", "-musl")
    }

    /// What `*.dist-info` says.
    fn info(&mut self, contents: &Contents, digests: &BTreeMap<Vec<u8>, (String, u64)>) {
        let infos = contents.dist_infos();
        let [info] = &infos[..] else {
            if contents.members.is_empty() && !contents.faults.is_empty() {
                return; // it could not be opened, which has been told
            }
            let why = format!("{} directories *.dist-info, expected 1", infos.len());
            self.found.wrong(INFO, self.subject, why);
            return;
        };
        let of_info = info.trim_end_matches(".dist-info").split_once('-');
        let same = of_info.is_some_and(|(dist, version)| {
            normal(dist) == self.name.normal()
                && version
                    .parse()
                    .is_ok_and(|v: pep440_rs::Version| v == self.name.version)
        });
        if !same {
            let why = format!("`{info}` is of another distribution than its file name");
            self.found.wrong(INFO, self.subject, why);
        }
        match contents.member(&format!("{info}/METADATA")) {
            None => self.found.wrong(INFO, self.subject, "no METADATA"),
            Some(bytes) => {
                let headers = Headers::read(bytes);
                let dist = headers.first("Name").map(normal);
                let version = headers.first("Version").and_then(|v| v.parse().ok());
                if dist != Some(self.name.normal()) || version.as_ref() != Some(&self.name.version)
                {
                    let why = "METADATA names another distribution or version than its file name";
                    self.found.wrong(INFO, self.subject, why);
                }
            }
        }
        match contents.member(&format!("{info}/WHEEL")) {
            None => self.found.wrong(INFO, self.subject, "no WHEEL"),
            Some(bytes) => self.wheel_file(&Headers::read(bytes)),
        }
        match contents.member(&format!("{info}/RECORD")) {
            None => self.found.wrong(RECORD, self.subject, "no RECORD"),
            Some(bytes) => self.record(info, bytes, digests),
        }
    }

    fn wheel_file(&mut self, headers: &Headers) {
        let mut tags = BTreeSet::new();
        for text in headers.all("Tag") {
            match Tag::set(text) {
                Some(set) => tags.extend(set),
                None => {
                    let why = format!("WHEEL has a tag `{text}`");
                    self.found.wrong(TAGS, self.subject, why);
                }
            }
        }
        if tags != self.name.tags() {
            let text = |tags: &BTreeSet<Tag>| {
                let all: Vec<String> = tags.iter().map(Tag::to_string).collect();
                if all.is_empty() {
                    "none".to_owned()
                } else {
                    all.join(", ")
                }
            };
            self.found.differs(
                TAGS,
                self.subject,
                text(&tags),
                text(&self.name.tags()),
                "the tags in WHEEL are not those of its file name",
            );
        }
        let pure = headers
            .first("Root-Is-Purelib")
            .map(str::to_ascii_lowercase);
        match pure.as_deref() {
            Some("true") if !self.natives.is_empty() && !self.name.any_platform() => {
                let why = "Root-Is-Purelib, and binaries in it";
                self.found.wrong(PURE, self.subject, why);
            }
            Some("true" | "false") => {}
            _ => self
                .found
                .wrong(INFO, self.subject, "WHEEL does not say Root-Is-Purelib"),
        }
    }

    fn record(&mut self, info: &str, bytes: &[u8], digests: &BTreeMap<Vec<u8>, (String, u64)>) {
        let entries = match record::read(bytes) {
            Ok(entries) => entries,
            Err(why) => {
                let why = format!("RECORD cannot be read: {why}");
                self.found.wrong(RECORD, self.subject, why);
                return;
            }
        };
        let unsigned = [
            format!("{info}/RECORD"),
            format!("{info}/RECORD.jws"),
            format!("{info}/RECORD.p7s"),
        ];
        let mut listed = BTreeSet::new();
        for entry in &entries {
            let member = self.subject.zip_member(entry.path.as_bytes());
            if !listed.insert(entry.path.as_bytes().to_vec()) {
                self.found.wrong(RECORD, &member, "RECORD lists it twice");
            }
            let Some((hash, size)) = digests.get(entry.path.as_bytes()) else {
                self.found
                    .wrong(RECORD, &member, "RECORD lists it, and it is not there");
                continue;
            };
            let told = entry.hash.as_deref().and_then(|h| h.split_once('='));
            match told {
                None if unsigned.contains(&entry.path) => {}
                None => self
                    .found
                    .wrong(RECORD, &member, "RECORD has no digest of it"),
                Some(("sha256", told)) if told.trim_end_matches('=') == hash => {}
                Some(("sha256", _)) => {
                    self.found
                        .wrong(RECORD, &member, "its bytes are not those of RECORD")
                }
                Some((algorithm, _)) => {
                    let why = format!("RECORD has a digest by {algorithm}, expected sha256");
                    self.found.wrong(RECORD, &member, why);
                }
            }
            if entry.size.is_some_and(|told| told != *size) {
                self.found
                    .wrong(RECORD, &member, "its size is not that of RECORD");
            }
        }
        for member in digests.keys().filter(|member| !listed.contains(*member)) {
            let name = String::from_utf8_lossy(member).into_owned();
            if !unsigned.contains(&name) {
                let member = self.subject.zip_member(member);
                self.found.wrong(RECORD, &member, "RECORD does not list it");
            }
        }
    }
}

/// Whether a platform tag is for the target.
fn fits(tag: &str, row: &Row) -> bool {
    let Some(own) = row.fields.get("wheel-tag") else {
        return false;
    };
    if tag == own {
        return true;
    }
    let Some(arch) = own.strip_prefix("linux_") else {
        return false;
    };
    // manylinux_2_28_x86_64, manylinux2014_x86_64, musllinux_1_2_x86_64
    ["manylinux", "musllinux"]
        .iter()
        .filter_map(|system| {
            tag.strip_prefix(system)?
                .strip_suffix(arch)?
                .strip_suffix('_')
        })
        .any(|version| {
            !version.is_empty() && version.bytes().all(|b| b == b'_' || b.is_ascii_digit())
        })
}
