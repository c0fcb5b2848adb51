//! The verdicts of a lane as one, and in the forms of other tools.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gates::counts;
use gates::fixture::{self, AMD64, ARM64};
use gates::policy;
use serde_json::Value;

/// Verdicts in a directory, each made by inspect and assert.
struct Lane {
    dir: tempfile::TempDir,
    policies: Vec<(String, String)>,
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn lanegate(args: &[String]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanegate"));
    let output = command.args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Lane {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("verdicts")).unwrap();
        let policies = Vec::new();
        Self { dir, policies }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A gate `arch` over a tree with these files, at least `least` of them.
    fn gate(&mut self, name: &str, files: &[(&str, Vec<u8>)], least: u64, more: &str) {
        let tree = self.file(name);
        fs::create_dir(&tree).unwrap();
        for (file, bytes) in files {
            fs::write(tree.join(file), bytes).unwrap();
        }
        let policy = format!(
            r#"{{"schema":"gate-policy/1","gate":"{name}","check":"arch","target":"windows/arm64","floors":{{"inspected":{{"least":{least}}}}}{more}}}"#
        );
        let (at, report) = (self.file("policy.json"), self.file("report.json"));
        fs::write(&at, &policy).unwrap();
        let (tree, at, report) = (tree.display(), at.display(), report.display());
        let verdict = self.file(&format!("verdicts/{name}.json"));
        for line in [
            format!("inspect arch --target windows/arm64 --root {tree}= --report {report}"),
            format!(
                "assert --gate {name} --policy {at} --report {report} --out {} --defer",
                verdict.display()
            ),
        ] {
            let ran = lanegate(&words(&line));
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        let digest = policy::digest(policy.as_bytes());
        self.policies.push((name.to_owned(), digest));
    }

    /// A lane with a green, a red, a short and an advising gate.
    fn mixed() -> Self {
        let mut lane = Self::new();
        let (right, wrong) = (fixture::dll(ARM64), fixture::dll(AMD64));
        lane.gate("green", &[("a.dll", right.clone())], 1, "");
        let allow = r#","allow":[{"path":"gone.dll","why":"a host tool"}]"#;
        lane.gate(
            "red",
            &[("a, b.dll", wrong.clone()), ("z<1>%.dll", wrong.clone())],
            1,
            allow,
        );
        lane.gate("short", &[("a.dll", right)], 2, "");
        lane.gate("told", &[("a.dll", wrong)], 1, r#","effect":"advise""#);
        lane
    }

    fn merge(&self, more: &str) -> Ran {
        let mut line = format!("merge {}", self.file("verdicts").display());
        for (name, digest) in &self.policies {
            line += &format!(" --policy {name}={digest}");
        }
        lanegate(&words(&format!("{line} {more}")))
    }

    fn form(&self, format: &str) -> String {
        self.merge(&format!("--format {format}")).out
    }
}

#[test]
fn a_lane_passes_when_every_gate_does_and_advice_fails_nothing() {
    let mut lane = Lane::new();
    lane.gate("a", &[("a.dll", fixture::dll(ARM64))], 1, "");
    lane.gate(
        "b",
        &[("a.dll", fixture::dll(AMD64))],
        1,
        r#","effect":"advise""#,
    );
    let ran = lane.merge("");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let advice = "this gate advises only: what waits for it goes on\n";
    assert!(ran.err.contains("error: ARCH001 a.dll") && ran.err.contains(advice));
}

#[test]
fn text_tells_what_blocks_first() {
    let ran = Lane::mixed().merge("");
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.err);
}

#[test]
fn a_seal_tells_every_reason_in_order_and_what_is_only_advice_last() {
    let lane = Lane::mixed();
    let seal = |gates: &[&str]| {
        let mut line = "seal".to_owned();
        for gate in gates {
            let file = lane.file(&format!("verdicts/{gate}.json"));
            line += &format!(" {gate}={}", file.display());
        }
        lanegate(&words(&line))
    };
    let ran = seal(&["told", "short", "green", "red"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    insta::assert_snapshot!(ran.err);
    let ran = seal(&["told", "green"]);
    assert_eq!(ran.code, 0, "advice alone: {}", ran.err);
    let ran = seal(&["short", "gone"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.starts_with("error: GEN003 "), "{}", ran.err);
}

#[test]
fn numbers_that_a_report_claims_overflow_nothing() {
    let lane = Lane::mixed();
    let verdict = lane.file("verdicts/red.json");
    let text = fs::read_to_string(&verdict).unwrap();
    let (none, all) = (r#""findings-omitted":0"#, u64::MAX);
    assert!(text.contains(none));
    let text = text.replace(none, &format!(r#""findings-omitted":{all}"#));
    fs::write(&verdict, text).unwrap();
    for form in ["text", "github", "junit", "sarif"] {
        let line = format!("show {} --format {form}", verdict.display());
        let ran = lanegate(&words(&line));
        assert_eq!(ran.code, 1, "{form}: {}", ran.err);
        assert!(!ran.err.contains("overflow"), "{form}: {}", ran.err);
    }
}

#[test]
fn short_alone_is_3_and_a_finding_goes_before_it() {
    let mut lane = Lane::new();
    lane.gate("short", &[("a.dll", fixture::dll(ARM64))], 2, "");
    assert_eq!(lane.merge("").code, 3);
    lane.gate("red", &[("a.dll", fixture::dll(AMD64))], 1, "");
    assert_eq!(lane.merge("").code, 1);
}

#[test]
fn a_missing_foreign_or_unexpected_verdict_is_4_and_named() {
    let told = |lane: &Lane, gate: &str, why: &str| {
        let ran = lane.merge("");
        assert_eq!(ran.code, 4, "{why}: {}", ran.err);
        let first = ran.err.lines().next().unwrap_or_default();
        let begin = format!("error: gate {gate}: ");
        assert!(first.starts_with(&begin) && first.contains(why), "{first}");
        let merged: Value = serde_json::from_str(&lane.form("json")).unwrap();
        assert_eq!(
            (&merged["exit"], &merged["refused"][0]["gate"]),
            (&4.into(), &gate.into())
        );
        let dir = lane.dir.path().display().to_string();
        assert!(!merged.to_string().contains(&dir), "no path of the machine");
    };
    let green = || {
        let mut lane = Lane::new();
        for name in ["a", "b"] {
            lane.gate(name, &[("a.dll", fixture::dll(ARM64))], 1, "");
        }
        assert_eq!(lane.merge("").code, 0);
        lane
    };

    let lane = green();
    fs::remove_file(lane.file("verdicts/a.json")).unwrap();
    told(&lane, "a", "missing");

    let mut lane = green();
    lane.policies.remove(1);
    told(&lane, "b", "nobody expects");

    let mut lane = green();
    lane.policies[0].1 = policy::digest(b"another");
    told(&lane, "a", "made with policy");

    let lane = green();
    fs::copy(lane.file("verdicts/b.json"), lane.file("verdicts/a.json")).unwrap();
    told(&lane, "a", "the verdict of gate `b`");

    let lane = green();
    let file = lane.file("verdicts/a.json");
    let whole = fs::read(&file).unwrap();
    for end in (0..whole.len()).step_by(97) {
        fs::write(&file, &whole[..end]).unwrap();
        assert_eq!(lane.merge("").code, 4, "cut at {end}");
    }
    let text = String::from_utf8(whole).unwrap();
    fs::write(
        &file,
        text.replace(r#""verdict":"pass""#, r#""verdict":"fail""#),
    )
    .unwrap();
    told(&lane, "a", "contradicts");
}

#[test]
fn junit_reads_back_with_a_case_for_each_rule_and_floor() {
    let lane = Lane::mixed();
    let text = lane.form("junit");
    let junit = counts::Format::of("junit").unwrap();
    let read = junit.read(text.as_bytes()).unwrap();
    let of = |suite: &str| {
        let counts = read.sections[suite];
        (counts.failed, counts.skipped)
    };
    assert_eq!(of("green"), (0, 0));
    assert!(read.sections["green"].passed > 10, "{:?}", read.sections);
    // ARCH001 of two files, and the allow entry that matches nothing.
    assert_eq!(of("red"), (2, 0));
    assert_eq!((of("short"), of("told")), ((1, 0), (0, 1)));
    assert!(
        text.contains("a, b.dll") && text.contains("z&lt;1&gt;%.dll"),
        "{text}"
    );
    fs::remove_file(lane.file("verdicts/green.json")).unwrap();
    let text = lane.form("junit");
    assert!(text.contains(r#"errors="1""#), "{text}");
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let lane = Lane::mixed();
    fs::remove_file(lane.file("verdicts/green.json")).unwrap();
    let log: Value = serde_json::from_str(&lane.form("sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    assert_eq!(runs[0]["invocations"][0]["executionSuccessful"], false);
    let mut levels = Vec::new();
    for run in runs {
        let rules = &run["tool"]["driver"]["rules"];
        assert_eq!(run["tool"]["driver"]["name"], "lanegate");
        for result in run["results"].as_array().unwrap() {
            assert!(result["message"]["text"].is_string());
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(
                rules[index]["id"], result["ruleId"],
                "the rule is described"
            );
            levels.push(result["level"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(levels, ["error", "error", "error", "error", "warning"]);
    let location = &runs[1]["results"];
    let uri =
        |at: usize| &location[at]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    // A pattern of an allow entry is no file.
    let uris: Vec<&Value> = (0..3).map(uri).collect();
    assert_eq!(
        uris,
        ["a%2C%20b.dll", "z%3C1%3E%25.dll"]
            .map(Value::from)
            .iter()
            .chain([&Value::Null])
            .collect::<Vec<_>>()
    );
}

#[test]
fn github_escapes_what_would_end_a_command() {
    insta::assert_snapshot!(Lane::mixed().form("github"));
}

#[test]
fn a_report_is_shown_again_in_every_form_and_an_edited_one_is_not() {
    let lane = Lane::mixed();
    let merged = lane.file("merged.json");
    let (junit, json) = (lane.file("junit.xml"), merged.display());
    let ran = lane.merge(&format!(
        "--format json --out {json} --format junit --out {} --defer",
        junit.display()
    ));
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let show = |file: &PathBuf, form: &str| {
        lanegate(&words(&format!("show {} --format {form}", file.display())))
    };
    for form in ["github", "json", "sarif", "text", "junit"] {
        let shown = show(&merged, form);
        assert_eq!((shown.code, shown.out), (1, lane.form(form)), "{form}");
    }
    assert_eq!(fs::read_to_string(&junit).unwrap(), lane.form("junit"));
    // One gate's verdict, too.
    let one = lane.file("verdicts/short.json");
    assert_eq!(show(&one, "json").out, fs::read_to_string(&one).unwrap());
    assert_eq!(show(&one, "text").code, 3);

    let text = fs::read_to_string(&merged).unwrap();
    for (from, to) in [
        (r#"{"exit":1,"#, r#"{"exit":0,"#),
        (r#""verdict":"fail""#, r#""verdict":"pass""#),
        (r#""stage":"merge""#, r#""stage":"merged""#),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&merged, text.replacen(from, to, 1)).unwrap();
        assert_eq!(show(&merged, "text").code, 4, "{to}");
    }
    let none = r#"{"exit":0,"gates":[],"refused":[],"schema":"gate-report/1","stage":"merge"}"#;
    fs::write(&merged, format!("{none}\n")).unwrap();
    assert_eq!(show(&merged, "text").code, 4, "nothing is not green");
}

#[test]
fn a_single_gate_writes_the_same_forms() {
    let lane = Lane::mixed();
    let tree = lane.file("red").display().to_string();
    let run = |more: &str| {
        lanegate(&words(&format!(
            "arch --target windows/arm64 --root {tree}= --least 1 {more}"
        )))
    };
    let report = lane.file("r.json");
    let ran = run(&format!("--format json --report {}", report.display()));
    assert_eq!(
        (ran.code, ran.out),
        (1, fs::read_to_string(&report).unwrap())
    );
    let out = lane.file("x.sarif");
    let ran = run(&format!(
        "--format sarif --out {} --format github",
        out.display()
    ));
    assert!(
        ran.out
            .starts_with("::error file=a%2C b.dll,title=ARCH001 "),
        "{}",
        ran.out
    );
    assert!(fs::read_to_string(out).unwrap().contains("\"2.1.0\""));
}

#[test]
fn a_wrong_call_is_2() {
    let lane = Lane::mixed();
    let digest = &lane.policies[0].1;
    let verdicts = lane.file("verdicts").display().to_string();
    for line in [
        format!("merge {verdicts}"),
        format!("merge {verdicts} --policy a={digest} --policy a={digest}"),
        format!("merge {verdicts} --policy a=sha256:00"),
        format!("merge {verdicts} --policy a={digest} --defer"),
        format!("merge {verdicts} --policy a={digest} --format xml"),
        format!("merge {verdicts} --policy a={digest} --out x"),
        format!("merge {verdicts} --policy a={digest} --format json --format text"),
        format!("merge {verdicts}/gone --policy a={digest}"),
        "show".to_owned(),
        "show a b".to_owned(),
    ] {
        assert_eq!(lanegate(&words(&line)).code, 2, "{line}");
    }
}

#[test]
fn predicates_say_what_passed_what_failed_and_what_only_advises() {
    let lane = Lane::mixed();
    let dir = lane.file("predicates");
    fs::create_dir(&dir).unwrap();
    let ran = lane.merge(&format!("--predicates {}", dir.display()));
    assert_eq!(ran.code, 1, "a red lane stays red");
    let of = |gate: &str| -> Value {
        serde_json::from_slice(&fs::read(dir.join(format!("{gate}.json"))).unwrap()).unwrap()
    };
    for (gate, result, failed, warned) in [
        ("green", "PASSED", vec![], vec![]),
        ("red", "FAILED", vec!["ARCH001", "GEN001"], vec![]),
        ("short", "FAILED", vec!["GEN003 inspected"], vec![]),
        ("told", "WARNED", vec![], vec!["ARCH001"]),
    ] {
        let predicate = of(gate);
        assert_eq!(predicate["result"], result, "{gate}");
        assert_eq!(
            predicate["failedTests"],
            serde_json::json!(failed),
            "{gate}"
        );
        assert_eq!(
            predicate["warnedTests"],
            serde_json::json!(warned),
            "{gate}"
        );
        let passed = predicate["passedTests"].as_array().unwrap();
        assert!(passed.contains(&"ARCH002".into()), "{gate}: {passed:?}");
        let verdict = fs::read(lane.file(&format!("verdicts/{gate}.json"))).unwrap();
        let verdict: Value = serde_json::from_slice(&verdict).unwrap();
        assert_eq!(predicate["gate-report"], verdict, "{gate}");
        let (_, policy) = lane.policies.iter().find(|(name, _)| name == gate).unwrap();
        let digest = &predicate["configuration"][0]["digest"]["sha256"];
        assert_eq!(format!("sha256:{}", digest.as_str().unwrap()), *policy);
    }
}
