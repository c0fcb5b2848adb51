//! One build over the bridge: what is asked, what is answered, what goes wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use frontend::gateway::bridge::{Bridge, Built, Evaluate, ImageSource, Ref, Warning};
use frontend::gateway::error::Failure;
use frontend::gateway::opts::CacheImport;
use frontend::gateway::serve;
use llb::proto::{gateway, pb, rpc};
use llb::{Platform, Reference, ResolveMode, caps};
use prost::Message;

use crate::fake::{Fake, Script};

const LIMIT: u64 = 100;
const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A definition of one local directory.
fn local(name: &str) -> pb::Definition {
    let source = pb::SourceOp {
        identifier: format!("local://{name}"),
        ..pb::SourceOp::default()
    };
    definition(pb::op::Op::Source(source))
}

/// A definition of one step.
fn step() -> pb::Definition {
    definition(pb::op::Op::Exec(pb::ExecOp::default()))
}

fn definition(op: pb::op::Op) -> pb::Definition {
    let op = pb::Op {
        op: Some(op),
        ..pb::Op::default()
    };
    let last = pb::Op {
        inputs: vec![pb::Input::default()],
        ..pb::Op::default()
    };
    pb::Definition {
        def: vec![op.encode_to_vec(), last.encode_to_vec()],
        ..pb::Definition::default()
    }
}

/// What a failing step's error looks like: its details hold the lane file.
fn exit_code_4(lane_file_bytes: usize) -> rpc::Status {
    let lane_file = "#".repeat(lane_file_bytes);
    rpc::Status {
        code: 2,
        message: "process \"cc\" did not complete successfully: exit code: 4".to_owned(),
        details: vec![
            prost_types::Any {
                type_url: "github.com/moby/buildkit/errdefs.Vertex+json".into(),
                value: b"{}".to_vec(),
            },
            prost_types::Any {
                type_url: "github.com/moby/buildkit/errdefs.Source+json".into(),
                value: format!(
                    r#"{{"info":{{"data":"{lane_file}"}},"ranges":[{{"start":{{"line":70}}}}]}}"#
                )
                .into_bytes(),
            },
        ],
    }
}

fn built(result: Ref) -> Built {
    Built {
        result: result.into(),
        metadata: BTreeMap::from([("containerimage.config".to_owned(), b"{}".to_vec())]),
        attestations: BTreeMap::new(),
    }
}

fn reference(name: &str) -> Reference {
    name.parse().unwrap()
}

fn linux() -> Platform {
    Platform::new("linux", "amd64")
}

#[tokio::test]
async fn a_build_asks_reads_solves_answers_once_and_says_good_bye() {
    let (fake, io) = Fake::start(Script::able().file("dockerfile", "lanes.toml", "# syntax=x\n"));
    serve(io, async |bridge| {
        assert_eq!(bridge.workers()[0].platforms, [linux()]);
        let file = bridge
            .solve(local("dockerfile"), Evaluate::Later, &[])
            .await?;
        assert_eq!(
            bridge.read_file(&file, "lanes.toml", LIMIT).await?,
            b"# syntax=x\n"
        );
        Ok(built(bridge.solve(step(), Evaluate::Now, &[]).await?))
    })
    .await
    .unwrap();
    {
        let log = fake.log();
        assert!(
            log.solves
                .iter()
                .all(|solve| solve.allow_result_return && solve.allow_result_array_ref)
        );
        assert_eq!(log.evaluated, ["ref-1"]);
        let [answer] = &log.returns[..] else {
            panic!("{} answers", log.returns.len())
        };
        let result = answer.result.as_ref().unwrap();
        let Some(gateway::result::Result::Ref(reference)) = &result.result else {
            panic!("no ref")
        };
        assert_eq!((reference.id.as_str(), &reference.def), ("ref-1", &None));
        assert_eq!(result.metadata["containerimage.config"], b"{}");
    }
    assert!(fake.closed_cleanly().await);
}

#[tokio::test]
async fn an_empty_file_system_is_an_answer_too() {
    let (fake, io) = Fake::start(Script::able());
    serve(io, async |_| Ok(built(Ref::scratch())))
        .await
        .unwrap();
    assert!(fake.log().returns[0].result.is_some());
}

#[tokio::test]
async fn a_failing_step_fails_when_its_bytes_are_needed_and_not_before() {
    let (_fake, io) = Fake::start(Script {
        failing: Some(exit_code_4(0)),
        ..Script::able()
    });
    let bridge = Bridge::open(io).await.unwrap();
    let lazy = bridge.solve(step(), Evaluate::Later, &[]).await.unwrap();
    for failure in [
        bridge.evaluate(&lazy).await.unwrap_err(),
        bridge.read_file(&lazy, "report", LIMIT).await.unwrap_err(),
        bridge.solve(step(), Evaluate::Now, &[]).await.unwrap_err(),
    ] {
        assert_eq!(failure.into_status(), exit_code_4(0));
    }
}

#[tokio::test]
async fn several_evaluations_of_one_failing_step_give_the_same_error() {
    let (_fake, io) = Fake::start(Script {
        failing: Some(exit_code_4(100)),
        ..Script::able()
    });
    let bridge = Bridge::open(io).await.unwrap();
    let lazy = bridge.solve(step(), Evaluate::Later, &[]).await.unwrap();
    let (a, b, c) = tokio::join!(
        bridge.evaluate(&lazy),
        bridge.evaluate(&lazy),
        bridge.evaluate(&lazy)
    );
    assert!(a.is_err() && a == b && b == c);
}

#[tokio::test]
async fn an_error_that_holds_a_lane_file_of_600_kilobytes_arrives_whole_and_goes_back_whole() {
    let sent = exit_code_4(600 << 10);
    let (fake, io) = Fake::start(Script {
        failing: Some(sent.clone()),
        ..Script::able()
    });
    serve(io, async |bridge| {
        Ok(built(bridge.solve(step(), Evaluate::Now, &[]).await?))
    })
    .await
    .unwrap();
    assert_eq!(fake.log().returns[0].error, Some(sent));
}

/// Why the connection is told how large a list of headers may be: with what HTTP/2 clients allow by themselves, the
/// details of nearly every failing step would be lost.
#[tokio::test]
async fn without_room_for_large_trailers_the_details_of_an_error_are_lost() {
    use frontend::generated::llb_bridge_client::LlbBridgeClient;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use tonic::codegen::http::Uri;

    let sent = exit_code_4(63 << 10);
    let (_fake, io) = Fake::start(Script {
        failing: Some(sent.clone()),
        ..Script::able()
    });
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .handshake(TokioIo::new(io))
        .await
        .unwrap();
    tokio::spawn(connection);
    let service = Plain(sender);
    let mut client = LlbBridgeClient::with_origin(service, Uri::from_static("http://localhost"));
    let request = gateway::SolveRequest {
        definition: Some(step()),
        evaluate: true,
        ..gateway::SolveRequest::default()
    };
    let status = client.solve(request).await.unwrap_err();
    assert_ne!(Failure::received(&status).into_status(), sent);
}

#[derive(Clone)]
struct Plain(hyper::client::conn::http2::SendRequest<tonic::body::Body>);

impl tonic::codegen::Service<tonic::codegen::http::Request<tonic::body::Body>> for Plain {
    type Response = tonic::codegen::http::Response<hyper::body::Incoming>;
    type Error = hyper::Error;
    type Future =
        std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: tonic::codegen::http::Request<tonic::body::Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

#[tokio::test]
async fn answers_of_5_megabytes_are_read() {
    let (_fake, io) = Fake::start(Script {
        padding: 5 << 20,
        ..Script::able()
    });
    let bridge = Bridge::open(io).await.unwrap();
    bridge.solve(step(), Evaluate::Later, &[]).await.unwrap();
}

#[tokio::test]
async fn a_graph_that_no_engine_takes_is_refused_before_it_is_sent() {
    let (fake, io) = Fake::start(Script::able());
    let bridge = Bridge::open(io).await.unwrap();
    let mut large = step();
    large.def.insert(0, vec![0; 17 << 20]);
    let failure = bridge.solve(large, Evaluate::Later, &[]).await.unwrap_err();
    assert!(
        failure.message().contains("the build's graph takes 178"),
        "{failure}"
    );
    assert!(fake.log().solves.is_empty());
}

#[tokio::test]
async fn what_is_no_readable_file_is_said_to_be_so() {
    let mut script = Script::able().file("dockerfile", "large", vec![0; 101]);
    script
        .locals
        .get_mut("dockerfile")
        .unwrap()
        .insert("dir".to_owned(), None);
    let (fake, io) = Fake::start(script);
    let bridge = Bridge::open(io).await.unwrap();
    let file = bridge
        .solve(local("dockerfile"), Evaluate::Later, &[])
        .await
        .unwrap();
    let mut told = Vec::new();
    for path in ["dir", "large", "missing"] {
        told.push(
            bridge
                .read_file(&file, path, LIMIT)
                .await
                .unwrap_err()
                .to_string(),
        );
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    dir is a directory, not a file
    large has 101 bytes; at most 100 are read
    open missing: no such file or directory
    ");
    assert!(
        fake.log().reads.is_empty(),
        "something was read before it was looked at"
    );
}

#[tokio::test]
async fn caches_to_look_into_go_with_the_solve() {
    let (fake, io) = Fake::start(Script::able());
    let bridge = Bridge::open(io).await.unwrap();
    let cache = CacheImport {
        kind: "registry".into(),
        attrs: BTreeMap::from([("ref".to_owned(), "localhost:5000/c".to_owned())]),
    };
    bridge
        .solve(step(), Evaluate::Now, std::slice::from_ref(&cache))
        .await
        .unwrap();
    let sent = &fake.log().solves[0].cache_imports;
    assert_eq!(
        (sent.len(), sent[0].r#type.as_str(), &sent[0].attrs),
        (1, "registry", &cache.attrs)
    );
}

#[tokio::test]
async fn without_evaluation_in_solve_another_call_makes_the_bytes() {
    for (lacking, evaluated) in [
        (vec!["gateway.solve.evaluate"], 1),
        (vec!["gateway.solve.evaluate", "gateway.evaluate"], 0),
    ] {
        let able = lacking
            .iter()
            .fold(Script::able(), |script, cap| script.without(cap));
        let (fake, io) = Fake::start(Script {
            failing: None,
            ..able.clone()
        });
        let bridge = Bridge::open(io).await.unwrap();
        bridge.solve(step(), Evaluate::Now, &[]).await.unwrap();
        assert_eq!(fake.log().evaluated.len(), evaluated);

        let (_fake, io) = Fake::start(Script {
            failing: Some(exit_code_4(0)),
            ..able
        });
        let bridge = Bridge::open(io).await.unwrap();
        bridge
            .solve(step(), Evaluate::Now, &[])
            .await
            .expect_err("the step failed unseen");
    }
}

fn with_images() -> Script {
    let image = (DIGEST.to_owned(), b"{\"os\":\"linux\"}".to_vec());
    let images = [
        "docker.io/library/debian:12".to_owned(),
        format!("docker.io/library/kit@{DIGEST}"),
    ];
    Script {
        images: images
            .into_iter()
            .map(|name| (name, image.clone()))
            .collect(),
        ..Script::able()
    }
}

#[tokio::test]
async fn an_image_is_resolved_to_its_digest_by_either_call() {
    for script in [with_images(), with_images().without("source.metaresolver")] {
        let (fake, io) = Fake::start(script.clone());
        let bridge = Bridge::open(io).await.unwrap();
        let name = reference("debian:12");
        let image = bridge
            .resolve_image(
                &ImageSource::Registry(name),
                &linux(),
                ResolveMode::PreferLocal,
                "look debian:12 up",
            )
            .await
            .unwrap();
        assert_eq!(
            image.name.to_string(),
            format!("docker.io/library/debian:12@{DIGEST}")
        );
        assert_eq!(image.config, b"{\"os\":\"linux\"}");
        let log = fake.log();
        let (mode, shown) = match (&log.source_metas[..], &log.image_configs[..]) {
            ([asked], []) => (&asked.resolve_mode, &asked.log_name),
            ([], [asked]) => (&asked.resolve_mode, &asked.log_name),
            _ => panic!("asked twice or never"),
        };
        assert_eq!(
            (mode.as_str(), shown.as_str()),
            ("local", "look debian:12 up")
        );
    }
}

#[tokio::test]
async fn an_image_in_a_store_of_the_client_is_named_with_store_and_session() {
    let source = ImageSource::OciLayout {
        name: reference(&format!("kit@{DIGEST}")),
        session: "s1".into(),
        store: "store1".into(),
    };
    for script in [with_images(), with_images().without("source.metaresolver")] {
        let (fake, io) = Fake::start(script);
        let bridge = Bridge::open(io).await.unwrap();
        let image = bridge
            .resolve_image(&source, &linux(), ResolveMode::Default, "look")
            .await
            .unwrap();
        assert_eq!(
            image.name.to_string(),
            format!("docker.io/library/kit@{DIGEST}")
        );
        let log = fake.log();
        match (&log.source_metas[..], &log.image_configs[..]) {
            ([asked], []) => {
                let source = asked.source.as_ref().unwrap();
                assert_eq!(
                    source.identifier,
                    format!("oci-layout://docker.io/library/kit@{DIGEST}")
                );
                assert_eq!(
                    (
                        source.attrs["oci.store"].as_str(),
                        source.attrs["oci.session"].as_str()
                    ),
                    ("store1", "s1")
                );
            }
            ([], [asked]) => {
                assert_eq!(
                    (
                        asked.resolver_type,
                        asked.store_id.as_str(),
                        asked.session_id.as_str()
                    ),
                    (1, "store1", "s1")
                );
            }
            _ => panic!("asked twice or never"),
        }
    }
}

#[tokio::test]
async fn a_missing_image_is_the_engines_error() {
    let (_fake, io) = Fake::start(Script::able());
    let bridge = Bridge::open(io).await.unwrap();
    let name = ImageSource::Registry(reference("nope"));
    let failure = bridge
        .resolve_image(&name, &linux(), ResolveMode::Default, "look")
        .await
        .unwrap_err()
        .into_status();
    assert_eq!(
        (failure.code, failure.message.as_str()),
        (5, "docker.io/library/nope:latest: not found")
    );
}

#[tokio::test]
async fn an_engine_without_warnings_or_inputs_is_not_asked_for_them() {
    let (fake, io) = Fake::start(
        Script::able()
            .without("gateway.warnings")
            .without("frontend.inputs"),
    );
    let bridge = Bridge::open(io).await.unwrap();
    bridge
        .warn(Warning {
            short: "mind".into(),
            ..Warning::default()
        })
        .await;
    assert!(bridge.inputs().await.unwrap().is_empty());
    assert!(fake.log().warnings.is_empty());

    let (fake, io) = Fake::start(Script {
        inputs: BTreeMap::from([("base".to_owned(), step())]),
        ..Script::able()
    });
    let bridge = Bridge::open(io).await.unwrap();
    bridge
        .warn(Warning {
            short: "mind".into(),
            ..Warning::default()
        })
        .await;
    assert_eq!(bridge.inputs().await.unwrap()["base"], step());
    assert_eq!(fake.log().warnings[0].short, b"mind");
}

#[tokio::test]
async fn a_capability_that_is_turned_off_is_not_one_that_is_there() {
    let script = Script {
        llb_caps: vec!["exec.secretenv".into()],
        disabled_caps: vec!["mergeop".into()],
        ..Script::able()
    };
    let (_fake, io) = Fake::start(script);
    let bridge = Bridge::open(io).await.unwrap();
    assert!(bridge.caps().supports(caps::EXEC_SECRET_ENV));
    assert!(!bridge.caps().supports(caps::MERGE));
    assert_eq!(bridge.disabled()["mergeop"], "turned off here");
}

#[tokio::test]
async fn a_call_given_up_is_cancelled_in_the_engine_and_the_build_can_still_answer() {
    let (fake, io) = Fake::start(Script {
        hangs: true,
        ..Script::able()
    });
    serve(io, async |bridge| {
        let lazy = bridge.solve(step(), Evaluate::Later, &[]).await?;
        let patience = Duration::from_millis(50);
        tokio::time::timeout(patience, bridge.evaluate(&lazy))
            .await
            .expect_err("it did not hang");
        Err(Failure::new("given up"))
    })
    .await
    .unwrap();
    assert_eq!(fake.log().cancelled, 1);
    assert_eq!(
        fake.log().returns[0].error.as_ref().unwrap().message,
        "given up"
    );
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let (fake, io) = Fake::start(Script::able());
    serve(io, async |bridge| {
        bridge.solve(step(), Evaluate::Later, &[]).await?;
        panic!("stage {} is not there", 3)
    })
    .await
    .unwrap();
    assert_eq!(fake.log().returns.len(), 1);
    let error = fake.log().returns[0].error.clone().unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            2,
            "lanekit has a bug, please report it: stage 3 is not there"
        )
    );
    assert!(fake.closed_cleanly().await);
}

#[tokio::test]
async fn an_engine_that_answers_no_ping_is_told_and_the_caller_too() {
    let (fake, io) = Fake::start(Script {
        mute: true,
        ..Script::able()
    });
    let error = serve(io, async |_| unreachable!()).await.unwrap_err();
    assert_eq!(error.to_string(), "ask what the engine can do: no time");
    assert_eq!(fake.log().returns[0].error.as_ref().unwrap().code, 14);
}

#[tokio::test]
async fn an_engine_that_is_gone_is_an_error_and_not_a_hang() {
    let (io, engine) = tokio::io::duplex(64);
    drop(engine);
    let end =
        tokio::time::timeout(Duration::from_secs(10), serve(io, async |_| unreachable!())).await;
    end.expect("it hangs").expect_err("nobody took the answer");
}

#[tokio::test]
async fn an_engine_takes_one_answer_only() {
    use frontend::generated::llb_bridge_client::LlbBridgeClient;
    let (fake, io) = Fake::start(Script::able());
    let (engine, _connection) = frontend::gateway::transport::connect(io).await.unwrap();
    let mut client = LlbBridgeClient::with_origin(
        engine,
        tonic::codegen::http::Uri::from_static("http://localhost"),
    );
    let answer = gateway::ReturnRequest {
        error: Some(exit_code_4(0)),
        ..gateway::ReturnRequest::default()
    };
    client.r#return(answer.clone()).await.unwrap();
    assert_eq!(
        client.r#return(answer).await.unwrap_err().message(),
        "gateway result is already set"
    );
    assert_eq!(fake.log().returns.len(), 1);
}
