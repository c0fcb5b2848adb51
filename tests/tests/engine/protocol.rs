//! Our bytes are the engine's bytes: every vertex that it loads has the digest that we gave it.
//!
//! Not here: git, which would need a server, and OCI layouts, which need a store that the client names.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use engine_tests::{Build, Example, Outcome, Setup, docker, skipped};
use llb::proto::pb;
use llb::{Caps, Copy, Definition, FileOp, Http, Image, Local, Output, Platform};
use prost::Message as _;

/// Sends a definition to the engine as it is, but for the session.
fn replay(result: &Output) -> Outcome {
    let example = Example::of("");
    example.write("lanes.toml", Definition::new(result).to_bytes());
    example.write("text", "text\n");
    Build::new(&Setup::get().engine, example.path())
        .without_bases()
        .option(
            "--build-arg",
            format!("BUILDKIT_SYNTAX={}", Setup::get().replay),
        )
        .pass()
}

/// The digests of all ops of a definition but its last, which only names the result.
fn digests(definition: &pb::Definition) -> BTreeSet<String> {
    let ops = &definition.def[..definition.def.len() - 1];
    ops.iter()
        .map(|op| llb::Digest::of(op).to_string())
        .collect()
}

/// What kinds of ops a definition has; of sources, by their scheme.
fn kinds(definition: &pb::Definition) -> BTreeSet<String> {
    let kind = |bytes: &Vec<u8>| {
        let op = pb::Op::decode(bytes.as_slice()).expect("an op").op?;
        Some(match op {
            pb::op::Op::Exec(_) => "exec".to_owned(),
            pb::op::Op::File(_) => "file".to_owned(),
            pb::op::Op::Merge(_) => "merge".to_owned(),
            pb::op::Op::Diff(_) => "diff".to_owned(),
            pb::op::Op::Source(source) => {
                let (scheme, _) = source.identifier.split_once("://").expect("a scheme");
                scheme.to_owned()
            }
            other => format!("{other:?}"),
        })
    };
    definition.def.iter().filter_map(kind).collect()
}

/// Requires that the engine loaded every op of a graph by our digest.
fn assert_known(result: &Output, expected: &[&str]) {
    let definition = Definition::new(result);
    let definition = definition.as_pb();
    let expected: BTreeSet<String> = expected.iter().map(|kind| (*kind).to_owned()).collect();
    assert_eq!(kinds(definition), expected);
    let seen = replay(result).loaded;
    let ours = digests(definition);
    let unknown: Vec<_> = ours.difference(&seen).collect();
    assert!(
        unknown.is_empty(),
        "the engine has other digests for {unknown:?}\n{}",
        llb::view::text(definition)
    );
}

#[test]
fn the_engine_names_every_kind_of_op_by_our_digest() {
    let setup = Setup::get();
    if !setup.engine.merge {
        skipped::<()>("digests of every op", "this engine has no merge");
        return;
    }
    let platform = Platform::new("linux", "amd64");
    let format = "{{index .RepoDigests 0}}";
    let pinned = docker(
        &setup.engine,
        &["image", "inspect", "--format", format, &setup.busybox],
    );
    let (_, digest) = pinned.trim().split_once('@').expect("a digest");
    let reference = format!("{}@{digest}", setup.busybox)
        .parse()
        .expect("a reference");
    let base = Image::new(reference, platform.clone()).build();
    let result = llb::sample::every_op(base, &platform).expect("a graph");
    assert!(result.missing(&Caps::all()).is_empty());
    assert_known(&result, &["diff", "docker-image", "exec", "file", "merge"]);
}

/// The whole of some files, in a file system of their own.
fn whole(files: Output, name: &str) -> Output {
    FileOp::new(None)
        .copy(Copy::new(files, name, "/copied"))
        .build()
        .expect("a copy")
}

#[test]
fn the_engine_names_a_directory_of_the_client_by_our_digest() {
    // As a lane's context is read. The session is put in by the replay, which says what it sent.
    let context = Local::of_session("context", "of-the-build")
        .expect("a directory")
        .follow(["text"])
        .shared_key_hint("engine-tests")
        .differ_none()
        .build();
    let vertex = Definition::new(&context).head().to_string();
    let result = whole(context, "/text");
    let definition = Definition::new(&result);
    let expected: BTreeSet<String> = ["file", "local"].map(str::to_owned).into();
    assert_eq!(kinds(definition.as_pb()), expected);

    let outcome = replay(&result);
    let sent = outcome.metadata["frontend.replay.digests"].as_str();
    let sent: Vec<String> = serde_json::from_str(sent.expect("a text")).expect("a list");
    assert_eq!(sent.len(), 3, "{}", outcome.metadata);
    assert!(!sent.contains(&vertex), "the session is in the digest");
    for digest in &sent[..2] {
        assert!(
            outcome.loaded.contains(digest),
            "{digest}: {:#?}",
            outcome.vertices
        );
    }
}

#[test]
fn the_engine_names_a_download_by_our_digest() {
    if !Setup::get().is_private() {
        skipped::<()>(
            "the digest of a download",
            "this engine may run on another machine",
        );
        return;
    }
    let content = format!("{}\n", engine_tests::nonce());
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/file", server.local_addr().expect("an address"));
    let download = Http::new(&url)
        .expect("an address")
        .checksum(llb::Digest::of(content.as_bytes()))
        .filename("file")
        .expect("a name")
        .build();
    let result = whole(download, "/file");
    let served = std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(&server, &content));
        assert_known(&result, &["file", "http"]);
        server.join().expect("a server")
    });
    assert!(served, "nobody asked for it");
}

/// Serves a text until it was fetched once, for a minute at the most; whether it was.
fn serve(server: &TcpListener, content: &str) -> bool {
    server.set_nonblocking(true).expect("a socket");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        let mut client = match server.accept() {
            Ok((client, _)) => client,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        client.set_nonblocking(false).expect("a socket");
        client
            .set_read_timeout(Some(Duration::from_secs(5)))
            .expect("a limit");
        // A request without a body comes in one piece.
        let mut request = [0; 4096];
        let read = client.read(&mut request).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            content.len()
        );
        let whole = request[..read].starts_with(b"GET");
        let body = if whole { content } else { "" };
        let answered = client.write_all(format!("{head}{body}").as_bytes());
        if whole && answered.is_ok() {
            return true;
        }
    }
    false
}
