//! What a caller gives the steps, and what is said when it gives less than they need.

use llb::proto::pb::{Definition, LinuxResources};
use llb::proto::rpc;

use crate::fake::Script;
use crate::flow::{HELLO, engine, run};

const LIMITS: [&str; 3] = ["memory=67108864", "cpuquota=50000", "cpusetcpus=0-1"];

/// The names of the vertices that have limits, with these.
fn limited(definition: &Definition) -> Vec<(&str, &LinuxResources)> {
    let all = definition.metadata.values();
    all.filter_map(|vertex| {
        let name = vertex.description.get("llb.customname")?;
        Some((name.as_str(), vertex.linux_resources.as_ref()?))
    })
    .collect()
}

#[tokio::test]
async fn limits_of_memory_and_processors_reach_every_step_and_no_key() {
    let with = run(engine(HELLO), &LIMITS).await.solved();
    let with = with.definition.expect("a definition");
    let without = run(engine(HELLO), &[]).await.solved();
    let without = without.definition.expect("a definition");
    let limits = LinuxResources {
        memory: 64 << 20,
        cpu_quota: 50_000,
        cpuset_cpus: "0-1".to_owned(),
        ..LinuxResources::default()
    };
    assert_eq!(limited(&with), [("[hello/greet] sh greet.sh", &limits)]);
    assert_eq!(limited(&without), []);
    assert_eq!(with.def, without.def);
}

#[tokio::test]
async fn an_engine_that_cannot_limit_steps_does_not_run_them_without() {
    let mut old = engine(HELLO);
    old.llb_caps
        .retain(|cap| cap != "exec.meta.linux.resources");
    run(old.clone(), &[]).await.built();
    let ran = run(old, &LIMITS).await;
    insta::assert_snapshot!(ran.refused().message, @r"
    error[LK014]: this engine cannot limit memory and processors of steps
     |
     = help: leave the limits out, or use an engine that has `exec.meta.linux.resources`
    ");
}

#[tokio::test]
async fn who_passes_no_secret_and_no_agent_is_told_which_step_needs_it_and_what_to_pass() {
    let needs = r#"host = ["TOKEN"]
secret = [{ id = "netrc", required = true }]
ssh = [{ id = "key" }]
"#;
    let text = HELLO.replace(
        "files = [\"greet.sh\"]",
        &format!("files = [\"greet.sh\"]\n{needs}"),
    );
    let text = format!("{text}\n[host.TOKEN]\nabout = \"x\"\nneed = \"required\"\n");
    let mut told = Vec::new();
    for message in [
        "secret TOKEN: not found",
        "secret netrc: not found",
        "unset ssh forward key key",
        "no SSH key \"key\" forwarded from the client",
        // Another's: nothing is known of it.
        "unset ssh forward key keyring",
    ] {
        let failing = rpc::Status {
            code: 2,
            message: message.to_owned(),
            details: Vec::new(),
        };
        let script = Script {
            failing: Some(failing),
            ..engine(&text)
        };
        let ran = run(script, &[]).await;
        told.push(format!("{} {:?}", ran.refused().message, ran.lines()));
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    host setting TOKEN is needed and was not given: pass --secret id=TOKEN,env=TOKEN: secret TOKEN: not found [("lanes.toml", 18)]
    secret netrc is needed and was not given: pass --secret id=netrc,src=FILE: secret netrc: not found [("lanes.toml", 18)]
    SSH agent key is needed and was not given: pass --ssh key: unset ssh forward key key [("lanes.toml", 18)]
    SSH agent key is needed and was not given: pass --ssh key: no SSH key "key" forwarded from the client [("lanes.toml", 18)]
    unset ssh forward key keyring [("lanes.toml", 12)]
    "#);
}
