//! What steps get of the caller.

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use engine_tests::{Setup, skipped};

use super::lab::Lab;

/// A setting that is in the key: other than before, the step runs again.
fn is_keyed(lab: &Lab, option: &str, values: [&str; 2], shows: [&str; 2]) {
    for (value, shown) in values.into_iter().zip(shows) {
        lab.build(&[option, value]).pass(shown);
    }
    let again = lab.build(&[option, values[1]]).pass("CACHED");
    assert!(!again.err.contains("step ran"), "{again}");
}

pub(super) fn add_host(lab: &Lab) {
    lab.build(&["--add-host", "box:10.1.2.3"])
        .pass("10.1.2.3\tbox");
    // An address is in no key, a name is.
    let moved = lab.build(&["--add-host", "box:10.9.9.9"]).pass("CACHED");
    assert!(!moved.err.contains("step ran"), "{moved}");
    lab.build(&["--add-host", "case:10.1.2.3", "--add-host", "six=fd00::7"])
        .pass("10.1.2.3\tcase")
        .says("fd00::7\tsix");
    lab.build(&["--add-host", "box"]).fail("invalid host box");
}

pub(super) fn allow(lab: &Lab) {
    let other = ["--target", "other"];
    let step = |keys: &str| {
        let lanes = lab.example.read("lanes.toml");
        let (before, rest) = lanes.split_once("name   = \"see\"\n").expect("the step");
        let (_, rest) = rest.split_once("env    =").expect("its environment");
        let lanes = format!("{before}name   = \"see\"\n{keys}\nenv    ={rest}");
        lab.example.write("lanes.toml", lanes);
    };
    lab.example.edit(
        "lanes.toml",
        "echo \"other\" \"ran\"",
        "grep CapEff /proc/self/status; echo \"interfaces=$(grep -c : /proc/net/dev) thing=${THING-none} end\"",
    );

    step("network = \"host\"");
    lab.build(&other)
        .fail("a step needs --allow network.host")
        .says(">>> network = \"host\"");
    let interfaces = fs::read_to_string("/proc/net/dev").expect("a table");
    let interfaces = interfaces.matches(':').count();
    let allowed = lab.build(&[&other[..], &["--allow", "network.host"]].concat());
    if Setup::get().is_private() {
        allowed.pass(&format!("interfaces={interfaces} thing=none end"));
    } else {
        allowed.pass("thing=none end");
        skipped::<()>(
            "--allow security.insecure and device",
            "the configuration of this engine is not ours",
        );
        return;
    }

    step("security = \"insecure\"");
    lab.build(&other)
        .fail("a step needs --allow security.insecure")
        .says(">>> security = \"insecure\"");
    // Docker's own capabilities are 0xa80425fb; all of this kernel's end in ffffffff or nearly so.
    let all = lab.build(&[&other[..], &["--allow", "security.insecure"]].concat());
    let all = all.pass("CapEff:");
    assert!(!all.err.contains("CapEff:\t00000000a80425fb"), "{all}");

    // The engine has two devices: one that it lets everybody have, and one for which a caller must ask.
    step("devices = [\"lanekit.test/device=open\"]");
    lab.build(&other).pass("thing=open end");
    step("devices = [\"lanekit.test/device=kept\"]");
    lab.build(&other)
        .fail("a step needs --allow device")
        .says(">>> devices = [\"lanekit.test/device=kept\"]");
    let asked = lab.build(&[&other[..], &["--allow", "device"]].concat());
    match asked.code {
        // Before 29, engines cannot be configured to give devices to whoever asks.
        Some(0) => asked.pass("thing=kept end"),
        _ => asked.fail("granting entitlement device is not allowed by build daemon configuration"),
    };
    step("devices = [\"lanekit.test/device=none\"]");
    lab.build(&other)
        .fail("required device \"lanekit.test/device=none\" is not registered");
    step("devices = [{ name = \"lanekit.test/device=none\", optional = true }]");
    lab.build(&other).pass("thing=none end");
}

pub(super) fn build_arg(lab: &Lab) {
    lab.build(&["--build-arg", "WORD=given"])
        .pass("word=given token");
    lab.build(&["--build-arg", "WORD="]).pass("word= token");
    lab.with(&["--build-arg", "WORD"], &[("WORD", "of the caller's")])
        .pass("word=of the caller's token");
    lab.build(&["--build-arg", "WROD=given"])
        .fail("the nearest is `WORD`");
}

pub(super) fn cgroup_parent(lab: &Lab) {
    let group = format!("lanekit-{}", lab.word);
    let said = lab.build(&["--cgroup-parent", &group]).pass("step ran");
    // Where groups have a namespace, a step sees itself at the top: then the machine shows it.
    if said.err.contains("0::/\n") && !said.err.contains(&group) {
        let groups = Path::new("/sys/fs/cgroup");
        let found = [groups.join(&group), groups.join("unified").join(&group)];
        assert!(found.iter().any(|place| place.is_dir()), "{said}");
    } else {
        let said = said.says(&format!("0::/{group}/")).err;
        let groups = |line: &&str| line.contains(":/") && !line.contains("://");
        let other = said
            .lines()
            .filter(groups)
            .find(|line| !line.contains(&format!(":/{group}/")));
        assert_eq!(other, None, "{said}");
    }
    let elsewhere = lab.build(&["--cgroup-parent", &format!("{group}-2")]);
    elsewhere.pass("step ran");
}

pub(super) fn network(lab: &Lab) {
    lab.build(&["--network", "none"]).pass("interfaces=1 end");
    lab.build(&["--network", "default"])
        .pass("interfaces=2 end");
    // The client allows it by itself: who asks for all steps, asks for what they need.
    let host = lab.build(&["--network", "host"]).pass("step ran");
    assert!(!host.err.contains("interfaces=2 end"), "{host}");
    lab.build(&["--network", "mine"])
        .fail("network mode \"mine\" not supported");
}

/// Weakly shown: no engine of Debian can limit steps (BuildKit 0.31 can), and no client of it has the option. What steps get
/// and that no key moves is shown against an engine's side of the bridge (`frontend/tests/gateway/demands.rs`).
pub(super) fn resource(lab: &Lab) {
    let limits = ["--resource", "memory=64m", "--resource", "cpu-quota=50000"];
    if !lab.client_has(limits[0], limits[1]) {
        return;
    }
    lab.example.edit(
        "lanes.toml",
        "echo \"step\" \"ran\"",
        "cd /sys/fs/cgroup; cat memory.max memory/memory.limit_in_bytes cpu.max cpu/cpu.cfs_quota_us 2> /dev/null || true",
    );
    let said = lab.build(&limits);
    match said.code {
        Some(0) => said.pass("67108864").says("50000"),
        _ => said.fail("this engine cannot limit memory and processors of steps"),
    };
    lab.build(&["--resource", "memory=many"])
        .fail("invalid size");
}

pub(super) fn secret(lab: &Lab) {
    let env = [("LANEKIT_TOKEN", "letters")];
    lab.with(&["--secret", "id=TOKEN,env=LANEKIT_TOKEN"], &env)
        .pass("token=7 letters");
    // The value is in no key: the same step with another one is found.
    lab.example.write("token", "more letters");
    let file = format!("id=TOKEN,src={}", lab.file("token"));
    let said = lab.build(&["--secret", &file]).pass("CACHED");
    assert!(!said.err.contains("step ran"), "{said}");
    lab.build(&["--secret", &file, "--no-cache"])
        .pass("token=12 letters");
    lab.build(&["--no-cache"]).pass("token=0 letters");
    lab.build(&["--secret", "id=TOKEN,src=/nowhere"])
        .fail("stat /nowhere: no such file or directory");
}

pub(super) fn shm_size(lab: &Lab) {
    is_keyed(
        lab,
        "--shm-size",
        ["3m", "5m"],
        ["shm=3072 end", "shm=5120 end"],
    );
}

pub(super) fn ssh(lab: &Lab) {
    let socket = lab.file("agent");
    let agent = UnixListener::bind(&socket).expect("a socket");
    let step = "test -S \"$SSH_AUTH_SOCK\" && echo agent=yes; echo \"step\"";
    lab.example.edit("lanes.toml", "echo \"step\"", step);
    let host = "host  = [\"TOKEN\"]";
    lab.example
        .edit("lanes.toml", host, &format!("{host}\nssh = true"));
    lab.build(&["--ssh", &format!("default={socket}")])
        .pass("agent=yes");
    // An agent is in no key either; a step for which there is none does not run.
    lab.build(&["--no-cache"])
        .fail("SSH agent default is needed and was not given: pass --ssh default");
    lab.example
        .edit("lanes.toml", "ssh = true", "ssh = [{ id = \"deploy\" }]");
    lab.build(&["--ssh", &format!("deploy={socket}")])
        .pass("agent=yes");
    // The client looks at the socket before it builds: so much of it is real.
    agent.set_nonblocking(true).expect("a socket");
    while let Ok((mut client, _)) = agent.accept() {
        let _ = client.read(&mut [0; 16]);
    }
}

pub(super) fn ulimit(lab: &Lab) {
    is_keyed(
        lab,
        "--ulimit",
        ["nofile=77:88", "nofile=66"],
        ["files=77 shm", "files=66 shm"],
    );
    let wrong = lab.build(&["--ulimit", "nofile=88:77"]);
    assert_ne!(wrong.code, Some(0), "{wrong}");
    wrong.says("ulimit soft limit must be less than or equal to hard limit");
}
