//! Host settings: what happens where one is not given, and what of it is in a key.

use crate::common::{load, plan, rendered, request};
use crate::trees::{graph, llb, wrong};

fn lanes(host: &str) -> String {
    graph(&format!(
        "[host.CACHE]\nabout = \"compile cache\"\n{host}\n[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nuses = [\"part\"]\nhost = [\"CACHE\"]\nrun = [\"make\"]\n"
    ))
}

/// The lines of the step's exec that say how it starts and what it gets.
fn started(host: &str) -> String {
    let shown = llb(&lanes(host));
    let lines = shown.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with("args") || line.starts_with("secret")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_happens_without_a_setting_is_settled_before_the_command() {
    let all = [
        "",
        "need = \"required\"",
        "need = \"waivable\"",
        "default = \"it's warn\"",
    ];
    insta::assert_snapshot!(all.map(started).join("\n----\n"));
}

#[test]
fn a_setting_that_is_never_missing_has_no_need() {
    insta::assert_snapshot!(
        [
            wrong(&lanes("need = \"waivable\"\ndefault = \"x\"")),
            wrong(&lanes("default = \"\"")),
            wrong(&lanes("").replace("CACHE", "LANEKIT_WITHOUT")),
        ]
        .join("----\n")
    );
    let loaded = load(&lanes("need = \"waivable\""), "");
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let asked = request("l", &[("LANEKIT_WITHOUT", "CACHE")]);
    let report = plan(graph, &asked).expect_err("it is a secret");
    assert!(
        report
            .render(&loaded.sources, false)
            .contains("--secret id=LANEKIT_WITHOUT")
    );
}

#[test]
fn a_pin_for_one_run_reaches_what_is_made_of_it_and_pins_files() {
    let text = graph(
        "[pin.MAJOR]\nfrom = \"TOOL|parts:1\"\n[pin.ALIAS]\nfrom = \"TOOL\"\n[stage.out]\nfrom = { image = \"x\" }\n[[stage.out.step]]\nname = \"s\"\nuses = [\"part\"]\n\
         args = [\"MAJOR\"]\npins-file = { at = \"/etc/pins/versions.env\", keys = [\"ALIAS\", \"TOOL\"] }\nrun = [\"make\"]\n",
    )
    .replace("[graph]\n", "[graph]\nversions = \"versions.env\"\n");
    let loaded = load(&text, "TOOL=1.2.3\n");
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let step = |args: &[(&str, &str)]| {
        let (plan, _) = plan(graph, &request("l", args)).expect("a plan");
        let stage = plan
            .stages
            .iter()
            .find(|stage| stage.name == "out")
            .expect("it");
        (
            format!("{:?} {:?}", stage.steps[0].env, stage.steps[0].files),
            plan.unpublishable.clone(),
        )
    };
    let (as_pinned, _) = step(&[]);
    assert!(
        as_pinned.contains("\"MAJOR\": \"1\"") && as_pinned.contains(r"ALIAS=1.2.3\nTOOL=1.2.3\n"),
        "{as_pinned}"
    );
    let (given, why) = step(&[("LANEKIT_PIN_TOOL", "4.5")]);
    assert!(
        given.contains("\"MAJOR\": \"4\"") && given.contains(r"ALIAS=4.5\nTOOL=4.5\n"),
        "{given}"
    );
    assert_eq!(why, ["pin `TOOL` was given for this run"]);
    // What is given for the derived pin itself goes first.
    let (both, _) = step(&[("LANEKIT_PIN_TOOL", "4.5"), ("LANEKIT_PIN_MAJOR", "9")]);
    assert!(both.contains("\"MAJOR\": \"9\""), "{both}");
    let unfit =
        plan(graph, &request("l", &[("LANEKIT_PIN_TOOL", "'\"$")])).expect_err("no pins file");
    assert!(
        unfit
            .render(&loaded.sources, false)
            .contains("cannot be written into a pins file")
    );
}
