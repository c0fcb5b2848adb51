//! Files from elsewhere than the client's directory, on the engine.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine_tests::{Example, Said, Setup, buildx, nonce, skipped};

const LANES: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "contexts"
[lane.l]
platform = "linux/amd64"
output.image = { stage = "app" }
[stage.app]
from = { image = "busybox:1.36" }
[[stage.app.step]]
name = "show"
files = ["input.txt"]
run = ["cat", "input.txt"]
"#;

/// What a step of the given lane file shows.
fn build(args: &[&str], input: &[u8]) -> Said {
    let setup = Setup::get();
    let base = format!("busybox:1.36=docker-image://{}", setup.busybox);
    let all = [
        &[
            "--build-context",
            &base,
            "--output",
            "type=cacheonly",
            "--no-cache",
            "--file",
            "lanes.toml",
        ],
        args,
    ]
    .concat();
    buildx(&setup.engine, &all, &[], input)
}

pub(crate) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, path, text.as_bytes())
            .expect("an entry");
    }
    archive.into_inner().expect("an archive")
}

/// A server of files in a directory, on loopback, until it is dropped.
pub(crate) struct Server {
    address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn of(directory: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, directory) = (Arc::clone(&stop), directory.to_owned());
        let thread = std::thread::spawn(move || {
            for client in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(mut client) = client else { continue };
                let _ = client.set_read_timeout(Some(Duration::from_secs(5)));
                let mut request = [0; 8192];
                let read = client.read(&mut request).unwrap_or_default();
                let text = String::from_utf8_lossy(&request[..read]).into_owned();
                let path = text.split(' ').nth(1).unwrap_or("/");
                let path = path
                    .split('?')
                    .next()
                    .unwrap_or(path)
                    .trim_start_matches('/');
                let (status, body) = match std::fs::read(directory.join(path)) {
                    Ok(body) => ("200 OK", body),
                    Err(_) => ("404 Not Found", Vec::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = client.write_all(head.as_bytes());
                if !text.starts_with("HEAD") {
                    let _ = client.write_all(&body);
                }
            }
        });
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It waits for somebody.
        let _ = std::net::TcpStream::connect(&self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

pub(crate) fn git(directory: &Path, args: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(args)
        .current_dir(directory)
        .status()
        .expect("git starts");
    assert!(status.success(), "git {args:?}");
}

/// A server with a bare repository `graph.git`, whose directory `sub` has the lane file.
pub(crate) fn repository(text: &str) -> (Example, Server) {
    let example = Example::of("");
    let work = example.file("work");
    std::fs::create_dir_all(work.join("sub")).expect("a directory");
    std::fs::write(work.join("sub/lanes.toml"), LANES).expect("a file");
    std::fs::write(work.join("sub/input.txt"), text).expect("a file");
    let kept = LANES.replace("input.txt", ".git/config");
    std::fs::write(work.join("sub/kept.toml"), kept).expect("a file");
    git(&work, &["init", "--quiet", "--initial-branch=main"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "--message=x"]);
    git(&work, &["tag", "v1"]);
    git(
        example.path(),
        &["clone", "--quiet", "--bare", "work", "graph.git"],
    );
    git(&example.file("graph.git"), &["update-server-info"]);
    let server = Server::of(example.path());
    (example, server)
}

pub(crate) fn here(shows: &str) -> bool {
    Setup::get().is_private()
        || skipped::<()>(shows, "this engine may run on another machine").is_some()
}

#[test]
fn a_tar_on_standard_input_has_lane_file_and_files() {
    let text = nonce();
    let archive = tar(&[("lanes.toml", LANES), ("input.txt", &text)]);
    build(&["-"], &archive).pass(&text);
}

#[test]
fn a_lane_file_on_standard_input_builds_a_directory() {
    let example = Example::of("");
    let text = nonce();
    example.write("input.txt", &text);
    let directory = example.path().to_string_lossy();
    let base = format!("busybox:1.36=docker-image://{}", Setup::get().busybox);
    let args = [
        "--build-context",
        &base,
        "--output",
        "type=cacheonly",
        "--file",
        "-",
        &directory,
    ];
    buildx(&Setup::get().engine, &args, &[], LANES.as_bytes()).pass(&text);
}

#[test]
fn an_archive_and_a_repository_have_lane_file_and_files() {
    if !here("contexts by URL") {
        return;
    }
    let text = nonce();
    let (example, server) = repository(&text);
    example.write(
        "graph.tar",
        tar(&[("lanes.toml", LANES), ("input.txt", &text)]),
    );
    build(&[&server.url("graph.tar")], b"").pass(&text);
    build(&[&server.url("graph.git#main:sub")], b"").pass(&text);
    build(&[&server.url("graph.git?tag=v1&subdir=sub")], b"").pass(&text);
    let file = ["--file", "sub/kept.toml", &server.url("graph.git#main")];
    let keep = ["--build-arg", "BUILDKIT_CONTEXT_KEEP_GIT_DIR=1"];
    build(&[&keep[..], &file].concat(), b"").pass("[core]");
    build(&file, b"").fail(".git/config");
}

#[test]
fn what_a_context_by_url_lacks_is_named() {
    // The engine reads the first line of the file before it knows of lanekit, unless it is told.
    let ours = [
        "--build-arg",
        "BUILDKIT_SYNTAX=docker.io/lanekit/frontend:0.1",
    ];
    let both = |context: &str, input: &[u8], engine: &str, lanekit: &str| {
        build(&[context], input).fail(engine);
        build(&[&ours[..], &[context]].concat(), input).fail(lanekit);
    };
    let none = tar(&[("input.txt", "x")]);
    let no_file = "open lanes.toml: no such file";
    let no_lanes = "there is no lanes.toml";
    both("-", &none, no_file, no_lanes);
    if !here("contexts by URL") {
        return;
    }
    let (example, server) = repository("x");
    example.write("none.tar", &none);
    both(&server.url("none.tar"), b"", no_file, no_lanes);
    let git = |url: &str, says: &str| both(&server.url(url), b"", says, says);
    git(
        "graph.git#nowhere:sub",
        "repository does not contain ref nowhere",
    );
    git("graph.git#main:nosub", "nosub: no such file or directory");
    git("absent.git#main", "absent.git/' not found");
    git("absent.tar", "invalid response status 404");
}

#[test]
fn a_build_that_names_nothing_builds_the_default_or_lists_the_lanes() {
    let two = LANES.replace(
        "[stage.app]",
        "[lane.m]\nplatform = \"linux/amd64\"\noutput.image = { stage = \"app\" }\n[stage.app]",
    );
    let example = Example::of("");
    // As `docker buildx build .` finds it, without `--file`.
    example.write("Dockerfile", &two);
    let text = nonce();
    example.write("input.txt", &text);
    let directory = example.path().to_string_lossy().into_owned();
    let base = format!("busybox:1.36=docker-image://{}", Setup::get().busybox);
    let args = [
        "--build-context",
        &base,
        "--output",
        "type=cacheonly",
        &directory,
    ];
    let bare = || buildx(&Setup::get().engine, &args, &[], b"");
    bare()
        .fail("which lane? the graph names no default")
        .says("--target LANE, one of: l, m");
    example.write(
        "Dockerfile",
        two.replace(
            "name = \"contexts\"",
            "name = \"contexts\"\ndefault = \"m\"",
        ),
    );
    bare().pass(&text);
}

#[test]
fn a_directory_a_repository_and_a_layout_can_be_started_from() {
    let lanes = LANES.replace("busybox:1.36", "base").replace(
        "run = [\"cat\", \"input.txt\"]",
        "run = [\"/show\", \"/lanekit/input.txt\"]",
    );
    let example = Example::of(&lanes);
    example.write("input.txt", nonce());
    let directory = example.path().to_string_lossy().into_owned();
    let lanes = example.file("lanes.toml").to_string_lossy().into_owned();
    let run = |context: &str| {
        let context = format!("base={context}");
        let args = [
            "--build-context",
            &context,
            "--file",
            &lanes,
            "--output",
            "type=cacheonly",
            &directory,
        ];
        buildx(&Setup::get().engine, &args, &[], b"")
    };
    // A directory with nothing but what is to run: it starts, and says that there is no such program.
    let base = Example::of("");
    run(&base.path().to_string_lossy()).fail("exec: \"/show\"");
    // Twice the same: the second time the copy of the directory is found by its content.
    if here("a repository as base") {
        let (_example, server) = repository("x");
        run(&server.url("graph.git")).fail("exec: \"/show\"");
    }
    let setup = Setup::get();
    let layout = format!("oci-layout://{}", setup.frontend_oci);
    // That image has a file where the step's files would be.
    run(&layout).fail("rootfs at \"/lanekit\"");
}

#[test]
fn what_an_ignore_file_takes_out_of_a_step_is_told() {
    let example = Example::of(LANES);
    let text = nonce();
    example.write("input.txt", &text);
    let directory = example.path().to_string_lossy().into_owned();
    let lanes = example.file("lanes.toml").to_string_lossy().into_owned();
    let base = format!("busybox:1.36=docker-image://{}", Setup::get().busybox);
    let args = [
        "--build-context",
        &base,
        "--file",
        &lanes,
        "--output",
        "type=cacheonly",
        &directory,
    ];
    let run = || buildx(&Setup::get().engine, &args, &[], b"");
    example.write(".dockerignore", "*\n!input.txt\n");
    run().pass(&text);
    example.write(".dockerignore", "*.txt\n");
    run().fail("`input.txt` is left out of the context by .dockerignore");
    example.write("lanes.toml.dockerignore", "other\n");
    run().pass("[app/show]");
}

#[test]
fn a_download_is_held_against_its_hash() {
    use sha2::Digest as _;
    for engine in Setup::get().engines() {
        let served = tempfile::tempdir().expect("a directory");
        let server = Server::of(served.path());
        let bytes = nonce();
        std::fs::write(served.path().join("tool-1.tar"), &bytes).expect("a file");
        let hash: String = sha2::Sha256::digest(bytes.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let lanes = |hash: &str| {
            Example::of(&format!(
                "# syntax=docker.io/lanekit/frontend:0.1\n[graph]\nname = \"f\"\n\
                 [fetch.tool]\nurl = \"{}\"\nsha256 = \"{hash}\"\n\
                 [lane.l]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"s\" }}\n\
                 [stage.s]\nfrom = {{ image = \"busybox:1.36\" }}\n\
                 [[stage.s.step]]\nname = \"copy\"\ncopy = {{ fetch = \"tool\", to = \"/opt/\" }}\n\
                 [[stage.s.step]]\nname = \"see\"\nfiles = [{{ fetch = \"tool\", at = \"/src\" }}]\n\
                 run = [\"sh\", \"-c\", \"echo a=$(cat /src/tool-1.tar) b=$(cat /opt/tool-1.tar)\"]\n",
                server.url("tool-1.tar")
            ))
        };
        let right = lanes(&hash);
        let build = || engine_tests::Build::new(engine, right.path()).pass();
        let logs = build().all_logs();
        assert!(
            logs.contains(&format!("a={bytes} b={bytes}")),
            "on {}: {logs}",
            engine.kind
        );
        assert!(build().steps_run().is_empty(), "on {}", engine.kind);
        let wrong = lanes(&"0".repeat(64));
        let errors = engine_tests::Build::new(engine, wrong.path()).fail().errors;
        assert!(
            errors.contains("digest mismatch") && errors.contains(">>> [fetch.tool]"),
            "on {}: {errors}",
            engine.kind
        );
    }
}
