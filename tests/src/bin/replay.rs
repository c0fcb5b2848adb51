//! A frontend that builds a definition as it is: the lane file is a serialized `pb.Definition`.
//!
//! Tests use it to send any graph to a real engine by `docker buildx build`. Where a local directory belongs to a
//! session (attribute `local.session`), the build's own session takes the place of the one in the file; that changes
//! digests, so the definition is linked anew behind it. The digests of all that was sent come back as metadata.

use std::collections::BTreeMap;
use std::process::ExitCode;

use frontend::gateway::bridge::{Bridge, Built, Evaluate, Outcome};
use frontend::gateway::error::Failure;
use frontend::gateway::opts::Opts;
use frontend::gateway::process;
use frontend::gateway::transport::MAX_MESSAGE;
use llb::proto::pb;
use prost::Message as _;
use sha2::{Digest as _, Sha256};

fn main() -> ExitCode {
    process(replay)
}

async fn replay(bridge: &Bridge) -> Outcome {
    let opts =
        Opts::from_env(std::env::vars_os()).map_err(|errors| Failure::new(errors.to_string()))?;
    let source = pb::SourceOp {
        identifier: format!("local://{}", opts.file.local),
        attrs: BTreeMap::from([
            (
                "local.session".to_owned(),
                opts.session_of(&opts.file.local).to_owned(),
            ),
            (
                "local.followpaths".to_owned(),
                serde_json::json!([opts.file.name]).to_string(),
            ),
            (
                "local.sharedkeyhint".to_owned(),
                "lanekit-replay".to_owned(),
            ),
        ]),
    };
    let file = bridge.solve(only(source), Evaluate::Later, &[]).await?;
    let bytes = bridge
        .read_file(&file, &opts.file.name, MAX_MESSAGE as u64)
        .await?;
    let definition = pb::Definition::decode(bytes.as_slice()).map_err(|error| {
        Failure::new(format!("{} is not a definition: {error}", opts.file.name))
    })?;
    let definition = for_session(definition, &opts.session)?;
    let sent: Vec<String> = definition.def.iter().map(|op| digest_of(op)).collect();
    // What fails should fail here, where the whole error can be seen.
    let result = bridge
        .solve(definition, Evaluate::Now, &opts.cache_imports)
        .await?;
    Ok(Built {
        attestations: Default::default(),
        result: result.into(),
        metadata: BTreeMap::from([(
            "frontend.replay.digests".to_owned(),
            serde_json::json!(sent).to_string().into_bytes(),
        )]),
    })
}

/// A definition of one source.
fn only(source: pb::SourceOp) -> pb::Definition {
    let source = bytes_of(pb::Op {
        op: Some(pb::op::Op::Source(source)),
        ..pb::Op::default()
    });
    let input = pb::Input {
        digest: digest_of(&source),
        index: 0,
    };
    let last = pb::Op {
        inputs: vec![input],
        ..pb::Op::default()
    };
    pb::Definition {
        def: vec![source, bytes_of(last)],
        ..pb::Definition::default()
    }
}

/// The same definition with every `local.session` set to `session`, if it has any.
fn for_session(definition: pb::Definition, session: &str) -> Result<pb::Definition, Failure> {
    let mut renamed: BTreeMap<String, String> = BTreeMap::new();
    let mut relinked = pb::Definition::default();
    for bytes in definition.def {
        let before = digest_of(&bytes);
        let mut op = pb::Op::decode(bytes.as_slice())
            .map_err(|error| Failure::new(format!("op {before}: {error}")))?;
        // Otherwise a digest that agrees would be the merit of the bytes written here.
        if bytes_of(op.clone()) != bytes {
            return Err(Failure::new(format!("op {before} has other bytes here")));
        }
        let mut changed = false;
        for input in &mut op.inputs {
            if let Some(digest) = renamed.get(&input.digest) {
                input.digest.clone_from(digest);
                changed = true;
            }
        }
        if let Some(pb::op::Op::Source(source)) = &mut op.op
            && let Some(old) = source.attrs.get_mut("local.session")
        {
            session.clone_into(old);
            changed = true;
        }
        let bytes = if changed { bytes_of(op) } else { bytes };
        renamed.insert(before, digest_of(&bytes));
        relinked.def.push(bytes);
    }
    let new = |digest: String| renamed.get(&digest).cloned().unwrap_or(digest);
    relinked.metadata = definition
        .metadata
        .into_iter()
        .map(|(digest, metadata)| (new(digest), metadata))
        .collect();
    relinked.source = definition.source.map(|source| pb::Source {
        locations: source
            .locations
            .into_iter()
            .map(|(digest, locations)| (new(digest), locations))
            .collect(),
        infos: source.infos,
    });
    Ok(relinked)
}

/// The bytes that the engine would write: what an op is comes last.
fn bytes_of(mut op: pb::Op) -> Vec<u8> {
    let kind = op.op.take();
    let mut bytes = op.encode_to_vec();
    bytes.extend(
        pb::Op {
            op: kind,
            ..pb::Op::default()
        }
        .encode_to_vec(),
    );
    bytes
}

fn digest_of(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{hex}")
}
