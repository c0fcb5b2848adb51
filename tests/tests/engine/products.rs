//! Products: copied, merged, changed by file steps; the same on every engine.

use engine_tests::{Build, Engine, Example, Setup, nonce};

use crate::trees::{Listing, export};

/// A lane `l` whose output `tree` is stage `all`, on busybox.
fn lanes(tables: &str) -> Example {
    Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "products"
[lane.l]
platform = "linux/amd64"
output.image = {{ stage = "all" }}
[stage.base]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
{tables}"#,
        nonce()
    ))
}

/// A stage with one step that makes its tree.
fn stage(name: &str, tree: &str, script: &str) -> String {
    format!(
        "[stage.{name}]\nfrom = \"base\"\ntree = {tree}\n[[stage.{name}.step]]\nname = \"make\"\nnetwork = \"none\"\nscript = '''\n{script}\n'''\n"
    )
}

/// What each engine makes of it; all make the same.
fn everywhere(example: &Example) -> Listing {
    let mut engines = Setup::get().engines();
    let first = engines.next().expect("an engine");
    let found = export(first, example, "l");
    for other in engines {
        assert_eq!(found, export(other, example, "l"), "on {}", other.kind);
    }
    found
}

fn said(engine: &Engine, example: &Example) -> String {
    let outcome = Build::new(engine, example.path()).fail();
    format!("{}\n{}", outcome.errors, outcome.all_logs())
}

#[test]
fn file_steps_need_no_shell_and_do_what_they_say() {
    let example = lanes(&format!(
        "{}{}",
        stage(
            "part",
            "[\"/t\"]",
            "mkdir -p /t/sub; echo a > /t/a.h; echo b > /t/b.c; echo s > /t/sub/s.h; chown 3:4 /t/a.h; chmod 750 /t/sub"
        ),
        r#"
[stage.all]
from = "scratch"
[[stage.all.step]]
name = "write"
write = { path = "/etc/a/motd", text = "for ${lane.target}", mode = "0640", owner = "10" }
[[stage.all.step]]
name = "mkdir"
mkdir = { path = "/var/app", mode = "0700", owner = "10:20" }
[[stage.all.step]]
name = "link"
link = { path = "/bin/app", to = "../t/a.h" }
[[stage.all.step]]
name = "tree"
copy = { stage = "part" }
[[stage.all.step]]
name = "headers"
copy = { stage = "part", from = "/t", to = "/include", only = ["*.h"], owner = "1:1" }
[[stage.all.step]]
name = "pattern"
copy = { stage = "part", from = "/t/*.h", to = "/flat/", mode = "0600" }
[[stage.all.step]]
name = "context"
copy = { from = "conf/", to = "/conf" }
[[stage.all.step]]
name = "except"
copy = { from = "conf/", to = "/conf2/", except = ["y"], mode = "0755" }
[[stage.all.step]]
name = "delete"
delete = { path = "/t/sub" }
"#
    ));
    std::fs::create_dir(example.file("conf")).expect("a directory");
    example.write("conf/x", "x");
    example.write("conf/y", "y");
    let found = everywhere(&example);
    let list: Vec<String> = found
        .iter()
        .map(|(path, what)| {
            let short = what.replace("sha256:", "");
            let short = match short.split_once(' ') {
                Some(("file", rest)) => {
                    format!("file {}", rest.split_once(' ').map_or("", |(_, r)| r))
                }
                _ => short,
            };
            format!("{path}: {short}")
        })
        .collect();
    assert_eq!(
        list,
        [
            "bin: directory 40755 0:0",
            "bin/app: link to ../t/a.h 120777 0:0",
            "conf: directory 40755 0:0",
            "conf/x: file 100755 0:0",
            "conf/y: file 100755 0:0",
            "conf2: directory 40755 0:0",
            "conf2/conf: directory 40755 0:0",
            "conf2/conf/x: file 100755 0:0",
            "etc: directory 40755 0:0",
            "etc/a: directory 40755 0:0",
            "etc/a/motd: file 100640 10:10",
            "flat: directory 40755 0:0",
            "flat/a.h: file 100600 3:4",
            "include: directory 40755 1:1",
            "include/a.h: file 100644 1:1",
            "t: directory 40755 0:0",
            "t/a.h: file 100644 3:4",
            "t/b.c: file 100644 0:0",
            "var: directory 40755 0:0",
            "var/app: directory 40700 10:20",
        ]
    );
}

#[test]
fn a_change_of_mode_in_the_context_re_runs_no_step_behind_a_copy() {
    use std::os::unix::fs::PermissionsExt as _;
    for engine in Setup::get().engines() {
        let example = lanes(
            r#"
[stage.all]
from = "base"
[[stage.all.step]]
name = "copy"
copy = { from = "x", to = "/x" }
[[stage.all.step]]
name = "run"
network = "none"
run = ["cat", "/x"]
"#,
        );
        example.write("x", "x");
        let run = || Build::new(engine, example.path()).pass().steps_run();
        assert!(run().contains("all/run"));
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(example.file("x"), mode).expect("a mode");
        assert!(run().is_empty(), "on {}", engine.kind);
        example.write("x", "y");
        assert!(run().contains("all/run"), "on {}", engine.kind);
    }
}

#[test]
fn a_copied_product_can_be_written_into_and_counts_by_its_bytes() {
    for engine in Setup::get().engines() {
        let part = stage(
            "part",
            "[\"/t/part\"]",
            "mkdir -p /t/part; echo a > /t/part/a",
        );
        let uses = "uses = [{ stage = \"part\", as = \"copy\" }]\nnetwork";
        let all = stage("all", "[\"/t/part/mine\"]", "cat /t/part/a > /t/part/mine");
        let example = lanes(&format!("{part}{}", all.replacen("network", uses, 1)));
        let found = export(engine, &example, "l");
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["t", "t/part", "t/part/mine"]);
        // The same bytes in another way.
        example.edit(
            "lanes.toml",
            "echo a > /t/part/a",
            "printf 'a\\n' > /t/part/a",
        );
        let run = Build::new(engine, example.path()).pass().steps_run();
        assert_eq!(
            run.iter().collect::<Vec<_>>(),
            ["part/make"],
            "on {}",
            engine.kind
        );
        example.edit("lanes.toml", "printf 'a", "printf 'b");
        let run = Build::new(engine, example.path()).pass().steps_run();
        assert!(run.contains("all/make"), "on {}", engine.kind);
    }
}

#[test]
fn parts_that_change_places_are_not_those_of_the_build_before() {
    for engine in Setup::get().engines() {
        let part = stage(
            "part",
            "[\"/a\", \"/b\"]",
            "mkdir /a /b; echo a > /a/x; echo b > /b/x",
        );
        let all = r#"[stage.all]
from = "base"
[[stage.all.step]]
name = "run"
network = "none"
uses = [{ stage = "part", sub = "/a/x", at = "/p", as = "copy" }, { stage = "part", sub = "/b/x", at = "/q", as = "copy" }]
run = ["sh", "-c", "echo p=$(cat /p) q=$(cat /q)"]
"#;
        let example = lanes(&format!("{part}{all}"));
        let logs = || Build::new(engine, example.path()).pass().all_logs();
        assert!(logs().contains("p=a q=b"));
        example.edit("lanes.toml", "\"/a/x\", at", "\"/a/X\", at");
        example.edit("lanes.toml", "\"/b/x\", at", "\"/a/x\", at");
        example.edit("lanes.toml", "\"/a/X\", at", "\"/b/x\", at");
        assert!(logs().contains("p=b q=a"), "on {}", engine.kind);
    }
}

#[test]
fn a_tree_picks_and_leaves_out_and_has_no_mount_points() {
    let script = "mkdir -p /t/keep /t/skip/deep /t/lib/x; touch /t/keep/a /t/keep/a.pdb /t/skip/deep/b /t/lib/x/c.so /t/lib/x/c.h /t/lib/d.so";
    let all = stage(
        "all",
        "[{ at = \"/t\", except = [\"skip/**\", \"lib\", \"**/*.pdb\"] }, { at = \"/t/lib\", only = [\"*/*.so\"] }]",
        script,
    );
    let mounts = "uses = [{ stage = \"part\", sub = \"/p\", at = \"/t/mount/of/part\" }]\ncache = [{ id = \"products\", at = \"/t/cache/deep\" }]\nfiles = [{ from = \"x\", at = \"/t/files\" }]\nnetwork";
    let part = stage("part", "[\"/p\"]", "mkdir /p; touch /p/y");
    let example = lanes(&format!("{part}{}", all.replacen("network", mounts, 1)));
    example.write("x", "x");
    let found = everywhere(&example);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "t",
            "t/keep",
            "t/keep/a",
            "t/lib",
            "t/lib/x",
            "t/lib/x/c.so",
            "t/skip"
        ]
    );
}

/// Two trees that share a directory, a link, equal files and one that differs.
fn meeting(more: &str) -> Example {
    let one = "mkdir -p /t/d /t/only; echo same > /t/same; ln -s same /t/link; echo 1 > /t/d/x; echo 1 > /t/only/one; chmod 700 /t/d";
    let two = "mkdir -p /t/d; echo same > /t/same; ln -s same /t/link; echo 2 > /t/d/x; echo 2 > /t/two; chmod 711 /t/d; chown 5:6 /t/d";
    lanes(&format!(
        "{}{}[stage.all]\nmerge = [\"one\", \"two\"]\n{more}",
        stage("one", "[\"/t\"]", one),
        stage("two", "[\"/t\"]", two)
    ))
}

#[test]
fn trees_that_differ_fail_with_both_names_and_the_path() {
    for engine in Setup::get().engines() {
        let example = meeting("");
        let said = said(engine, &example);
        assert!(
            said.contains("/t/d/x is in the trees of `one` and `two`"),
            "{said}"
        );
        assert!(!said.contains("/t/same is"), "{said}");
        assert!(said.contains(">>> [stage.all]"), "{said}");
    }
}

#[test]
fn a_conflict_that_is_settled_takes_what_it_says_and_loses_nothing() {
    let settled = |take: &str| {
        let rule = format!("conflict = [{{ path = \"/t/**\", take = \"{take}\", why = \"x\" }}]");
        everywhere(&meeting(&rule))
    };
    let (one, two) = (llb::Digest::of(b"1\n"), llb::Digest::of(b"2\n"));
    let any = settled("any");
    assert!(any["t/d/x"].contains(&two.to_string()), "{any:#?}");
    assert!(any["t/d"].contains("40711 5:6"), "the last one's: {any:#?}");
    let first = settled("one");
    assert!(first["t/d/x"].contains(&one.to_string()), "{first:#?}");
    assert!(
        first["t/two"].contains(&two.to_string()),
        "only two has it: {first:#?}"
    );
    assert!(first["t/only/one"].contains(&one.to_string()), "{first:#?}");
}

#[test]
fn equal_trees_meet_and_what_takes_them_hangs_on_their_bytes() {
    for engine in Setup::get().engines() {
        let example = meeting("");
        example.edit("lanes.toml", "echo 2 > /t/d/x", "echo 1 > /t/d/x");
        example.edit("lanes.toml", "[stage.all]\n", "[stage.merged]\n");
        let more = "[stage.all]\nfrom = \"base\"\n[[stage.all.step]]\nname = \"see\"\nnetwork = \"none\"\nuses = [\"merged\"]\nrun = [\"ls\", \"/t\"]\n";
        let text = format!("{}{more}", example.read("lanes.toml"));
        example.write("lanes.toml", text);
        let run = |example: &Example| Build::new(engine, example.path()).pass().steps_run();
        assert!(run(&example).contains("all/see"));
        // A rule that settles nothing changes the comparison and no key behind it.
        example.edit(
            "lanes.toml",
            "merge = [\"one\", \"two\"]",
            "merge = [\"one\", \"two\"]\nconflict = [{ path = \"x\", take = \"any\", why = \"y\" }]",
        );
        assert!(run(&example).is_empty(), "on {}", engine.kind);
        example.edit(
            "lanes.toml",
            "echo same > /t/same; ln",
            "printf 'same\\n' > /t/same; ln",
        );
        let again = run(&example);
        assert!(
            !again.contains("all/see"),
            "the same bytes on {}: {again:?}",
            engine.kind
        );
    }
}

#[test]
fn a_directory_over_a_link_and_a_part_in_another_place_are_the_same_everywhere() {
    let link = stage(
        "link",
        "[\"/t\", \"/u\"]",
        "mkdir -p /t /u; ln -s ../u /t/x; echo u > /u/file",
    );
    let directory = stage(
        "directory",
        "[\"/t/x\"]",
        "mkdir -p /t/x/sub; echo x > /t/x/sub/file; chmod 1750 /t/x",
    );
    let example = lanes(&format!(
        "{link}{directory}{}",
        r#"
[stage.absent]
when = { lane.name = "m" }
from = "base"
tree = ["/lib/absent"]
[[stage.absent.step]]
name = "make"
run = ["false"]
[lane.m]
platform = "linux/amd64"
output.image = { stage = "absent" }
[stage.all]
merge = [
  "link", "directory",
  { stage = "link", from = "/u/file", to = "/moved/name" },
  { stage = "directory", from = "/t/x", to = "/moved/x" },
  { stage = "absent", else = "absent-marker", why = "not in this lane" },
]
conflict = [{ path = "/t/x", take = "any", why = "the last one's" }]
"#
    ));
    let found = everywhere(&example);
    assert!(found["t/x"].starts_with("directory 41750"), "{found:#?}");
    assert!(
        found.contains_key("t/x/sub/file") && found.contains_key("u/file"),
        "{found:#?}"
    );
    assert!(
        !found.contains_key("u/sub"),
        "not through the link: {found:#?}"
    );
    assert!(
        found.contains_key("moved/name") && found.contains_key("moved/x/sub/file"),
        "{found:#?}"
    );
    let marker = llb::Digest::of(b"absent is not here: not in this lane\n").to_string();
    assert!(
        found["lib/absent/ABSENT-absent.txt"].contains(&marker),
        "{found:#?}"
    );
}

#[test]
fn a_link_that_is_listed_brings_what_it_points_to() {
    for engine in Setup::get().engines() {
        let example = lanes(
            r#"
[stage.all]
from = "base"
[[stage.all.step]]
name = "see"
network = "none"
files = ["link", "dir/"]
run = ["sh", "-c", "test ! -L link && cat link dir/inner"]
"#,
        );
        std::fs::create_dir_all(example.file("real/deep")).expect("a directory");
        example.write("real/file", "through the link");
        example.write("real/deep/target", "in the directory");
        let link =
            |to: &str, at: &str| std::os::unix::fs::symlink(to, example.file(at)).expect("a link");
        link("real/file", "link");
        link("real/deep", "dir");
        link("target", "real/deep/inner");
        let logs = Build::new(engine, example.path()).pass().all_logs();
        assert!(
            logs.contains("through the link") && logs.contains("in the directory"),
            "{logs}"
        );
    }
}

/// A stage `all` with one step that has these keys.
fn step(keys: &str) -> Example {
    lanes(&format!(
        "[stage.all]\nfrom = \"base\"\n[[stage.all.step]]\nname = \"see\"\n{keys}\n"
    ))
}

#[test]
fn secrets_memory_caches_and_the_sandbox_are_as_the_step_says() {
    for engine in Setup::get().engines() {
        let example = step(
            r#"
network = "none"
secret = [{ id = "licence", at = "/etc/licence", mode = "0444" }, { id = "none", required = false }]
tmpfs = [{ at = "/scratch", size = "8MiB" }]
ulimit = { nofile = "100:200" }
extra-hosts = { "cache.local" = "10.0.0.7" }
shm-size = "4MiB"
workdir = "/w"
user = "1234"
script = """
echo secret=$(cat /etc/licence) none=$(ls /run/secrets/none 2>&1)
echo id=$(id -u) pwd=$(pwd) files=$(ulimit -n)
grep -h cache.local /etc/hosts
df -k /scratch /dev/shm | tail -n 2
"""
"#,
        );
        let outcome = Build::new(engine, example.path())
            .env("LICENCE", "planted")
            .option("--secret", "id=licence,env=LICENCE")
            .pass();
        let logs = outcome.all_logs();
        for want in [
            "secret=planted",
            "No such file",
            "id=1234 pwd=/w files=100",
            "10.0.0.7",
            "8192",
            "4096",
        ] {
            assert!(logs.contains(want), "{want} on {}: {logs}", engine.kind);
        }
        // The value is in no key, so a step that ran once would not run again.
        let fresh = step("secret = [{ id = \"licence\" }]\nrun = [\"true\"]");
        let missing = said(engine, &fresh);
        assert!(missing.contains("secret licence: not found"), "{missing}");
    }
}

#[test]
fn a_cache_begins_with_a_part_of_a_product() {
    for engine in Setup::get().engines() {
        let part = stage(
            "part",
            "[\"/p\"]",
            "mkdir -p /p/objects; echo warm > /p/objects/o",
        );
        let all = format!(
            "[stage.all]\nfrom = \"base\"\n[[stage.all.step]]\nname = \"see\"\nnetwork = \"none\"\nuser = \"7\"\n\
             cache = [{{ id = \"warm-{0}\", at = \"/warm\", from = \"part\", sub = \"/p/objects\" }}, {{ id = \"mine-{0}\", at = \"/mine\", uid = 7, mode = \"0700\" }}]\n\
             run = [\"sh\", \"-c\", \"cat /warm/o; touch /mine/x && echo mine\"]\n",
            nonce()
        );
        let example = lanes(&format!("{part}{all}"));
        let logs = Build::new(engine, example.path()).pass().all_logs();
        assert!(logs.contains("warm") && logs.contains("mine"), "{logs}");
    }
}

#[test]
fn what_the_caller_did_not_allow_is_refused_with_the_step() {
    for engine in Setup::get().engines() {
        for (key, name) in [
            ("security = \"insecure\"", "security.insecure"),
            ("network = \"host\"", "network.host"),
        ] {
            let example = step(&format!("{key}\nrun = [\"true\"]"));
            let outcome = Build::new(engine, example.path()).run();
            // Engines may allow the host's network to everybody.
            if outcome.ok {
                assert_eq!(name, "network.host");
                continue;
            }
            assert!(
                outcome.errors.contains(&format!("--allow {name}")),
                "{}",
                outcome.errors
            );
            assert!(
                outcome.errors.contains(&format!(">>> {key}")),
                "{}",
                outcome.errors
            );
        }
    }
}
