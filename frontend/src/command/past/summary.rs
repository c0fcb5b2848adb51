//! What a build did, at its end.

use stages::keys::Kind;

use crate::ledger::Run;
use crate::progress::End;

/// How many steps a summary lists.
const MOST: usize = 40;

/// For a terminal.
pub(super) fn text(run: &Run) -> String {
    let mut text = format!("{}\n", headline(run));
    for (id, line) in lines(run) {
        text.push_str(&format!("  {id} {line}\n"));
    }
    for (gate, verdict) in &run.gates {
        text.push_str(&format!("  gate {gate}: {verdict}\n"));
    }
    text
}

/// For a CI job.
pub(super) fn markdown(run: &Run) -> String {
    let mut text = format!("### {}\n\n", headline(run));
    let lines: Vec<(&str, String)> = lines(run).collect();
    if !lines.is_empty() {
        text.push_str("| step | what |\n|---|---|\n");
    }
    for (id, line) in lines {
        text.push_str(&format!("| `{id}` | {} |\n", line.replace('|', "\\|")));
    }
    if !run.gates.is_empty() {
        text.push_str("\n| gate | verdict |\n|---|---|\n");
    }
    for (gate, verdict) in &run.gates {
        text.push_str(&format!("| `{gate}` | {verdict} |\n"));
    }
    text
}

fn headline(run: &Run) -> String {
    let totals = &run.totals;
    let more = [
        (totals.failed, "failed or cancelled"),
        (totals.unreached, "not reached"),
    ];
    let more = more.iter().filter(|(count, _)| *count > 0);
    let more: String = more
        .map(|(count, what)| format!(", {count} {what}"))
        .collect();
    format!(
        "{}: build {} {}: {} run in {:.1} s, {} cached, {:.1} s saved{more}",
        run.lane,
        run.number,
        if run.ok { "succeeded" } else { "FAILED" },
        totals.ran,
        totals.seconds,
        totals.cached,
        totals.saved
    )
}

fn lines(run: &Run) -> impl Iterator<Item = (&str, String)> {
    let steps = run.nodes.iter().filter(|(_, node)| node.kind == Kind::Step);
    steps.take(MOST).map(|(id, node)| {
        let line = match node.end {
            End::Failed => "failed".to_owned(),
            End::Cancelled => "was cancelled".to_owned(),
            End::Ran | End::Cached | End::Unseen => {
                format!("ran ({:.1} s): {}", node.seconds, node.why.line())
            }
        };
        (id.as_str(), line)
    })
}
