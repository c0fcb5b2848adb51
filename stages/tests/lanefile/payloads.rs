//! Payloads: absent is off, present is what its hash says, and who looks at neither is as it was.

use ::llb::{Caps, Definition, Digest, Platform};
use stages::diag::{Report, rule};
use stages::graph::Graph;
use stages::lower::ExecOptions;
use stages::plan::{Facts, PayloadFact, Plan, assume_with, check_payloads, rehearse, select};

use crate::common::{Loaded, load, lower_with, plan_with, rendered, request};
use crate::trees::wrong;

/// Bytes of a payload that is there.
const BYTES: &[u8] = b"the real thing";

/// Two lanes, of which one takes the payload.
fn graph(payload: &str, out: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\nversions = \"versions.env\"\n\
         [lane.l]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"out\", tag = \"out:l\" }}\n\
         [lane.other]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"plain\", tag = \"out:o\" }}\n\
         [stage.plain]\nfrom = {{ image = \"x\" }}\n[[stage.plain.step]]\nname = \"s\"\nrun = [\"true\"]\n\
         {payload}\n[stage.out]\nfrom = {{ image = \"x\" }}\n{out}\n"
    )
}

fn pinned() -> String {
    format!(
        "[payload.qnn]\npath = \"qnn-sdk/v*.zip\"\nsha256 = \"{}\"",
        Digest::of(BYTES).hex()
    )
}

const TAKES: &str = "[[stage.out.step]]\nname = \"s\"\nargs = [\"QNN=payload.qnn|is:present|01\"]\n\
    files = [\"build.sh\", { payload = \"qnn\", at = \"/payload\" }]\nrun = [\"sh\", \"build.sh\"]";

fn planned(loaded: &Loaded, lane: &str, there: bool) -> Result<(Plan, Facts), Report> {
    let graph = graph_of(loaded);
    plan_with(graph, &request(lane, &[]), &|_| {
        there.then(|| BYTES.to_vec())
    })
}

#[track_caller]
fn graph_of(loaded: &Loaded) -> &Graph {
    match &loaded.graph {
        Ok(graph) => graph,
        Err(_) => panic!("{}", rendered(loaded)),
    }
}

#[track_caller]
fn llb(text: &str, lane: &str, there: bool) -> String {
    let loaded = load(text, "");
    let lowered = planned(&loaded, lane, there).and_then(|(plan, facts)| {
        let worker = Platform::new("linux", "amd64");
        let options = ExecOptions::default();
        lower_with(&loaded, &plan, &facts, &Caps::all(), worker, options)
    });
    match lowered {
        Ok(lowered) => ::llb::view::text(&Definition::new(&lowered.result).to_pb()),
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

/// The rules of what a plan tells, without its errors.
fn told(loaded: &Loaded, lane: &str, there: bool) -> Vec<&'static str> {
    let (plan, _) = planned(loaded, lane, there).expect("a plan");
    plan.warnings.iter().map(|told| told.rule.0).collect()
}

#[test]
fn a_step_gets_a_payload_that_is_there_and_is_another_without_it() {
    let text = graph(&pinned(), TAKES);
    let (there, absent) = (llb(&text, "l", true), llb(&text, "l", false));
    insta::assert_snapshot!([there, absent].join("----\n"));
}

#[test]
fn absent_is_told_once_and_only_where_it_counts() {
    let loaded = load(&graph(&pinned(), TAKES), "");
    assert_eq!(told(&loaded, "l", false), ["LK022"]);
    assert_eq!(told(&loaded, "l", true), [""; 0]);
    assert_eq!(told(&loaded, "other", false), [""; 0]);
    let allowed = pinned().replace(
        "path =",
        "lint = [{ allow = \"LK022\", why = \"nobody has it\" }]\npath =",
    );
    assert_eq!(
        told(&load(&graph(&allowed, TAKES), ""), "l", false),
        [""; 0]
    );
}

#[test]
fn a_lane_that_takes_no_payload_is_as_without_it() {
    let bare = llb(
        &graph("", "[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]"),
        "other",
        false,
    );
    let text = graph(&pinned(), TAKES);
    assert_eq!(llb(&text, "other", false), bare);
    assert_eq!(llb(&text, "other", true), bare);
    // Nor is it looked for.
    let loaded = load(&text, "");
    let selection = select(graph_of(&loaded), &request("other", &[])).expect("a lane");
    assert!(selection.payloads().is_empty());
}

#[test]
fn what_else_a_condition_says_decides_before_a_payload_is_looked_for() {
    let step = "[[stage.out.step]]\nname = \"s\"\nwhen = { lane.name = \"other\", payload.qnn = \"present\" }\nrun = [\"true\"]\n";
    let text = graph(&pinned(), step).replace("stage = \"plain\"", "stage = \"out\"");
    let text = text
        .replace("[stage.plain]", "[stage.plan]")
        .replace("[[stage.plain.step]]", "[[stage.plan.step]]");
    let text = text.replace("[stage.plan]\nfrom = { image = \"x\" }\n[[stage.plan.step]]\nname = \"s\"\nrun = [\"true\"]\n", "");
    let loaded = load(&text, "");
    let wanted = |lane: &str| {
        let selection = select(graph_of(&loaded), &request(lane, &[])).expect("a lane");
        selection
            .payloads()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(wanted("l"), [""; 0]);
    assert_eq!(wanted("other"), ["qnn"]);
}

#[test]
fn a_payload_with_another_hash_is_an_error_and_never_absent() {
    let loaded = load(&graph(&pinned(), TAKES), "");
    let graph = graph_of(&loaded);
    let other = plan_with(graph, &request("l", &[]), &|_| Some(b"another".to_vec()));
    let report = other.expect_err("it is refused");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
    // Nor where images are not looked up.
    let facts = Facts {
        payloads: [(
            "qnn".to_owned(),
            PayloadFact::Present {
                path: "qnn-sdk/v1.zip".into(),
                sha256: Digest::of(b"another").hex(),
            },
        )]
        .into(),
        ..Facts::default()
    };
    let selection = select(graph, &request("l", &[])).expect("a lane");
    let report = assume_with(&selection, &facts).expect_err("it is refused");
    assert_eq!(report.diagnostics()[0].rule, rule::PAYLOAD);
    let report = check_payloads(graph, |_, _| Ok(facts.payloads.get("qnn").cloned()));
    assert_eq!(report.diagnostics()[0].rule, rule::PAYLOAD);
    let report = check_payloads(graph, |_, _| Err("permission denied".into()));
    assert_eq!(report.diagnostics()[0].rule, rule::PATH);
}

#[test]
fn a_hash_may_be_a_pin_that_is_empty_where_the_file_says_why() {
    let payload = "[payload.qnn]\npath = \"qnn-sdk/v1.zip\"\nsha256 = \"QNN_SHA256\"\nempty-ok = \"the zip differs for each user\"";
    let text = graph(payload, TAKES);
    let open = load(&text, "QNN_SHA256=\n");
    assert_eq!(told(&open, "l", true), ["LK023"]);
    let (plan, _) = planned(&open, "l", true).expect("a plan");
    assert!(plan.warnings[0].message.contains(&Digest::of(BYTES).hex()));
    let pins = format!("QNN_SHA256={}\n", Digest::of(BYTES).hex());
    assert_eq!(told(&load(&text, &pins), "l", true), [""; 0]);
    let pins = format!("QNN_SHA256={}\n", Digest::of(b"other").hex());
    assert!(planned(&load(&text, &pins), "l", true).is_err());
    // The value for one run is what counts in it.
    let loaded = load(&text, &pins);
    let asked = request("l", &[("LANEKIT_PIN_QNN_SHA256", &Digest::of(BYTES).hex())]);
    assert!(plan_with(graph_of(&loaded), &asked, &|_| Some(BYTES.to_vec())).is_ok());
}

#[test]
fn a_file_step_that_copies_a_payload_is_there_where_that_is() {
    let step = "[[stage.out.step]]\nname = \"s\"\ncopy = { payload = \"qnn\", to = \"/opt/\" }";
    let text = graph(&pinned(), step);
    assert!(
        llb(&text, "l", true).contains("/opt"),
        "{}",
        llb(&text, "l", true)
    );
    assert!(!llb(&text, "l", false).contains("/opt"));
}

#[test]
fn a_stage_and_a_refusal_may_hang_on_a_payload() {
    let tables = "[[stage.out.step]]\nname = \"s\"\nwhen = { payload.qnn = \"present\" }\nrun = [\"true\"]\n\
        [[refuse]]\nwhen = { lane.name = \"l\", payload.qnn = \"absent\" }\nwhy = \"the lane is for it\"";
    let loaded = load(&graph(&pinned(), tables), "");
    assert!(planned(&loaded, "l", true).is_ok());
    let report = planned(&loaded, "l", false).expect_err("it is refused");
    assert_eq!(report.diagnostics()[0].rule, rule::REFUSED);
    // While nobody looked for it, it is not refused.
    assert!(select(graph_of(&loaded), &request("l", &[])).is_ok());
    let named = tables.replace(
        "[[stage.out.step]]",
        "when = { payload.qnn = \"present\" }\n[[stage.out.step]]",
    );
    let loaded = load(&graph(&pinned(), &named), "");
    let graph = graph_of(&loaded);
    assert!(select(graph, &request("l/out", &[])).is_ok());
    assert!(plan_with(graph, &request("l/out", &[]), &|_| Some(BYTES.to_vec())).is_ok());
}

#[test]
fn both_states_are_rehearsed_and_instances_are_told_apart() {
    let broken = "[[stage.out.step]]\nname = \"s\"\nwhen = { payload.qnn = \"present\" }\nenv = { X = \"${arch.none-such}\" }\nrun = [\"true\"]";
    assert!(
        wrong(&graph(&pinned(), broken).replace("versions = \"versions.env\"\n", ""))
            .contains("LK005")
    );
    let overlap = "[[stage.out.step]]\nname = \"s\"\ncache = [{ id = \"c\", at = \"/payload\" }]\nfiles = [{ payload = \"qnn\", at = \"/payload\" }]\nrun = [\"true\"]";
    let loaded = load(&graph(&pinned(), overlap), "");
    let report = rehearse(graph_of(&loaded), |_| Ok(()));
    assert_eq!(
        report.diagnostics().len(),
        1,
        "{}",
        report.render(&loaded.sources, false)
    );
    let loaded = load(&graph(&pinned(), TAKES), "");
    assert!(rehearse(graph_of(&loaded), |_| Ok(())).is_empty());
    let lane = &graph_of(&loaded).lanes["l"];
    let mut setting = graph_of(&loaded).setting("l", lane);
    assert_eq!(setting.instances()["out"].id, "out@payload.qnn=absent");
    setting.payloads.insert("qnn", true);
    assert_eq!(setting.instances()["out"].id, "out@payload.qnn=present");
}

#[test]
fn payloads_that_cannot_be_are_refused_together() {
    let forms = "[payload.a]\npath = \"../x.zip\"\nsha256 = \"no hash\"\n[payload.b]\npath = \"d/*/x.zip\"\n\
        [payload.c]\npath = \"d/*\"\nempty-ok = \"w\"\n[payload.d]\npath = \"d/\"\nempty-ok = \"w\"\n\
        [payload.e]\npath = \"x\"\nsha256 = \"0123456789012345678901234567890123456789012345678901234567890123\"\nempty-ok = \"w\"\n\
        [payload.f]\npath = \"x\"\ncontext = \"SDK\"\nempty-ok = \"w\"\n[payload.g]\npath = \"x\"\ncontext = \"\"\nempty-ok = \"w\"";
    let step = "[[stage.out.step]]\nname = \"s\"\nwhen = { payload.a = \"here\" }\nfiles = [{ payload = \"a\", git = \"g\" }]\nrun = [\"true\"]\n\
        [[stage.out.step]]\nname = \"t\"\ncopy = { payload = \"a\", to = \"/x\", only = [\"*\"] }";
    let names = "[payload.a]\npath = \"x.zip\"\nsha256 = \"NONE\"\n[payload.b]\npath = \"y.zip\"\nsha256 = \"SHORT\"\n[payload.c]\npath = \"z.zip\"\nsha256 = \"EMPTY\"";
    let named = "[[stage.out.step]]\nname = \"s\"\nwhen = { payload.aa = \"present\" }\nfiles = [{ payload = \"bb\" }, { payload = \"b\" }]\nargs = [\"X=payload.cc\"]\nrun = [\"${payload.dd}\"]\n\
        [[stage.out.step]]\nname = \"t\"\ncopy = { payload = \"ee\", to = \"/x\" }";
    let unused = "[payload.a]\npath = \"x.zip\"\nempty-ok = \"w\"";
    let plain = "[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]";
    let shown =
        |payload: &str, step: &str| rendered(&load(&graph(payload, step), "SHORT=12\nEMPTY=\n"));
    let hashes = names.replace("NONE", "SHORT");
    let takes = "[[stage.out.step]]\nname = \"s\"\nfiles = [{ payload = \"a\" }, { payload = \"b\" }, { payload = \"c\" }]\nrun = [\"true\"]";
    insta::assert_snapshot!(
        [
            shown(forms, step),
            shown(names, named),
            shown(&hashes, takes),
            shown(unused, plain)
                .lines()
                .filter(|line| line.contains("payload"))
                .collect::<Vec<_>>()
                .join("\n"),
        ]
        .join("----\n")
    );
}
