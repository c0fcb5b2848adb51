//! Reports from outside: *inspect* ran elsewhere, on a device or in another system. Such a report
//! says which gate it is for and which product it is about, by the digest of its tree; it counts
//! for that gate and that product alone. What is wrong with one is a finding, so the verdict of the
//! gate says it.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::arch_table::Row;
use crate::exit::Failure;
use crate::gate::{Gate, Object};
use crate::list::{self, Entry};
use crate::name::{Name, hex};
use crate::report::{self, External, Inspect, Inspected};
use crate::rule::{self, Rule};
use crate::seen::Seen;
use crate::verdict;
use crate::walk::Root;

/// The digest of a tree, `sha256:HEX`: of one record for each entry that is no directory, in the
/// order of their names' bytes.
///
/// | entry | record, with a NUL at its end |
/// |---|---|
/// | file | its SHA-256 in hex, two spaces, its name: what `sha256sum -z` prints |
/// | link | `->`, what it says, a NUL, its name |
/// | other | `!`, its name |
///
/// Directories, modes, owners and times do not count: what carries a tree to another machine
/// keeps none of them.
///
/// # Errors
/// [`Failure::Unreadable`] when something cannot be read.
pub fn digest(tree: &Path) -> Result<String, Failure> {
    let root = Root {
        path: tree.to_owned(),
        label: Name::default(),
    };
    let mut hasher = Sha256::new();
    for (name, entry) in list::list(&root)? {
        match entry {
            Entry::File(path, _) => {
                hasher.update(list::sha256(&path)?);
                hasher.update(b"  ");
            }
            Entry::Link(target) => {
                hasher.update(b"->");
                hasher.update(&target);
                hasher.update(b"\0");
            }
            Entry::Directory => continue,
            Entry::Special => hasher.update(b"!"),
        }
        hasher.update(name.bytes());
        hasher.update(b"\0");
    }
    Ok(format!("sha256:{}", hex(&hasher.finalize())))
}

/// What a report must be of.
pub struct Asked<'a> {
    /// The check that made it.
    pub check: &'static Gate,
    /// The target.
    pub row: &'a Row,
    /// What *inspect* was told.
    pub ask: &'a Object,
    /// The gate and the product.
    pub of: External,
}

/// The report in a file, when it is the one that was asked for; else an empty one with the finding
/// that says what is wrong.
///
/// # Errors
/// [`Failure::Usage`] when `ask` is not the check's.
pub fn accept(asked: &Asked<'_>, file: &Path) -> Result<Inspected, Failure> {
    let Asked { check, row, of, .. } = asked;
    let ask = check.ask(asked.ask).map_err(Failure::Usage)?;
    let target = row.target();
    let wrong = match read(file) {
        Ok(report) => match judge(&report, check, &target, &ask, of) {
            None => return Ok(report),
            Some(wrong) => wrong,
        },
        Err(wrong) => wrong,
    };
    let mut seen = Seen::default();
    let subject = Name::from(of.gate.as_str());
    let (found, expected) = wrong.values.unwrap_or_default();
    seen.finding(wrong.rule, &subject, &found, &expected, wrong.why);
    Ok(Inspected {
        ask,
        check: check.name.to_owned(),
        check_version: check.version,
        counts: seen.counts,
        external: Some(of.clone()),
        findings: seen.findings,
        items: seen.items,
        lists: seen.lists,
        notes: seen.notes,
        roots: seen.roots,
        schema: report::SCHEMA.to_owned(),
        stage: Inspect::Inspect,
        target,
    })
}

/// Why a report is not accepted.
struct Wrong {
    rule: Rule,
    /// What was found and what was expected.
    values: Option<(String, String)>,
    why: String,
}

fn read(file: &Path) -> Result<Inspected, Wrong> {
    let wrong = |rule, why: &str| Wrong {
        rule,
        values: None,
        why: why.to_owned(),
    };
    if !file.is_file() {
        return Err(wrong(rule::NO_REPORT, "its report is not there"));
    }
    report::read(file).map_err(|failure| {
        // A report names no path of the machine.
        let (text, shown) = (failure.to_string(), format!("{}: ", file.display()));
        wrong(rule::NOT_READ, text.strip_prefix(&shown).unwrap_or(&text))
    })
}

fn judge(
    report: &Inspected,
    check: &Gate,
    target: &str,
    ask: &Object,
    of: &External,
) -> Option<Wrong> {
    if let Some(foreign) = verdict::foreign(report, check, target, ask) {
        let rule = match foreign.what {
            verdict::VERSION => rule::OTHER_RULES,
            _ => rule::FOREIGN,
        };
        return Some(Wrong {
            rule,
            values: Some((foreign.found, foreign.expected)),
            why: format!("the report's `{}` is another", foreign.what),
        });
    }
    let Some(bound) = &report.external else {
        return Some(Wrong {
            rule: rule::OTHER_PRODUCT,
            values: None,
            why:
                "the report does not say what it is about: `lanegate inspect` with --gate and --of"
                    .to_owned(),
        });
    };
    let differs = |rule, found: &str, expected: &str, why: &str| Wrong {
        rule,
        values: Some((found.to_owned(), expected.to_owned())),
        why: why.to_owned(),
    };
    if bound.gate != of.gate {
        let why = "the report is for another gate";
        return Some(differs(rule::FOREIGN, &bound.gate, &of.gate, why));
    }
    (bound.of != of.of).then(|| {
        let why = "the report is about another product";
        differs(rule::OTHER_PRODUCT, &bound.of, &of.of, why)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use super::*;
    use crate::arch_table;

    #[test]
    fn the_digest_is_of_names_bytes_and_links_and_of_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let now = || digest(dir.path()).unwrap();
        fs::create_dir(at("d")).unwrap();
        fs::write(at("d/a"), "1").unwrap();
        fs::write(at("b"), "").unwrap();
        // (cd TREE && sha256sum -z b d/a | sha256sum)
        let known = "sha256:ea750fc0c6c0ad0fdca8bde35ef9c5b1e159ee91037d1b23a7f81e6eb3af52fc";
        assert_eq!(now(), known);
        fs::create_dir(at("empty")).unwrap();
        fs::set_permissions(at("b"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(now(), known, "directories and modes do not count");
        symlink("b", at("l")).unwrap();
        let linked = now();
        assert_ne!(linked, known, "a link counts");
        fs::remove_file(at("l")).unwrap();
        symlink("d", at("l")).unwrap();
        assert_ne!(now(), linked, "and what it says");
        fs::remove_file(at("l")).unwrap();
        fs::rename(at("b"), at("c")).unwrap();
        assert_ne!(now(), known, "a name counts");
        fs::rename(at("c"), at("b")).unwrap();
        fs::write(at("b"), "2").unwrap();
        assert_ne!(now(), known, "bytes count");
        fs::write(at("b"), "").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("s")).unwrap();
        assert_ne!(now(), known, "a socket is there");
    }

    struct Case {
        dir: tempfile::TempDir,
        good: Inspected,
    }

    impl Case {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            fs::create_dir(dir.path().join("product")).expect("a directory");
            fs::write(dir.path().join("product/f"), "1").expect("a file");
            let row = arch_table::row("linux/amd64").expect("a row");
            let root = Root {
                path: dir.path().join("product"),
                label: Name::default(),
            };
            let arch = Gate::named("arch").expect("a gate");
            let mut good = arch
                .inspect(&row, &[root], &Object::new())
                .expect("a report");
            good.external = Some(External {
                gate: "device".to_owned(),
                of: digest(&dir.path().join("product")).expect("a digest"),
            });
            Self { dir, good }
        }

        fn file(&self) -> PathBuf {
            self.dir.path().join("given.json")
        }

        fn accepted(&self) -> Inspected {
            let row = arch_table::row("linux/amd64").expect("a row");
            let asked = Asked {
                check: Gate::named("arch").expect("a gate"),
                row: &row,
                ask: &Object::new(),
                of: External {
                    gate: "device".to_owned(),
                    of: digest(&self.dir.path().join("product")).expect("a digest"),
                },
            };
            accept(&asked, &self.file()).expect("a report")
        }

        /// What the file is refused for, as it is told.
        fn refused(&self) -> String {
            let report = self.accepted();
            let [finding] = report.findings.as_slice() else {
                panic!("{:?}", report.findings);
            };
            assert!(report.items.is_empty(), "nothing of it counts");
            finding.to_string()
        }
    }

    #[test]
    fn a_report_counts_for_its_own_gate_and_product_alone() {
        let case = Case::new();
        report::write(&case.good, &case.file()).unwrap();
        assert_eq!(case.accepted(), case.good);

        let with = |change: &dyn Fn(&mut Inspected)| {
            let mut other = case.good.clone();
            change(&mut other);
            report::write(&other, &case.file()).unwrap();
            case.refused()
        };
        let text = |text: &str| text.to_owned();
        let told = [
            with(&|report| report.check = text("elf")),
            with(&|report| report.target = text("linux/arm64")),
            with(&|report| drop(report.ask.insert(text("x"), 1.into()))),
            with(&|report| report.external.as_mut().unwrap().gate = text("smoke")),
            with(&|report| report.check_version += 1),
            with(&|report| report.external.as_mut().unwrap().of = text("sha256:0")),
            with(&|report| report.external = None),
        ];
        let digest = &case.good.external.as_ref().unwrap().of;
        let told = told.join("\n").replace(digest, "sha256:…");
        insta::assert_snapshot!(told);

        report::write(&case.good, &case.file()).unwrap();
        fs::write(case.dir.path().join("product/f"), "2").unwrap();
        assert!(case.refused().starts_with("EXT005 device: found sha256:"));
    }

    #[test]
    fn what_is_missing_cut_edited_or_huge_is_a_finding_too() {
        let case = Case::new();
        assert!(case.refused().starts_with("EXT001 device: "));
        fs::create_dir(case.file()).unwrap();
        assert!(case.refused().starts_with("EXT001 device: "));
        fs::remove_dir(case.file()).unwrap();

        report::write(&case.good, &case.file()).unwrap();
        let whole = fs::read_to_string(case.file()).unwrap();
        for end in 0..whole.len() {
            fs::write(case.file(), &whole[..end]).unwrap();
            let told = case.refused();
            assert!(told.starts_with("EXT002 device: "), "cut at {end}: {told}");
            assert!(!told.contains("given.json"), "{told}");
        }
        fs::write(case.file(), whole.replace("\"files\":1", "\"files\": 1")).unwrap();
        assert!(case.refused().contains("not as lanegate wrote it"));

        let policy = crate::policy::Loaded::of(
            serde_json::from_str(
                r#"{"schema":"gate-policy/1","gate":"device","check":"arch","target":"linux/amd64","empty-ok":"w"}"#,
            )
            .unwrap(),
        );
        let verdict = verdict::judge(&case.good, &policy.unwrap()).unwrap();
        report::write(&verdict, &case.file()).unwrap();
        assert!(
            case.refused()
                .contains("a report of `assert`, expected one of `inspect`"),
            "a verdict"
        );

        let huge = File::create(case.file()).unwrap();
        huge.set_len(report::MAX_BYTES + 1).unwrap();
        assert!(case.refused().contains("bytes are no report"));
    }

    #[test]
    fn no_exemption_and_no_reason_for_emptiness_lets_a_refused_report_pass() {
        let case = Case::new();
        let policy = r#"{"schema":"gate-policy/1","gate":"device","check":"arch","target":"linux/amd64",
            "empty-ok":"w","allow":[{"path":"**","why":"w"},{"path":"device","why":"w"}]}"#;
        let policy = crate::policy::Loaded::of(serde_json::from_str(policy).unwrap()).unwrap();
        let verdict = verdict::judge(&case.accepted(), &policy).unwrap();
        assert_eq!(verdict.verdict, report::Verdict::Fail);
        assert_eq!(verdict.findings[0].id, "EXT001");
        assert_eq!(verdict.external.unwrap().gate, "device");
    }
}
