//! What the gates are told: lanegate is asked whether it understands it, for the build itself will not run here.

use gates::policy::{Loaded, Policy};

use crate::common::{plan_with, request};
use crate::example::Example;

/// Every gate of an example, in each lane, with the payloads and without.
fn policies(name: &str) -> usize {
    let graph = Example::named(name).graph();
    let mut count = 0;
    for (lane, declared) in &graph.lanes {
        for output in declared.outputs.keys() {
            let request = request(&format!("{lane}/{output}"), &[]);
            let (plan, _) = plan_with(&graph, &request, &|_| None).expect("a plan");
            for gate in &plan.gates {
                let policy: Policy = serde_json::from_str(&gate.policy).expect("a policy");
                if let Err(failure) = Loaded::of(policy) {
                    panic!("{lane}/{output}: {}: {failure:?}", gate.name);
                }
                count += 1;
            }
        }
    }
    count
}

#[test]
fn lanegate_understands_every_gate_of_every_lane() {
    assert!(policies("windows-media") > 100);
    assert!(policies("media-mini") > 100);
}

/// Gates know `?`, `*` and `**`. What a shell knows besides would be a name that no file has.
#[test]
fn no_pattern_of_a_gate_has_what_only_shells_know() {
    for name in ["windows-media", "media-mini"] {
        let example = Example::named(name);
        let gates = example
            .texts()
            .iter()
            .filter(|(file, _)| file.starts_with("gates/"));
        for (file, text) in gates {
            for text in text.split('"').skip(1).step_by(2) {
                let value = text.contains("${");
                let shells = text.contains(['{', '}', '[', ']']);
                assert!(value || !shells, "{file}: {text}");
            }
        }
    }
}
