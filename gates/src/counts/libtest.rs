//! `cargo test` and test programs that it makes.

use super::{Counts, Summary, list};

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let mut section: Option<String> = None;
    let (mut open, mut ends) = (0_u64, 0_u64);
    let (mut announced, mut told) = (0_u64, 0_u64);
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Running ") {
            section = Some(binary(rest));
        } else if let Some(rest) = line.strip_prefix("Doc-tests ") {
            section = Some(format!("doc {rest}"));
        } else if let Some(tests) = header(line) {
            open += 1;
            announced = announced.saturating_add(tests);
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            let (counts, ran) = result(rest).ok_or_else(|| format!("cannot read `{line}`"))?;
            ends += 1;
            told = told.saturating_add(ran);
            if rest.starts_with("ok.") != (counts.failed == 0) {
                return Err(format!("it contradicts itself: `{line}`"));
            }
            summary.counts.add(counts);
            if let Some(name) = &section {
                summary.section(name, counts);
            }
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            summary.failures.push(name.to_owned());
        }
    }
    match (open, ends) {
        (_, 0) => Err("no line `test result:`".to_owned()),
        (open, ends) if open != ends => Err(format!(
            "{open} runs began and {ends} came to an end with `test result:`"
        )),
        (1.., _) if announced != told => {
            Err(format!("{announced} tests announced, {told} told of"))
        }
        _ => Ok(summary),
    }
}

/// `running 3 tests` → 3.
fn header(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("running ")?;
    rest.strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?
        .parse()
        .ok()
}

/// `unittests src/lib.rs (target/debug/deps/foo-0123456789abcdef)` → `foo`.
fn binary(rest: &str) -> String {
    let path = rest
        .rsplit_once('(')
        .map_or(rest, |(_, path)| path.trim_end_matches(')'));
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let file = file.strip_suffix(".exe").unwrap_or(file);
    match file.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 => name.to_owned(),
        _ => file.to_owned(),
    }
}

/// What a run counted, and how many tests it had announced. What a filter left out did not run.
fn result(rest: &str) -> Option<(Counts, u64)> {
    let counts = list(rest.split_once(". ")?.1);
    let get = |word: &str| counts.get(word).copied();
    let (passed, failed, ignored) = (get("passed")?, get("failed")?, get("ignored")?);
    let of = |parts: &[u64]| parts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    let skipped = of(&[ignored, get("filtered").unwrap_or(0)]);
    let ran = of(&[passed, failed, ignored, get("measured").unwrap_or(0)]);
    Some((
        Counts {
            passed,
            failed,
            skipped,
        },
        ran,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
     Running unittests src/lib.rs (target/debug/deps/gates-0f879307e4afcc28)

running 2 tests
test a::b ... ok
test a::c ... FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 44 filtered out; finished in 0.18s

   Doc-tests gates

running 3 tests
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn several_runs_add_up_and_are_sections() {
        let summary = read(TWO).unwrap();
        let counts = |passed, failed, skipped| Counts {
            passed,
            failed,
            skipped,
        };
        assert_eq!(summary.counts, counts(3, 1, 45));
        assert_eq!(summary.sections["gates"], counts(1, 1, 44));
        assert_eq!(summary.sections["doc gates"], counts(2, 0, 1));
        assert_eq!(summary.failures, ["a::c"]);
    }

    #[test]
    fn a_run_that_died_in_the_middle_is_an_error() {
        let cut = TWO.rsplit_once("test result:").unwrap().0;
        assert!(read(cut).unwrap_err().contains("2 runs began and 1"));
        assert!(read("running 1 test\n").is_err());
    }

    #[test]
    fn a_result_that_contradicts_its_run_is_an_error() {
        let fewer = TWO.replace("running 3 tests", "running 4 tests");
        assert!(read(&fewer).unwrap_err().contains("6 tests announced, 5"));
        assert!(read(&TWO.replace("FAILED. 1", "ok. 1")).is_err());
        assert!(read(&TWO.replace("ok. 2", "FAILED. 2")).is_err());
    }
}
