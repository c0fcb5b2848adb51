//! A second round of files that are nearly right: sources, payloads, names of Windows, circles through everything
//! that can be one, and very many of each.

use crate::common::{load, plan, rendered, request};
use crate::nasty::{graph, step, wrong};

/// A graph whose one step takes a file of this source.
fn source(table: &str, file: &str) -> String {
    graph(&format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\nfiles = [{{ {file} }}]\n{table}\n"
    ))
}

/// A lane on Windows whose one step has these keys.
fn windows(keys: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\n[lane.l]\nplatform = \"windows/amd64\"\noutput.o = {{ stage = \"out\" }}\n\
         [stage.out]\nfrom = {{ image = \"x\" }}\nenv.PATH = {{ set = ['C:\\Windows'] }}\n[[stage.out.step]]\nname = \"s\"\n{keys}\n"
    )
}

#[test]
fn each_gets_one_error_at_its_place() {
    let git = |keys: &str| source(&format!("[git.g]\n{keys}"), "git = \"g\", at = \"/src\"");
    let fetch = |keys: &str| {
        source(
            &format!("[fetch.f]\n{keys}"),
            "fetch = \"f\", at = \"/src\"",
        )
    };
    let payload = |keys: &str| {
        source(
            &format!("[payload.p]\n{keys}"),
            "payload = \"p\", at = \"/src\"",
        )
    };
    let hash = "9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23";
    let rows = [
        ("git: a URL of nothing", git("url = \"\"")),
        ("git: a path", git("url = \"/srv/app.git\"")),
        ("git: another scheme", git("url = \"ftp://h/app.git\"")),
        (
            "git: a ref with a blank",
            git("url = \"https://h/a.git\"\nref = \"a b\""),
        ),
        (
            "git: a ref that is an option",
            git("url = \"https://h/a.git\"\nref = \"--upload-pack=x\""),
        ),
        (
            "git: a ref in the URL",
            git("url = \"https://h/a.git#main\""),
        ),
        (
            "git: a way out",
            git("url = \"https://h/a.git\"\nsubdir = \"../x\""),
        ),
        (
            "git: a ref by its own commit",
            git("url = \"https://h/a.git\"\nref = \"${git.g.commit}\""),
        ),
        (
            "git: a way out of it",
            source(
                "[git.g]\nurl = \"https://h/a.git\"",
                "git = \"g\", from = \"../x\", at = \"/src\"",
            ),
        ),
        ("git: nobody", source("", "git = \"nobody\", at = \"/src\"")),
        (
            "fetch: a file of the disk",
            fetch(&format!(
                "url = \"file:///etc/passwd\"\nsha256 = \"{hash}\""
            )),
        ),
        (
            "fetch: no name",
            fetch(&format!("url = \"https://h/\"\nsha256 = \"{hash}\"")),
        ),
        (
            "fetch: no host",
            fetch(&format!("url = \"https:///a\"\nsha256 = \"{hash}\"")),
        ),
        (
            "fetch: a blank",
            fetch(&format!("url = \"https://h/a b\"\nsha256 = \"{hash}\"")),
        ),
        (
            "fetch: a name with NUL",
            fetch(&format!(
                "url = \"https://h/a\"\nsha256 = \"{hash}\"\nfilename = \"a\\u0000b\""
            )),
        ),
        (
            "fetch: a name with a line",
            fetch(&format!(
                "url = \"https://h/a\"\nsha256 = \"{hash}\"\nfilename = \"a\\nb\""
            )),
        ),
        (
            "fetch: a short hash",
            fetch("url = \"https://h/a\"\nsha256 = \"9a93\""),
        ),
        (
            "payload: a way out",
            payload(&format!("path = \"../sdk.zip\"\nsha256 = \"{hash}\"")),
        ),
        (
            "payload: everything",
            payload(&format!("path = \"*/*\"\nsha256 = \"{hash}\"")),
        ),
        (
            "payload: a directory",
            payload(&format!("path = \"sdk/\"\nsha256 = \"{hash}\"")),
        ),
        (
            "payload: no hash and no reason",
            payload("path = \"sdk.zip\""),
        ),
        (
            "payload: a context in capitals",
            payload(&format!(
                "path = \"a\"\ncontext = \"UP\"\nsha256 = \"{hash}\""
            )),
        ),
        (
            "Windows: a device",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = 'C:\\aux' }]"),
        ),
        (
            "Windows: a dot at the end",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = 'C:\\x.' }]"),
        ),
        (
            "Windows: a stream",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = 'C:\\x:y' }]"),
        ),
        (
            "Windows: another drive",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = 'D:\\x' }]"),
        ),
        (
            "Windows: a path of Linux",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = '/x' }]"),
        ),
        (
            "Windows: a share",
            windows("run = ['a']\nfiles = [{ from = \"a\", at = '\\\\server\\x' }]"),
        ),
        (
            "Windows: a file called as a device",
            windows("run = ['a']\nfiles = [\"nul.txt\"]"),
        ),
        (
            "Windows: a file with a colon",
            windows("run = ['a']\nfiles = [\"a:b\"]"),
        ),
        (
            "Windows: two files but for case",
            windows("run = ['a']\nfiles = [\"a/x\", \"A/X\"]"),
        ),
        (
            "a file with NUL",
            step("run = [\"a\"]\nfiles = [\"a\\u0000\"]"),
        ),
        ("a command with NUL", step("run = [\"a\\u0000\"]")),
        (
            "a name of 129",
            graph(&format!(
                "[stage.out]\nfrom = \"{0}\"\n[stage.{0}]\nfrom = {{ image = \"x\" }}\n",
                "a".repeat(129)
            )),
        ),
        (
            "a name in another script",
            graph("[stage.out]\nfrom = \"ä\"\n[stage.\"ä\"]\nfrom = { image = \"x\" }\n"),
        ),
        (
            "a circle by uses",
            graph(
                "[stage.out]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\nuses = [\"out\"]\n",
            ),
        ),
        (
            "a circle by a kit",
            graph(
                "[kit.k]\nuses = [\"out\"]\n[stage.out]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\nkits = [\"k\"]\n",
            ),
        ),
        (
            "a circle by a cache",
            graph(
                "[stage.out]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\ncache = [{ id = \"c\", at = \"/c\", from = \"out\", sub = \"/r\" }]\n",
            ),
        ),
        (
            "a circle by a merge",
            graph("[stage.a]\nmerge = [\"out\"]\n[stage.out]\nmerge = [\"a\"]\n"),
        ),
        (
            "a circle by a slot",
            graph("[slot.s]\na = { stage = \"out\" }\n[stage.out]\nfrom = { slot = \"s\" }\n"),
        ),
        (
            "a circle by same-as",
            graph("[slot.s]\na = { same-as = \"out\" }\n[stage.out]\nfrom = { slot = \"s\" }\n"),
        ),
        (
            "a circle by a copy",
            graph(
                "[stage.a]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[[stage.a.step]]\nname = \"s\"\ncopy = { stage = \"out\", from = \"/r\", to = \"/r\" }\n[stage.out]\nfrom = { image = \"x\" }\nadd = [\"a\"]\n",
            ),
        ),
    ];
    let (mut text, mut other) = (String::new(), String::new());
    for (name, file) in rows {
        let found = wrong(&file);
        if found.matches("error[").count() != 1 {
            other.push_str(&format!("== {name}\n{found}\n"));
        }
        text.push_str(&format!("== {name}\n{found}\n"));
    }
    assert_eq!(other, "");
    insta::assert_snapshot!(text);
}

#[test]
fn ten_thousand_of_each_end_in_an_answer() {
    let many = |one: &dyn Fn(usize) -> String| (0..10_000).map(one).collect::<String>();
    let files = [
        step(&format!(
            "run = [\"a\"]\nfiles = [{}]",
            many(&|i| format!("\"f/{i}\", "))
        )),
        step(&format!(
            "run = [\"a\"]\nenv = {{ {} }}",
            many(&|i| format!("V{i} = \"1\", "))
        )),
        step(&format!("run = [{}]", many(&|i| format!("\"{i}\", ")))),
        graph(&format!(
            "[stage.out]\nfrom = {{ image = \"x\" }}\ntree = [{}]\n",
            many(&|i| format!("\"/t/{i}\", "))
        )),
        graph(&format!(
            "{}[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\nargs = [\"A*\"]\n",
            many(&|i| format!("[arg.A{i}]\nabout = \"a\"\ndefault = \"1\"\n"))
        )),
        graph(&format!(
            "[stage.out]\nfrom = {{ image = \"x\" }}\n{}",
            many(&|i| format!("[[refuse]]\nwhen = {{ lane.name = \"x{i}\" }}\nwhy = \"a\"\n"))
        )),
    ];
    for (at, file) in files.iter().enumerate() {
        let start = std::time::Instant::now();
        let found = wrong(file);
        assert!(
            found.contains("nothing is wrong") || found.contains("error["),
            "{at}: {found}"
        );
        let took = start.elapsed();
        assert!(took < std::time::Duration::from_secs(60), "{at}: {took:?}");
    }
}

#[test]
fn targets_that_nobody_has_get_one_error() {
    let text = graph(
        "[stage.out]\nfrom = { image = \"x\" }\n[[stage.out.step]]\nname = \"s\"\nrun = [\"a\"]\n",
    );
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let long = "l/".repeat(3000);
    let targets = [
        "",
        "/",
        "l/",
        "/l",
        "l//o",
        "l/o/",
        "l/out/s/x",
        "l/out/",
        "l/out/S",
        "L",
        " l",
        "l\0",
        "l/\u{202e}o",
        "l/gates/x",
        "gates",
        "..",
        "l/..",
        "ä",
        &long,
    ];
    let mut all = String::new();
    for target in targets {
        let said = match plan(graph, &request(target, &[])) {
            Ok(_) => "taken\n".to_owned(),
            Err(report) => report.render(&loaded.sources, false),
        };
        assert!(
            said == "taken\n" || said.matches("error[").count() == 1,
            "{target:?}: {said}"
        );
        let head: Vec<&str> = said.lines().filter(|line| line.len() < 200).collect();
        let name: String = target.escape_debug().take(40).collect();
        all.push_str(&format!("== {name}\n{}\n\n", head.join("\n")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn where_an_image_is_looked_for_is_said_of_images_alone() {
    let stage = |from: &str| graph(&format!("[stage.out]\nfrom = {from}\n"));
    for good in ["always", "missing"] {
        let text = stage(&format!("{{ image = \"x\", pull = \"{good}\" }}"));
        assert_eq!(wrong(&text), "nothing is wrong\n");
    }
    let found = [
        wrong(&stage("{ image = \"x\", pull = \"never\" }")),
        wrong(
            &(stage("{ slot = \"s\", pull = \"always\" }")
                + "[slot.s]\na = { stage = \"b\" }\n[stage.b]\nfrom = { image = \"x\" }\n"),
        ),
    ];
    assert!(
        found
            .iter()
            .all(|found| found.matches("error[").count() == 1),
        "{found:?}"
    );
    insta::assert_snapshot!("pull", found.join("\n"));
    // Of two that say it of one image, the stronger counts.
    let two = stage("{ image = \"x\", pull = \"missing\" }\nadd = [\"b\"]")
        + "[stage.b]\nfrom = { image = \"x\", pull = \"always\" }\ntree = [\"/r\"]\n[[stage.b.step]]\nname = \"s\"\nrun = [\"a\"]\n";
    let loaded = load(&two, "");
    let graph = loaded.graph.as_ref().expect("a graph");
    let request = request("l", &[]);
    let selection = stages::plan::select(graph, &request).expect("a lane");
    assert_eq!(selection.pull("x"), stages::file::Pull::Always);
    assert_eq!(selection.pull("y"), stages::file::Pull::Engine);
}

#[test]
fn what_only_a_caller_knows_is_not_judged_before() {
    let arg = "[arg.X]\nabout = \"a\"\n";
    let hash = "9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23";
    for (table, file) in [
        (
            "[git.g]\nurl = \"${arg.X}\"".to_owned(),
            "git = \"g\", at = \"/src\"",
        ),
        (
            "[git.g]\nurl = \"https://h/a.git\"\nref = \"${arg.X}\"\nsubdir = \"${arg.X}\""
                .to_owned(),
            "git = \"g\", at = \"/src\"",
        ),
        (
            format!("[fetch.f]\nurl = \"${{arg.X}}\"\nsha256 = \"{hash}\"\nfilename = \"a\""),
            "fetch = \"f\", at = \"/src\"",
        ),
        (
            format!("[fetch.f]\nurl = \"${{arg.X}}/\"\nsha256 = \"{hash}\""),
            "fetch = \"f\", at = \"/src\"",
        ),
    ] {
        let text = source(&format!("{table}\n{arg}"), file);
        assert_eq!(wrong(&text), "nothing is wrong\n", "{text}");
    }
}
