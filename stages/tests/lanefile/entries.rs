//! Every entry of a list, and every named text, may be there in some lanes only: what the lane
//! that has it gets, what the other one does not, and who is told apart by it.

use ::llb::{Caps, Definition};
use stages::file::keys::{Form, Table, tables};
use stages::plan::{Plan, PlannedOutput};

use crate::common::{load, lower, plan, plan_with, rendered, request};

/// A graph with the lanes `l` for amd64 and `a` for arm64, which build `out`.
fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\nversions = \"versions.env\"\n\
         [lane.l]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\noutput.o = {{ stage = \"out\" }}\n\
         [lane.a]\nplatform = \"linux/amd64\"\ntarget = \"windows/arm64\"\noutput.o = {{ stage = \"out\" }}\n{tables}"
    )
}

/// The pins of a graph: none that it does not name.
fn pins(tables: &str) -> &'static str {
    if tables.contains("PIN") {
        "PIN=1\n"
    } else {
        ""
    }
}

/// A step of `out` with these keys.
fn step(keys: &str) -> String {
    format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n{keys}\n"
    )
}

/// `out` with these keys of its image.
fn image(keys: &str) -> String {
    format!("[stage.out]\nfrom = {{ image = \"x\" }}\n[stage.out.image]\n{keys}\n")
}

/// What a lane gets: its config and annotations, and its LLB.
fn gives(tables: &str, lane: &str) -> String {
    let loaded = load(&graph(tables), pins(tables));
    let Ok(parsed) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let request = request(lane, &[]);
    let (plan, _) = plan(parsed, &request).expect("a plan");
    let lowered = lower(&loaded, &request, &Caps::all()).expect("LLB");
    let llb = ::llb::view::text(&Definition::new(&lowered.result).to_pb());
    format!("{}{:?}\n{llb}", config(&plan), plan.annotations)
}

fn config(plan: &Plan) -> String {
    match &plan.output {
        PlannedOutput::Product { config, .. } => format!("{config:#?}\n"),
        PlannedOutput::Gates => String::new(),
    }
}

/// For amd64 alone.
const WHEN: &str = "when = { lane.target = \"amd64\" }";

#[test]
fn the_lane_that_has_an_entry_gets_it_and_the_other_one_does_not() {
    let merged = "[stage.a]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[stage.b]\nfrom = { image = \"y\" }\ntree = [\"/r\"]\n\
                  [stage.out]\nmerge = [\"a\", \"b\"]\nconflict = [{ path = \"**/*.pyc\", take = \"any\", why = \"w\", WHEN }]\n";
    let rows = [
        (
            step("env = { MODE = { value = \"m\", WHEN } }"),
            "env MODE=m",
        ),
        (
            step("devices = [{ name = \"v.com/c=d\", WHEN }]"),
            "v.com/c=d",
        ),
        (
            step("pins-file = { at = \"/p/versions.env\", keys = [\"PIN\"], WHEN }"),
            "mount /p",
        ),
        (image("env.MODE = { value = \"m\", WHEN }"), "\"MODE=m\""),
        (
            image("labels.kind = { value = \"k\", WHEN }"),
            "\"kind\": \"k\"",
        ),
        (
            image("annotations.kind = { value = \"k\", WHEN }"),
            "{\"kind\": \"k\"}",
        ),
        (
            image("volumes = [{ value = \"/data\", WHEN }]"),
            "\"/data\"",
        ),
        (
            image("ports = [{ value = \"53/udp\", WHEN }]"),
            "\"53/udp\"",
        ),
        (merged.to_owned(), "\"--any\" \"**/*.pyc\""),
    ];
    let mut wrong = Vec::new();
    for (tables, wanted) in rows {
        let with = tables.replace("WHEN", WHEN);
        let always = tables.replace(", WHEN", "");
        if !gives(&with, "l").contains(wanted) || gives(&with, "a").contains(wanted) {
            wrong.push(wanted);
        }
        // In the lane that has it, it is the same as one that every lane has.
        let lines = |text: &str| -> Vec<String> {
            let kept = text
                .lines()
                .filter(|line| !line.contains("from lanes.toml"));
            kept.map(str::to_owned).collect()
        };
        assert_eq!(lines(&gives(&with, "l")), lines(&gives(&always, "l")));
        assert!(gives(&always, "a").contains(wanted), "{always}");
    }
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn a_step_is_told_apart_by_the_conditions_of_its_entries_and_an_image_is_not() {
    let id = |tables: &str| {
        let loaded = load(&graph(tables), pins(tables));
        let parsed = loaded.graph.as_ref().expect("a graph");
        let setting = parsed.setting("l", &parsed.lanes["l"]);
        setting.instances()["out"].id.clone()
    };
    for key in [
        "env = { MODE = { value = \"m\", WHEN } }",
        "devices = [{ name = \"v.com/c=d\", WHEN }]",
        "pins-file = { at = \"/p/versions.env\", keys = [\"PIN\"], WHEN }",
    ] {
        let tables = step(key).replace("WHEN", WHEN);
        assert_eq!(id(&tables), "out@lane.target=amd64", "{key}");
    }
    let tables = image("env.MODE = { value = \"m\", WHEN }").replace("WHEN", WHEN);
    assert_eq!(id(&tables), "out");
}

#[test]
fn two_entries_of_one_variable_may_stand_in_different_lanes() {
    let kits = r#"
[kit.one]
env = { MODE = { value = "one", when = { lane.target = "amd64" } } }
[kit.two]
env = { MODE = { value = "two", when = { not = { lane.target = "amd64" } } } }
"#;
    let tables = format!("{kits}{}", step("kits = [\"one\", \"two\"]"));
    assert!(gives(&tables, "l").contains("env MODE=one"));
    assert!(gives(&tables, "a").contains("env MODE=two"));
}

#[test]
fn a_payload_is_looked_for_where_an_entry_of_the_image_looks_at_it() {
    let sdk = "[payload.sdk]\npath = \"sdk.zip\"\nempty-ok = \"a test\"\ntag-part = { present = \"-sdk\" }\n";
    let entry = image("labels.sdk = { value = \"yes\", when = { payload.sdk = \"present\" } }");
    let text = graph(&format!("{sdk}{entry}"))
        .replace("{ stage = \"out\" }", "{ stage = \"out\", tag = \"app:1\" }")
        .replace("[lane.a]", "[lane.z]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"other\" }\n[lane.a]")
        .replacen("[lane.a]\nplatform = \"linux/amd64\"\ntarget = \"windows/arm64\"\noutput.o = { stage = \"out\", tag = \"app:1\" }\n", "", 1)
        + "[stage.other]\nfrom = { image = \"y\" }\n";
    let loaded = load(&text, "");
    let Ok(parsed) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let there = |lane: &str| {
        let planned = plan_with(parsed, &request(lane, &[]), &|_| Some(b"sdk".to_vec()));
        planned.expect("a plan").0
    };
    let with = there("l");
    assert!(config(&with).contains("\"sdk\": \"yes\""));
    assert_eq!(with.payloads.len(), 1);
    // Another content has another tag, or none.
    assert!(!with.unpublishable.is_empty());
    assert_eq!(there("z").payloads.len(), 0);
    let (without, _) = plan(parsed, &request("l", &[])).expect("a plan");
    assert!(!config(&without).contains("\"sdk\""));
}

/// The tables that stand as entries of lists, with the list that has them.
fn listed(form: Form, in_list: bool) -> Vec<&'static Table> {
    match form {
        Form::Table(table) if in_list => vec![table],
        Form::List(form) => listed(*form, true),
        Form::Names(_, form) => listed(*form, in_list),
        Form::Any(forms) => {
            let forms = forms.iter().copied();
            forms.flat_map(|form| listed(form, in_list)).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_entry_of_a_list_may_have_a_condition() {
    let keys = tables().into_iter().flat_map(Table::keys);
    let entries = keys.flat_map(|key| listed(key.form, false));
    let without: Vec<&str> = entries
        .filter(|table| !table.keys().any(|key| key.name == "when"))
        .map(|table| table.name)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    // A condition has none of its own, and a lint is about the file, not about a lane.
    assert_eq!(without, ["lint", "when"]);
}
