//! What the gates are told: lanegate is asked whether it understands it, for the build itself will not run here.

use std::fmt::Write as _;

use gates::policy::{Loaded, Policy};
use stages::diag::Spanned;
use stages::file::PinDemand;

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

/// What callers are told, and every reason that the lane file gives: nobody reads them before something is wrong.
#[test]
fn every_word_to_the_caller() {
    let graph = Example::read().graph();
    let mut text = String::new();
    for (name, arg) in &graph.args {
        let _ = writeln!(text, "arg {name}: {}", arg.about.value);
    }
    for (name, switch) in &graph.switches {
        let _ = writeln!(text, "switch {name}: {}", switch.about.value);
    }
    for (name, host) in &graph.hosts {
        let _ = writeln!(text, "host {name} {:?}: {}", host.need, host.about.value);
    }
    let said = |text: &Option<Spanned<String>>| match text {
        Some(text) => format!(": {}", text.value),
        None => String::new(),
    };
    for (name, payload) in &graph.payloads {
        let _ = writeln!(
            text,
            "payload {name} at {}{}",
            payload.path.value,
            said(&payload.about)
        );
        if payload.empty_ok.is_some() {
            let _ = writeln!(text, "  without a hash{}", said(&payload.empty_ok));
        }
    }
    for refuse in &graph.refuse {
        let _ = writeln!(text, "refused: {}", refuse.why.value);
    }
    for (name, rule) in &graph.pin_rules {
        let _ = writeln!(text, "pins of {name}: {}", rule.why.value);
        if let PinDemand::Lead { lead, value, pins } = &rule.demand {
            let pins: Vec<&str> = pins.iter().map(|pin| pin.value.as_str()).collect();
            let _ = writeln!(
                text,
                "  {} at {}: {}",
                lead.value,
                value.value,
                pins.join(" ")
            );
        }
    }
    for allow in &graph.lint {
        let _ = writeln!(text, "allowed {}: {}", allow.rule.value, allow.why.value);
    }
    for (name, stage) in &graph.stages {
        for attribute in &stage.same_for {
            let _ = writeln!(text, "{name} is the same for every {}", attribute.value);
        }
    }
    insta::assert_snapshot!("words", text);
}
