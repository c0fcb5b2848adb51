//! Git sources on an engine: a repository is served here, on loopback.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use engine_tests::{Build, Engine, Example, Setup, nonce, skipped};

/// How long the server may take to listen.
const LIMIT: Duration = Duration::from_secs(20);

/// A repository and its server, which ends with it.
struct Served {
    root: tempfile::TempDir,
    port: u16,
    server: Child,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Served {
    /// Nothing where git is not installed, or cannot serve.
    fn start() -> Option<Self> {
        let root = tempfile::tempdir().expect("a directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = port.expect("a port").port();
        let server = Command::new("git")
            .args([
                "daemon",
                "--listen=127.0.0.1",
                "--export-all",
                "--reuseaddr",
            ])
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", root.path().display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(server) = server else {
            return skipped("git sources", "git is not installed");
        };
        let served = Self { root, port, server };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > LIMIT {
                return skipped("git sources", "git cannot serve a repository here");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        served.git(&["init", "--quiet", "--initial-branch=main", "."]);
        Some(served)
    }

    fn repository(&self) -> PathBuf {
        let path = self.root.path().join("app");
        std::fs::create_dir_all(&path).expect("a directory");
        path
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.repository())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .expect("git runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, file: &str, text: &str) -> String {
        let path = self.repository().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a directory");
        std::fs::write(path, text).expect("a file");
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", text]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn lanes(&self, reference: &str, step: &str) -> Example {
        Example::of(&format!(
            r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "git"
[git.app]
url = "git://127.0.0.1:{}/app"
ref = "{reference}"
[lane.l]
platform = "linux/amd64"
output.image = {{ stage = "all" }}
[stage.all]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
[[stage.all.step]]
name = "see"
network = "none"
files = [{{ git = "app", from = "src/", at = "/src" }}]
{step}
"#,
            self.port,
            nonce()
        ))
    }
}

fn logs(engine: &Engine, example: &Example) -> String {
    Build::new(engine, example.path()).pass().all_logs()
}

#[test]
fn a_ref_becomes_a_commit_and_only_files_that_are_taken_re_run_a_step() {
    for engine in Setup::get().engines() {
        let Some(served) = Served::start() else {
            return;
        };
        let first = served.commit("src/file", "one");
        served.git(&["tag", "--annotate", "--message", "x", "v1"]);
        let names = "args = [\"REV=git.app.commit\"]\nrun = [\"sh\", \"-c\", \"echo rev=$REV file=$(cat /src/file)\"]";
        for reference in ["main", "v1", &first] {
            let said = logs(engine, &served.lanes(reference, names));
            assert!(
                said.contains(&format!("rev={first} file=one")),
                "{reference} on {}: {said}",
                engine.kind
            );
        }
        let example = served.lanes("main", "run = [\"cat\", \"/src/file\"]");
        let run = || Build::new(engine, example.path()).pass().steps_run();
        assert!(run().contains("all/see"));
        served.commit("doc/other", "no step takes it");
        assert!(run().is_empty(), "on {}", engine.kind);
        served.commit("src/file", "two");
        assert!(run().contains("all/see"), "on {}", engine.kind);
        let gone = served.lanes("nowhere", names);
        let errors = Build::new(engine, gone.path()).fail().errors;
        assert!(
            errors.contains("git source app") && errors.contains(">>> [git.app]"),
            "{errors}"
        );
    }
}
