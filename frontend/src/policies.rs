//! What lanegate says of the gates of a plan before anything runs: a key that a gate does not
//! have, a floor of what it does not count.

use gates::gate::Gate;
use gates::policy::{Loaded, Policy};
use stages::diag::{Diagnostic, Report, rule};
use stages::plan::{Plan, PlannedGate};

/// Checks the policy of every gate, and that it can reach its floors at all.
///
/// # Errors
/// Each wrong policy, with the lines of its gate.
pub fn check(plan: &Plan) -> Result<(), Report> {
    let mut report = Report::default();
    for gate in &plan.gates {
        if let Err(why) = policy(gate) {
            report.push(
                Diagnostic::new(rule::GATE, format!("gate `{}`: {why}", gate.name))
                    .at(&gate.span, "this gate")
                    .help("docs/gates.md has the keys of each gate"),
            );
        }
    }
    report.into_result(())
}

fn policy(gate: &PlannedGate) -> Result<(), String> {
    let policy: Policy = serde_json::from_str(&gate.policy).map_err(|e| e.to_string())?;
    Gate::named(&policy.check)?;
    Loaded::of(policy).map(|_| ()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gates::gate::GATES;
    use stages::file::{CHECKS, COUNTS};

    #[test]
    fn a_lane_file_can_name_every_gate_and_everything_that_gates_count() {
        let gates: Vec<&str> = GATES.iter().map(|gate| gate.name).collect();
        assert_eq!(gates, CHECKS, "stages/src/file/model.rs");
        let counted: BTreeSet<&str> = GATES.iter().flat_map(|gate| gate.counts).copied().collect();
        let named: BTreeSet<&str> = COUNTS
            .into_iter()
            .filter(|what| *what != "inspected")
            .collect();
        assert_eq!(counted, named, "stages/src/file/model.rs");
    }
}
