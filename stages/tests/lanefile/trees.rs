//! Products: what of a root they are, how steps get them.

use crate::common::{load, lower, plan, rendered, request};
use ::llb::{Caps, Definition};

/// A graph with a stage `part`, whose tree is `/t/part`, and a stage `out`.
pub(crate) fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\n[lane.l]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"out\" }}\noutput.p = {{ stage = \"part\" }}\n\
         [stage.part]\nfrom = {{ image = \"x\" }}\ntree = [\"/t/part\"]\n\
         [[stage.part.step]]\nname = \"make\"\nrun = [\"make\"]\n{tables}"
    )
}

/// A stage `out` with a step that has these keys.
fn out(stage: &str, step: &str) -> String {
    graph(&format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n{stage}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n{step}\n"
    ))
}

/// What is wrong with a file.
#[track_caller]
pub(crate) fn wrong(text: &str) -> String {
    let loaded = load(text, "");
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    match plan(graph, &request("l", &[])) {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

/// The LLB of a file as text.
#[track_caller]
pub(crate) fn llb(text: &str) -> String {
    let loaded = load(text, "");
    match lower(&loaded, &request("l", &[]), &Caps::all()) {
        Ok(lowered) => ::llb::view::text(&Definition::new(&lowered.result).to_pb()),
        Err(report) => panic!(
            "{}{}",
            rendered(&loaded),
            report.render(&loaded.sources, false)
        ),
    }
}

#[test]
fn a_product_is_copied_into_the_root_before_the_step() {
    let uses = "uses = [{ stage = \"part\", as = \"copy\" }, { stage = \"part\", sub = \"/t/part/lib\", at = \"/lib/part\", as = \"copy\" }]";
    insta::assert_snapshot!(llb(&out("tree = [\"/t/part/out*\"]", uses)));
}

#[test]
fn copies_do_not_meet_each_other_a_mount_or_a_tree_above_them() {
    let twice = "uses = [{ stage = \"part\", as = \"copy\" }, { stage = \"part\", sub = \"/t/part/lib\", as = \"copy\" }]";
    let hidden =
        "uses = [{ stage = \"part\", as = \"copy\" }]\ncache = [{ id = \"c\", at = \"/t\" }]";
    let both = [wrong(&out("", twice)), wrong(&out("", hidden))];
    insta::assert_snapshot!(both.join("----\n"));
    let copied = "uses = [{ stage = \"part\", as = \"copy\" }]";
    let tree = |entry: &str| wrong(&out(&format!("tree = [{entry}]"), copied));
    assert!(tree("\"/t\"").contains("LK030"));
    for good in [
        "{ at = \"/t\", except = [\"part/**\"] }",
        "\"/t/part\"",
        "\"/t/part/out*\"",
        "{ at = \"/t\", only = [\"other/*\"] }",
        "\"/u\"",
    ] {
        assert_eq!(tree(good), "nothing is wrong", "{good}");
    }
}

#[test]
fn a_tree_leaves_out_and_picks() {
    let tree = "tree = [{ at = \"/r\", except = [\"part/**\", \"**/*.pdb\"] }, { at = \"/s\", only = [\"*/lib/*.so\"] }]";
    insta::assert_snapshot!(llb(&out(tree, "")));
}

#[test]
fn patterns_that_cannot_be_are_refused_together() {
    let tree = "tree = [{ at = \"/r/*\", only = [\"x\"] }, { at = \"/r\", only = [\"/x\", \"!y\", \"a/../b\", \"[c]\"] }, \"/a/*/b\", { except = [\"x\"] }]";
    let form = wrong(&out(tree, ""));
    let paths = wrong(&out(&tree.replace(", { except = [\"x\"] }", ""), ""));
    insta::assert_snapshot!(format!("{form}----\n{paths}"));
    let never = "tree = [{ at = \"/r\", when = { lane.target = \"arm64\" } }]";
    insta::assert_snapshot!(wrong(&out(never, "")));
}

/// A stage `out` with these steps, from an image or from nothing.
fn steps(from: &str, steps: &[&str]) -> String {
    let mut text = format!("[stage.out]\nfrom = {from}\n");
    for (number, step) in steps.iter().enumerate() {
        text.push_str(&format!(
            "[[stage.out.step]]\nname = \"s{number}\"\n{step}\n"
        ));
    }
    graph(&text)
}

#[test]
fn file_steps_are_one_file_operation_each() {
    let text = steps(
        "\"scratch\"",
        &[
            "write = { path = \"/etc/motd\", text = \"for ${lane.target}\\n\" }",
            "mkdir = { path = \"/var/lib/app\", mode = \"0700\", owner = \"10:20\" }",
            "link = { path = \"/bin/app\", to = \"../opt/app\" }",
            "copy = { stage = \"part\" }",
            "copy = { stage = \"part\", from = \"/t/part/lib\", to = \"/usr/lib/part\", only = [\"*.so\"], owner = \"app\" }",
            "copy = { stage = \"part\", from = \"/t/part/*.h\", to = \"/usr/include/\", except = [\"x\"], mode = \"0644\" }",
            "copy = { from = \"conf/app.conf\", to = \"/etc/app.conf\", mode = \"0640\", owner = \"0:7\" }",
            "copy = { from = \"conf/\", to = \"/etc/conf.d/\" }",
            "delete = { path = \"/etc/*.bak\" }",
            "delete = { path = \"/etc/motd\", optional = true }",
        ],
    );
    insta::assert_snapshot!(llb(&text));
}

#[test]
fn file_steps_that_cannot_be_are_refused_together() {
    let text = steps(
        "{ image = \"x\" }",
        &[
            "run = [\"true\"]\nmkdir = { path = \"/x\" }",
            "write = { path = \"/x\", text = \"y\", mode = \"644\" }\nargs = [\"A\"]\nnetwork = \"none\"",
            "copy = { from = \"../x\", to = \"/x\" }",
            "copy = { stage = \"part\", to = \"/x\" }",
            "copy = { stage = \"part\", from = \"/x\" }",
            "link = { path = \"/x\" }",
            "delete = { paths = \"/x\" }",
        ],
    );
    let form = wrong(&text);
    let text = steps(
        "\"scratch\"",
        &[
            "delete = { path = \"/x\" }",
            "write = { path = \"/\", text = \"y\", owner = \"a:b:c\" }",
            "mkdir = { path = \"x\" }",
            "copy = { stage = \"part\", from = \"/t/part/*\", to = \"/x\" }",
            "copy = { stage = \"part\", from = \"/u\", to = \"/x\", owner = \"99999999999\" }",
            "copy = { stage = \"part\", from = \"/t/part/x\", to = \"/x\", only = [\"/y\"] }",
        ],
    );
    insta::assert_snapshot!(format!("{form}----\n{}", wrong(&text)));
    let unknown = steps(
        "\"scratch\"",
        &["copy = { stage = \"prat\", from = \"/t\", to = \"/x\" }"],
    );
    assert!(wrong(&unknown).contains("did you mean `part`"));
}

#[test]
fn an_empty_root_runs_only_what_is_mounted() {
    let first = |step: &str| wrong(&steps("\"scratch\"", &[step]));
    for (step, missing) in [
        ("script = \"true\"", "/bin/sh"),
        ("script = \"#!/usr/bin/env python\\n\"", "/usr/bin/env"),
        (
            "run = [\"/t/other/tool\"]\nuses = [\"part\"]",
            "/t/other/tool",
        ),
        ("run = [\"true\"]", "true"),
        (
            "write = { path = \"/x\", text = \"\", owner = \"app\" }",
            "nobody is called `app`",
        ),
    ] {
        let said = first(step);
        assert!(
            said.contains("LK031") && said.contains(missing),
            "{step}: {said}"
        );
    }
    for step in [
        "run = [\"/t/part/tool\"]\nuses = [\"part\"]",
        "run = [\"./tool\"]\nfiles = [\"tool\"]",
        "script = \"true\"\nuses = [{ stage = \"part\", sub = \"/t/part/bin\", at = \"/bin\" }]",
        "script = \"true\"\nuses = [{ stage = \"part\", as = \"copy\" }]",
        "write = { path = \"/x\", text = \"\", owner = \"1\" }",
    ] {
        assert_eq!(first(step), "nothing is wrong", "{step}");
    }
    let second = ["copy = { stage = \"part\" }", "script = \"true\""];
    assert_eq!(wrong(&steps("\"scratch\"", &second)), "nothing is wrong");
}

/// A stage `out` that merges `part` and `other`, whose tree is given.
fn merged(other: &str, merge: &str) -> String {
    graph(&format!(
        "[stage.other]\nfrom = {{ image = \"x\" }}\ntree = {other}\n[[stage.other.step]]\nname = \"s\"\nrun = [\"true\"]\n\
         [stage.out]\n{merge}\n"
    ))
}

#[test]
fn trees_that_cannot_meet_are_merged_without_a_look() {
    let text = llb(&merged("[\"/t/other\"]", "merge = [\"part\", \"other\"]"));
    assert!(!text.contains("compare"), "{text}");
    let left_out = "[{ at = \"/t\", except = [\"part/**\"] }]";
    let text = llb(&merged(left_out, "merge = [\"part\", \"other\"]"));
    assert!(!text.contains("compare"), "{text}");
}

#[test]
fn trees_that_may_meet_are_compared_before_anything_takes_them() {
    let merge = "merge = [\"part\", \"other\"]\nconflict = [{ path = \"/t/**/x\", take = \"part\", why = \"y\" }, { path = \"**/*.pyc\", take = \"any\", why = \"z\" }]";
    insta::assert_snapshot!(llb(&merged("[\"/t\"]", merge)));
}

#[test]
fn case_counts_where_the_target_has_it() {
    let text = merged("[\"/T/Part\"]", "merge = [\"part\", \"other\"]");
    assert!(!llb(&text).contains("compare"));
    let windows = text.replace(
        "platform = \"linux/amd64\"",
        "platform = \"linux/amd64\"\ntarget = \"windows/amd64\"",
    );
    assert!(llb(&windows).contains("--fold"));
}

#[test]
fn a_part_is_merged_to_another_place_and_one_that_is_absent_leaves_a_marker() {
    let merge = "merge = [\"part\", { stage = \"other\", from = \"/o/lib\", to = \"/t/lib\" }, \
        { stage = \"part\", from = \"/t/part/bin\", to = \"/t/bin\", when = { lane.target = \"arm64\" }, else = \"absent-marker\", why = \"no ${lane.target} build\" }]";
    insta::assert_snapshot!(llb(&merged("[\"/o\"]", merge)));
    // A stage that the lane does not have is absent without a condition of the entry.
    let text = merged(
        "[\"/o/*\"]",
        "merge = [\"part\", { stage = \"other\", else = \"absent-marker\", why = \"not here\" }]",
    );
    let text = text.replace(
        "[stage.other]\n",
        "[stage.other]\nwhen = { lane.name = \"m\" }\n",
    );
    let text = format!(
        "{text}[lane.m]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"out\" }}\n"
    );
    assert!(
        llb(&text).contains("mkfile /o/ABSENT-other.txt"),
        "{}",
        llb(&text)
    );
}

#[test]
fn merges_that_cannot_be_are_refused() {
    let merge = "merge = [\"part\", { stage = \"other\", to = \"/x\", else = \"absent-marker\" }, { stage = \"other\", why = \"x\" }]\n\
        conflict = [{ path = \"x\", take = \"prat\", why = \"y\" }, { path = \"x\" }]";
    let form = wrong(&merged("[\"/o\"]", merge));
    let merge = "merge = [\"part\", { stage = \"other\", from = \"/u\" }]\n\
        conflict = [{ path = \"/[x]\", take = \"any\", why = \"y\" }]";
    let paths = wrong(&merged("[\"/o\"]", merge));
    let merge = "merge = [\"part\", \"other\"]\nconflict = [{ path = \"x\", take = \"prat\", why = \"y\" }]";
    let names = wrong(&merged("[\"/o\"]", merge));
    let stray = wrong(&out(
        "conflict = [{ path = \"x\", take = \"any\", why = \"y\" }]",
        "",
    ));
    insta::assert_snapshot!([form, paths, names, stray].join("----\n"));
}

#[test]
fn layers_are_counted_along_the_root() {
    let all = "[stage.base]\nfrom = { image = \"x\" }\nadd = [\"part\"]\n[[stage.base.step]]\nname = \"s\"\nrun = [\"true\"]\nuses = [{ stage = \"part\", sub = \"/t/part/x\", at = \"/x\", as = \"copy\" }]\n\
        [stage.merged]\nmerge = [\"part\", { stage = \"base\", from = \"/x\" }]\n\
        [stage.out]\nfrom = \"base\"\n[[stage.out.step]]\nname = \"s\"\nmkdir = { path = \"/y\" }\n[[stage.out.step]]\nname = \"t\"\nuses = [\"merged\"]\nrun = [\"true\"]\n";
    let loaded = load(&graph(all), "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let (plan, mut facts) = plan(graph, &request("l", &[])).expect("a plan");
    let config = br#"{"rootfs":{"type":"layers","diff_ids":["sha256:a","sha256:b"]},"config":{}}"#;
    for fact in facts.images.values_mut() {
        fact.config = stages::plan::ImageConfig::from_image(config).expect("a config");
    }
    let layers = plan.layers(&facts);
    let counted: Vec<String> = plan
        .stages
        .iter()
        .zip(layers)
        .map(|(stage, n)| format!("{} {n}", stage.name))
        .collect();
    assert_eq!(counted, ["part 1", "base 5", "merged 2", "out 7"]);
}

#[test]
fn on_windows_nothing_is_added_over_what_is_there() {
    let tables = "[stage.base]\nfrom = { image = \"x\" }\n[[stage.base.step]]\nname = \"w\"\nwrite = { path = \"/t/part/x\", text = \"\" }\n\
        [stage.out]\nfrom = \"base\"\nadd = [\"part\"]\n";
    let text = graph(tables);
    assert_eq!(wrong(&text), "nothing is wrong");
    let windows = text
        .replace("platform = \"linux/amd64\"", "platform = \"windows/amd64\"")
        .replace("/t/part/x", r"C:\\t\\part\\x")
        .replace("/t/part", r"C:\\t\\part");
    let said = wrong(&windows);
    assert!(
        said.contains(r"the tree of `part` goes over what is at C:\t\part\x"),
        "{said}"
    );
    let apart = windows.replace(r"C:\\t\\part\\x", r"C:\\u");
    assert!(!wrong(&apart).contains("goes over"), "{}", wrong(&apart));
}
