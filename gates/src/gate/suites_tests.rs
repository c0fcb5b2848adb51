//! What the gate `tests` makes of runs.

use super::*;

fn run(format: &str, output: &str, exit: i64, skip_says: Option<&str>) -> Seen {
    let mut found = Seen::default();
    let format = Format::of(format).unwrap();
    judge(
        "s",
        format,
        output.as_bytes(),
        exit,
        skip_says,
        &RULES,
        &mut found,
    );
    found
}

#[test]
fn a_run_that_ends_badly_is_red_whatever_it_told() {
    assert!(
        run("pytest", "3 passed in 0.1s", 0, None)
            .findings
            .is_empty()
    );
    assert_eq!(run("pytest", "3 passed in 0.1s", 3, None).ids(), ["TST003"]);
    assert_eq!(run("pytest", "Traceback", 1, None).ids(), ["TST002"]);
    let failed = run(
        "pytest",
        "FAILED t::a - x\n1 failed, 2 passed in 1s",
        1,
        None,
    );
    assert_eq!(failed.ids(), ["TST001"]);
    assert_eq!(failed.findings[0].subject, Name::from("s!t::a"));
    let exit = run("exit", "", 7, None);
    assert_eq!(exit.ids(), ["TST003"]);
    assert_eq!(exit.items[0].classes["failed"], 1);
}

#[test]
fn crashes_have_names() {
    for (exit, name) in [
        (0xC000_0135, "DLL_NOT_FOUND"),
        (-1_073_741_515, "DLL_NOT_FOUND"),
        (0xC000_0139, "ENTRYPOINT_NOT_FOUND"),
        (0xC000_0005, "ACCESS_VIOLATION"),
        (0xC000_001D, "ILLEGAL_INSTRUCTION"),
        (0xC000_0409, "STACK_BUFFER_OVERRUN"),
        (0xC000_0142, "DLL_INIT_FAILED"),
        (139, "SIGSEGV"),
        (134, "SIGABRT"),
    ] {
        let found = run("pytest", "3 passed in 0.1s", exit, None);
        assert_eq!(found.ids(), ["TST004"], "{exit}");
        assert!(found.findings[0].why.contains(name), "{exit}");
    }
    for exit in [0, 1, 2, 101, 127, 128, 255] {
        assert_eq!(crash(exit), None, "{exit}");
    }
}

#[test]
fn tests_that_skipped_themselves_are_no_passes() {
    let found = run(
        "lines",
        "no GPU, skipping\nTESTS: passed=3 failed=0 skipped=0",
        0,
        Some("no GPU"),
    );
    assert_eq!(found.items[0].classes["passed"], 2);
    assert_eq!(found.items[0].classes["skipped"], 1);
}

#[test]
fn settings_name_known_formats_and_their_files() {
    for (json, why) in [
        (r#"{"suites": []}"#, "empty"),
        (
            r#"{"suites": [{"name": "a", "format": "nunit", "output": "o"}]}"#,
            "no format",
        ),
        (
            r#"{"suites": [{"name": "a", "format": "pytest"}]}"#,
            "`output` is missing",
        ),
        (
            r#"{"suites": [{"name": "a", "format": "exit"}]}"#,
            "needs `exit`",
        ),
        (
            r#"{"suites": [{"name": "a", "format": "exit", "exit": "e"}, {"name": "a", "format": "exit", "exit": "e"}]}"#,
            "twice",
        ),
        (
            r#"{"suites": [{"name": "a", "format": "pytest", "output": "o"}, {"name": "b", "format": "pytest", "output": "o"}]}"#,
            "count twice",
        ),
        ("{}", "suites"),
    ] {
        let told = match serde_json::from_str::<Ask>(json) {
            Ok(ask) => ask.check().unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(told.contains(why), "{json}: {told}");
    }
}
