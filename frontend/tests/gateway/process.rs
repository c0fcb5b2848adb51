//! The real process on real pipes: `lanekit`, started as an engine starts it.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use llb::proto::gateway::ReturnRequest;
use tokio::process::Command;

use crate::fake::{Fake, Script};

/// How long any of these may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a run of the process came to.
pub(crate) struct Ran {
    pub(crate) fake: Fake,
    pub(crate) exit: ExitStatus,
    pub(crate) stderr: String,
}

impl Ran {
    /// The one answer.
    pub(crate) fn answer(&self) -> ReturnRequest {
        let log = self.fake.log();
        let [answer] = &log.returns[..] else {
            panic!("{} answers; {}", log.returns.len(), self.stderr)
        };
        answer.clone()
    }

    /// The text of the error that it answered with.
    pub(crate) fn refusal(&self) -> String {
        self.answer()
            .error
            .unwrap_or_else(|| panic!("it succeeded; {}", self.stderr))
            .message
    }
}

/// Runs `lanekit` with these options against an engine of this kind.
pub(crate) async fn run(script: Script, opts: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanekit"));
    command
        .env_clear()
        .env("BUILDKIT_SESSION_ID", "session-1")
        .env("BUILDKIT_EXPORTEDPRODUCT", "docker");
    for (n, opt) in opts.iter().enumerate() {
        command.env(format!("BUILDKIT_FRONTEND_OPT_{n}"), opt);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let io = tokio::io::join(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let fake = Fake::on(script, io);
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output())
        .await
        .expect("it hangs")
        .unwrap();
    Ran {
        fake,
        exit: output.status,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[tokio::test]
async fn a_failed_build_is_an_answer_and_no_failed_process() {
    let ran = run(Script::able(), &["shm-size=much"]).await;
    assert_eq!(
        ran.refusal(),
        "option shm-size=much: is not a number of bytes"
    );
    assert!(ran.exit.success());
    assert_eq!(ran.stderr, "");
    assert!(
        ran.fake.closed_cleanly().await,
        "the last words were cut off"
    );
}

#[tokio::test]
async fn an_engine_that_does_not_listen_is_a_failed_process() {
    let ran = run(
        Script {
            mute: true,
            ..Script::able()
        },
        &[],
    )
    .await;
    assert!(!ran.exit.success());
    assert_eq!(ran.stderr, "lanekit: ask what the engine can do: no time\n");
}

#[tokio::test]
async fn without_an_engine_it_is_a_command() {
    let output = Command::new(env!("CARGO_BIN_EXE_lanekit"))
        .env_clear()
        .arg("--help")
        .output()
        .await
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("check"));
}
