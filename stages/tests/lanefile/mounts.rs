//! What a step sees and may do besides files and products.

use crate::trees::{graph, llb, wrong};

fn step(keys: &str) -> String {
    graph(&format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n{keys}\n"
    ))
}

#[test]
fn secrets_agents_memory_and_caches_are_mounts() {
    insta::assert_snapshot!(llb(&step(
        r#"
secret = [{ id = "licence" }, { id = "netrc", at = "/root/.netrc", required = false, mode = "0440", uid = 1, gid = 2 }]
ssh = true
tmpfs = [{ at = "/scratch", size = "64MiB" }, { at = "/scratch2" }]
cache = [
  { id = "warm", at = "/warm", from = "part", sub = "/t/part/cache" },
  { id = "mine", at = "/mine", uid = 1000, mode = "0700" },
  { id = "never", at = "/never", when = { lane.target = "arm64" } },
]
"#
    )));
}

#[test]
fn a_step_says_how_it_runs() {
    let text = llb(&step(
        r#"
network = "host"
security = "insecure"
extra-hosts = { "cache.local" = "10.0.0.7", "six" = "::1" }
ulimit = { nofile = "1024:4096", core = 0, memlock = -1 }
shm-size = "1GiB"
devices = ["vendor.com/gpu=all", { name = "vendor.com/gpu=1", optional = true }]
workdir = "/w"
user = "1000:1000"
ssh = [{ id = "a", at = "/agent" }]
env = { SSH_AUTH_SOCK = "/mine" }
"#,
    ));
    insta::assert_snapshot!(text);
}

#[test]
fn what_cannot_be_is_refused_together() {
    let form = wrong(&step(
        r#"
secret = [{ at = "/x" }, { id = "a", mode = "400", uid = 4294967296 }]
ssh = 1
tmpfs = [{ size = "1 furlong" }]
cache = [{ id = "a", at = "/a", sub = "/x" }, { id = "b", at = "/b", from = "part" }]
network = "hots"
extra-hosts = { a = "b" }
ulimit = { nofiles = 1, nproc = "2:1", core = [] }
shm-size = "0"
devices = ["gpu"]
"#,
    ));
    let places = wrong(&step(
        r#"
secret = [{ id = "../x" }, { id = "b", at = "/t" }]
tmpfs = [{ at = "/t/x" }]
cache = [{ id = "b", at = "/b", from = "part", sub = "/u" }]
workdir = "w"
"#,
    ));
    insta::assert_snapshot!([form, places].join("----\n"));
    let file = step("user = \"a\"\ndevices = [\"v/c=d\"]")
        .replace("run = [\"true\"]", "mkdir = { path = \"/x\" }");
    let said = wrong(&file);
    assert!(
        said.contains("has no `user`") && said.contains("has no `devices`"),
        "{said}"
    );
    let unknown = step("cache = [{ id = \"b\", at = \"/b\", from = \"prat\", sub = \"/u\" }]");
    assert!(wrong(&unknown).contains("did you mean `part`"));
}

#[test]
fn a_kit_brings_mounts() {
    let text = step("kits = [\"k\"]");
    let text = format!(
        "{text}[kit.k]\nsecret = [{{ id = \"s\" }}]\nssh = true\ntmpfs = [{{ at = \"/m\" }}]\n"
    );
    let text = text.replace("run = [\"true\"]", "run = [\"true\"]\nuses = [\"part\"]");
    let shown = llb(&text);
    for mount in [
        "mount /run/secrets/s = secret",
        "mount /run/ssh-agents/default = ssh",
        "mount /m = tmpfs",
    ] {
        assert!(shown.contains(mount), "{mount}: {shown}");
    }
}

#[test]
fn an_outline_tells_secrets_and_agents() {
    let text = step(
        "secret = [{ id = \"licence\", required = false }]\nssh = true\nfiles = [{ git = \"app\", at = \"/src\" }]\nuses = [\"part\"]",
    ) + "[git.app]\nurl = \"https://h.example/app.git\"\nref = \"${arg.REF}\"\n[arg.REF]\nabout = \"what\"\ndefault = \"main\"\n";
    let loaded = crate::common::load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", crate::common::rendered(&loaded)));
    let request = crate::common::request("l", &[]);
    let selection = stages::plan::select(graph, &request).expect("a selection");
    let (plan, _) = crate::common::plan(graph, &request).expect("a plan");
    let text = stages::view::outline(&selection, &plan, "l").text();
    insta::assert_snapshot!(text);
}
