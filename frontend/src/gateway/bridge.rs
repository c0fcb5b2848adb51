//! The engine's side of a build, as few typed calls.
//!
//! A [`Bridge`] is asked what the engine can do, solves definitions, reads files of what it solved, and is used up
//! by [`Bridge::finish`]: so one build gives one answer, and never an empty one (which kills an engine).

use std::collections::BTreeMap;
use std::io;

use llb::caps::{self, Cap, Caps};
use llb::proto::{gateway, pb, rpc};
use llb::{Platform, Reference, ResolveMode};
use prost::Message as _;
use stages::plan::Commit;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::codegen::http::Uri;

use stages::file::Entry;

use super::error::Failure;
use super::opts::CacheImport;
use super::transport::{self, Connection, Engine, MAX_MESSAGE};
use crate::generated::llb_bridge_client::LlbBridgeClient;

/// How much of a file one message has, in bytes: well below what gRPC takes without being told.
const PART: i64 = 2 << 20;
/// Bits of a file's mode, as Go numbers them (`io/fs.FileMode`).
pub(crate) const MODE_DIR: u32 = 1 << 31;
/// Device, pipe, socket, character device, irregular.
const MODE_SPECIAL: u32 = 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19;

/// The engine, during one build.
pub struct Bridge {
    client: LlbBridgeClient<Engine>,
    connection: Connection,
    llb_caps: Caps,
    gateway_caps: Caps,
    disabled: BTreeMap<String, String>,
    workers: Vec<Worker>,
}

/// One worker of the engine; the first is the one that runs steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worker {
    /// Labels such as the kind of snapshotter.
    pub labels: BTreeMap<String, String>,
    /// What it can run, its own platform first.
    pub platforms: Vec<Platform>,
}

/// A file system in the engine, perhaps not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ref {
    id: String,
}

impl Ref {
    /// The empty file system.
    #[must_use]
    pub fn scratch() -> Self {
        Self { id: String::new() }
    }
}

/// Whether a definition is made now or when its bytes are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluate {
    /// Now: what fails, fails here.
    Now,
    /// When its bytes are needed; the engine only checks that it could be made.
    Later,
}

/// Where an image is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// In a registry or in the engine's own store.
    Registry(Reference),
    /// In a store of the client.
    OciLayout {
        /// What it is called in progress and errors, and its digest, by which it is found.
        name: Reference,
        /// The client's session.
        session: String,
        /// The store's id.
        store: String,
    },
}

/// What an image is, once the engine has looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its name with the digest that it has now.
    pub name: Reference,
    /// Its config, OCI's JSON.
    pub config: Vec<u8>,
}

/// A note to the user that does not fail the build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warning {
    /// Digest of a vertex that the engine has loaded.
    pub vertex: String,
    /// One line.
    pub short: String,
    /// More lines.
    pub detail: Vec<String>,
    /// Where it is written up, or nothing.
    pub url: String,
    /// The file that it is about.
    pub file: Option<pb::SourceInfo>,
    /// Which lines of it.
    pub ranges: Vec<pb::Range>,
}

/// What a build gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The file systems.
    pub result: Refs,
    /// What goes with it: the image's config and the like, by the engine's names.
    pub metadata: BTreeMap<String, Vec<u8>>,
    /// What is stated about each platform of it, by the platform's text.
    pub attestations: BTreeMap<String, Vec<Attestation>>,
}

/// An in-toto statement about an image, of which this file is the predicate. Exporters that make no image leave it out:
/// without that mark it would lie as a file in what they write (`solver/result/attestation.go`, `inline-only`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attestation {
    /// Where the predicate is.
    pub made: Ref,
    /// Its path there; the last part must be unlike that of any other.
    pub path: String,
    /// The predicate's type, a URI.
    pub predicate_type: &'static str,
}

/// The file systems of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refs {
    /// One.
    One(Ref),
    /// One for each platform, by the platform's text.
    Several(BTreeMap<String, Ref>),
}

impl From<Ref> for Refs {
    fn from(one: Ref) -> Self {
        Self::One(one)
    }
}

/// What a build comes to.
pub type Outcome = Result<Built, Failure>;

impl Bridge {
    /// Opens the connection on `io` and asks what the engine can do.
    ///
    /// # Errors
    /// When nobody answers there; the engine is then told so, if it can hear it.
    pub async fn open<T>(io: T) -> io::Result<Self>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (engine, connection) = transport::connect(io).await?;
        let client = LlbBridgeClient::with_origin(engine, Uri::from_static("http://localhost"))
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE);
        let mut bridge = Self {
            client,
            connection,
            llb_caps: Caps::default(),
            gateway_caps: Caps::default(),
            disabled: BTreeMap::new(),
            workers: Vec::new(),
        };
        match bridge.client.ping(gateway::PingRequest {}).await {
            Ok(pong) => {
                bridge.learn(pong.into_inner());
                Ok(bridge)
            }
            Err(status) => {
                let failure = Failure::received(&status).context("ask what the engine can do");
                let text = failure.to_string();
                bridge.finish(Err(failure)).await?;
                Err(io::Error::other(text))
            }
        }
    }

    fn learn(&mut self, pong: gateway::PongResponse) {
        self.llb_caps = Caps::of(&pong.llb_caps);
        self.gateway_caps = Caps::of(&pong.frontend_api_caps);
        let all = pong.llb_caps.into_iter().chain(pong.frontend_api_caps);
        self.disabled = all
            .filter(|cap| !cap.enabled)
            .map(|cap| (cap.id, cap.disabled_reason_msg))
            .collect();
        let worker = |w: llb::proto::types::WorkerRecord| Worker {
            labels: w.labels,
            platforms: w.platforms.iter().map(Platform::from).collect(),
        };
        self.workers = pong.workers.into_iter().map(worker).collect();
    }

    /// What ops the engine takes.
    #[must_use]
    pub fn caps(&self) -> &Caps {
        &self.llb_caps
    }

    /// What the engine knows but has turned off, with its reason.
    #[must_use]
    pub fn disabled(&self) -> &BTreeMap<String, String> {
        &self.disabled
    }

    /// Whether the engine's side of the protocol can do this.
    #[must_use]
    pub fn can(&self, cap: Cap) -> bool {
        self.gateway_caps.supports(cap)
    }

    /// The engine's workers, the default one first.
    #[must_use]
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// Hands a definition to the engine; `caches` are looked into for what is not made yet.
    ///
    /// # Errors
    /// What the engine does not accept, and with [`Evaluate::Now`] also every step that fails.
    pub async fn solve(
        &self,
        definition: pb::Definition,
        evaluate: Evaluate,
        caches: &[CacheImport],
    ) -> Result<Ref, Failure> {
        let size = definition.encoded_len();
        if size > MAX_MESSAGE {
            return Err(Failure::new(format!(
                "the build's graph takes {size} bytes, and engines take {MAX_MESSAGE}: use fewer steps or smaller texts"
            )));
        }
        let in_solve = evaluate == Evaluate::Now && self.can(caps::GATEWAY_SOLVE_EVALUATE);
        let cache = |cache: &CacheImport| gateway::CacheOptionsEntry {
            r#type: cache.kind.clone(),
            attrs: cache.attrs.clone(),
        };
        let request = gateway::SolveRequest {
            definition: Some(definition),
            allow_result_return: true,
            allow_result_array_ref: true,
            cache_imports: caches.iter().map(cache).collect(),
            evaluate: in_solve,
            ..gateway::SolveRequest::default()
        };
        let result = single_ref(self.client.clone().solve(request).await?.into_inner())?;
        if evaluate == Evaluate::Now && !in_solve {
            self.evaluate(&result).await?;
        }
        Ok(result)
    }

    /// Makes what is not made yet.
    ///
    /// # Errors
    /// Every step that fails.
    pub async fn evaluate(&self, result: &Ref) -> Result<(), Failure> {
        if result.id.is_empty() {
            return Ok(());
        }
        if self.can(caps::GATEWAY_EVALUATE) {
            let request = gateway::EvaluateRequest {
                r#ref: result.id.clone(),
            };
            self.client.clone().evaluate(request).await?;
        } else {
            // Looking at a file needs the file system, so it is made.
            self.stat(result, "/").await?;
        }
        Ok(())
    }

    /// Looks at a file; symbolic links are followed within the file system.
    ///
    /// # Errors
    /// When it is not there, or the file system could not be made.
    pub async fn stat(&self, of: &Ref, path: &str) -> Result<llb::proto::fsutil::Stat, Failure> {
        let request = gateway::StatFileRequest {
            r#ref: of.id.clone(),
            path: path.to_owned(),
            ..gateway::StatFileRequest::default()
        };
        let stat = self
            .client
            .clone()
            .stat_file(request)
            .await?
            .into_inner()
            .stat;
        stat.ok_or_else(|| Failure::new(format!("the engine says nothing about {path}")))
    }

    /// Reads a file whole, if it has at most `limit` bytes: what is larger than a message cannot be read at once.
    ///
    /// # Errors
    /// When it is not there, is no file, is larger, or the file system could not be made.
    pub async fn read_file(&self, of: &Ref, path: &str, limit: u64) -> Result<Vec<u8>, Failure> {
        let stat = self.stat(of, path).await?;
        if stat.mode & MODE_DIR != 0 {
            return Err(Failure::new(format!("{path} is a directory, not a file")));
        }
        if stat.mode & MODE_SPECIAL != 0 {
            return Err(Failure::new(format!(
                "{path} is a device or a pipe, not a file"
            )));
        }
        let size = stat.size;
        if u64::try_from(size).map_or(true, |size| size > limit) {
            return Err(Failure::new(format!(
                "{path} has {size} bytes; at most {limit} are read"
            )));
        }
        let request = gateway::ReadFileRequest {
            r#ref: of.id.clone(),
            file_path: path.to_owned(),
            ..gateway::ReadFileRequest::default()
        };
        Ok(self
            .client
            .clone()
            .read_file(request)
            .await?
            .into_inner()
            .data)
    }

    /// Reads a file of any size, in parts, each handed to `take`.
    ///
    /// # Errors
    /// When it is not there, is no file, or changes its size while it is read.
    pub async fn read_through(
        &self,
        of: &Ref,
        path: &str,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        let stat = self.stat(of, path).await?;
        if stat.mode & (MODE_DIR | MODE_SPECIAL) != 0 {
            return Err(Failure::new(format!("{path} is no file")));
        }
        let mut offset = 0;
        while offset < stat.size {
            let request = gateway::ReadFileRequest {
                r#ref: of.id.clone(),
                file_path: path.to_owned(),
                range: Some(gateway::FileRange {
                    offset,
                    length: PART.min(stat.size - offset),
                }),
                ..gateway::ReadFileRequest::default()
            };
            let data = self
                .client
                .clone()
                .read_file(request)
                .await?
                .into_inner()
                .data;
            let read = i64::try_from(data.len()).unwrap_or(i64::MAX);
            if read == 0 || read > stat.size - offset {
                let size = stat.size;
                return Err(Failure::new(format!(
                    "{path} has {size} bytes, and at {offset} the engine read {read} more"
                )));
            }
            take(&data);
            offset += read;
        }
        Ok(())
    }

    /// Reads the beginning of a file: at most this many bytes.
    ///
    /// # Errors
    /// When it is not there, or the file system could not be made.
    pub async fn read_head(&self, of: &Ref, path: &str, bytes: u64) -> Result<Vec<u8>, Failure> {
        let request = gateway::ReadFileRequest {
            r#ref: of.id.clone(),
            file_path: path.to_owned(),
            range: Some(gateway::FileRange {
                offset: 0,
                length: i64::try_from(bytes).unwrap_or(i64::MAX),
            }),
            ..gateway::ReadFileRequest::default()
        };
        let answer = self.client.clone().read_file(request).await?;
        Ok(answer.into_inner().data)
    }

    /// What a directory has; nothing when it is not there.
    ///
    /// # Errors
    /// When it is no directory, or the file system could not be made.
    pub async fn read_dir(&self, of: &Ref, path: &str) -> Result<Vec<Entry>, Failure> {
        let request = gateway::ReadDirRequest {
            r#ref: of.id.clone(),
            dir_path: path.to_owned(),
            ..gateway::ReadDirRequest::default()
        };
        let listed = match self.client.clone().read_dir(request).await {
            Ok(listed) => listed.into_inner().entries,
            Err(status) => {
                let failure = Failure::from(status);
                return if failure.message().contains("no such file or directory") {
                    Ok(Vec::new())
                } else {
                    Err(failure)
                };
            }
        };
        let entry = |stat: llb::proto::fsutil::Stat| Entry {
            // Engines send names; a path would be of a bug of theirs, and match nothing.
            name: stat.path,
            directory: stat.mode & MODE_DIR != 0,
        };
        Ok(listed.into_iter().map(entry).collect())
    }

    /// Looks an image up: its digest and its config for a platform. `shown` is its line in the progress.
    ///
    /// # Errors
    /// When there is no such image, or the engine may not or cannot get it.
    pub async fn resolve_image(
        &self,
        source: &ImageSource,
        platform: &Platform,
        mode: ResolveMode,
        shown: &str,
    ) -> Result<Image, Failure> {
        let (ImageSource::Registry(name) | ImageSource::OciLayout { name, .. }) = source;
        let (digest, config, answered) = if self.can(caps::SOURCE_META_RESOLVER) {
            self.resolve_by_source(source, name, platform, mode, shown)
                .await?
        } else {
            self.resolve_by_config(source, name, platform, mode, shown)
                .await?
        };
        let unfit =
            |error: llb::Error| Failure::new(format!("the engine's answer about {name}: {error}"));
        // A policy of the engine may have put another image in its place.
        let found = if answered.is_empty() {
            name.clone()
        } else {
            answered.parse().map_err(unfit)?
        };
        // Engines have no digest for some images of their own store.
        let pinned = found.digest().is_some() || digest.is_empty();
        let found = if pinned {
            found
        } else {
            found.pinned(&digest).map_err(unfit)?
        };
        Ok(Image {
            name: found,
            config,
        })
    }

    /// Looks the ref of a git source up. `None` when the engine does not answer for git sources.
    ///
    /// # Errors
    /// When there is no such repository or ref, or the engine may not or cannot reach it.
    pub async fn resolve_git(
        &self,
        git: &llb::Output,
        shown: &str,
    ) -> Result<Option<Commit>, Failure> {
        if !self.can(caps::SOURCE_META_RESOLVER) {
            return Ok(None);
        }
        let request = gateway::ResolveSourceMetaRequest {
            source: source_of(git),
            log_name: shown.to_owned(),
            git: Some(gateway::ResolveSourceGitRequest::default()),
            ..gateway::ResolveSourceMetaRequest::default()
        };
        let answer = self
            .client
            .clone()
            .resolve_source_meta(request)
            .await?
            .into_inner();
        let found = answer.git.filter(|git| !git.checksum.is_empty());
        Ok(found.map(|git| Commit {
            commit: if git.commit_checksum.is_empty() {
                git.checksum.clone()
            } else {
                git.commit_checksum
            },
            object: git.checksum,
        }))
    }

    async fn resolve_by_source(
        &self,
        source: &ImageSource,
        name: &Reference,
        platform: &Platform,
        mode: ResolveMode,
        shown: &str,
    ) -> Result<(String, Vec<u8>, String), Failure> {
        let source = match source {
            ImageSource::Registry(_) => pb::SourceOp {
                identifier: format!("docker-image://{}", name),
                ..pb::SourceOp::default()
            },
            ImageSource::OciLayout { session, store, .. } => pb::SourceOp {
                identifier: format!("oci-layout://{}", name),
                attrs: BTreeMap::from([
                    ("oci.session".to_owned(), session.clone()),
                    ("oci.store".to_owned(), store.clone()),
                ]),
            },
        };
        let request = gateway::ResolveSourceMetaRequest {
            source: Some(source),
            platform: Some(platform.into()),
            log_name: shown.to_owned(),
            resolve_mode: mode.as_str().to_owned(),
            image: Some(gateway::ResolveSourceImageRequest { no_config: false }),
            ..gateway::ResolveSourceMetaRequest::default()
        };
        let answer = self
            .client
            .clone()
            .resolve_source_meta(request)
            .await?
            .into_inner();
        let identifier = answer
            .source
            .map(|source| source.identifier)
            .unwrap_or_default();
        let Some(image) = answer.image else {
            return Err(Failure::new(format!(
                "{} is not an image but {identifier}",
                name
            )));
        };
        let answered = ["docker-image://", "oci-layout://"]
            .iter()
            .find_map(|scheme| identifier.strip_prefix(scheme));
        Ok((
            image.digest,
            image.config,
            answered.unwrap_or_default().to_owned(),
        ))
    }

    /// For engines from before the general call.
    async fn resolve_by_config(
        &self,
        source: &ImageSource,
        name: &Reference,
        platform: &Platform,
        mode: ResolveMode,
        shown: &str,
    ) -> Result<(String, Vec<u8>, String), Failure> {
        let (resolver_type, session_id, store_id) = match source {
            ImageSource::Registry(_) => (0, String::new(), String::new()),
            ImageSource::OciLayout { session, store, .. } => (1, session.clone(), store.clone()),
        };
        let request = gateway::ResolveImageConfigRequest {
            r#ref: name.to_string(),
            platform: Some(platform.into()),
            resolve_mode: mode.as_str().to_owned(),
            log_name: shown.to_owned(),
            resolver_type,
            session_id,
            store_id,
        };
        let answer = self
            .client
            .clone()
            .resolve_image_config(request)
            .await?
            .into_inner();
        Ok((answer.digest, answer.config, answer.r#ref))
    }

    /// Results of other builds that this one is given, by name.
    ///
    /// # Errors
    /// When the engine cannot say.
    pub async fn inputs(&self) -> Result<BTreeMap<String, pb::Definition>, Failure> {
        if !self.can(caps::FRONTEND_INPUTS) {
            return Ok(BTreeMap::new());
        }
        Ok(self
            .client
            .clone()
            .inputs(gateway::InputsRequest {})
            .await?
            .into_inner()
            .definitions)
    }

    /// Tells the user something. An engine that cannot is not asked to; whether it arrives decides nothing.
    pub async fn warn(&self, warning: Warning) {
        if !self.can(caps::GATEWAY_WARNINGS) {
            return;
        }
        let request = gateway::WarnRequest {
            digest: warning.vertex,
            level: 1,
            short: warning.short.into_bytes(),
            detail: warning.detail.into_iter().map(String::into_bytes).collect(),
            url: warning.url,
            info: warning.file,
            ranges: warning.ranges,
        };
        let _ = self.client.clone().warn(request).await;
    }

    /// Gives the build's answer and closes the connection.
    ///
    /// # Errors
    /// When the engine did not take it: then there is nobody left to tell but the process's exit code.
    pub async fn finish(self, outcome: Outcome) -> io::Result<()> {
        let Self {
            mut client,
            connection,
            ..
        } = self;
        let request = match outcome {
            Ok(built) => accepted(built),
            Err(failure) => refused(failure.into_status()),
        };
        let taken = client.r#return(request).await.map_err(io::Error::other);
        drop(client);
        let closed = connection.closed().await;
        taken?;
        // Once the answer is taken, an engine that hangs up first does no harm.
        let _ = closed;
        Ok(())
    }
}

fn accepted(built: Built) -> gateway::ReturnRequest {
    let wire = |made: Ref| gateway::Ref {
        id: made.id,
        def: None,
    };
    let result = match built.result {
        Refs::One(one) => gateway::result::Result::Ref(wire(one)),
        Refs::Several(several) => gateway::result::Result::Refs(gateway::RefMap {
            refs: several
                .into_iter()
                .map(|(id, made)| (id, wire(made)))
                .collect(),
        }),
    };
    let attestations = built.attestations.into_iter().map(|(id, statements)| {
        let attestation = statements.into_iter().map(stated).collect();
        (id, gateway::Attestations { attestation })
    });
    let result = gateway::Result {
        result: Some(result),
        metadata: built.metadata,
        attestations: attestations.collect(),
    };
    gateway::ReturnRequest {
        result: Some(result),
        error: None,
    }
}

fn stated(statement: Attestation) -> gateway::Attestation {
    gateway::Attestation {
        kind: gateway::AttestationKind::InToto.into(),
        metadata: BTreeMap::from([("inline-only".to_owned(), b"true".to_vec())]),
        r#ref: Some(gateway::Ref {
            id: statement.made.id,
            def: None,
        }),
        path: statement.path,
        in_toto_predicate_type: statement.predicate_type.to_owned(),
        // Without any, the image by each name that the exporter gives it.
        in_toto_subjects: Vec::new(),
    }
}

fn refused(error: rpc::Status) -> gateway::ReturnRequest {
    gateway::ReturnRequest {
        result: None,
        error: Some(error),
    }
}

fn single_ref(answer: gateway::SolveResponse) -> Result<Ref, Failure> {
    use gateway::result::Result as Wire;
    let id = match answer.result.and_then(|result| result.result) {
        Some(Wire::Ref(reference)) => reference.id,
        Some(Wire::RefDeprecated(id)) => id,
        Some(Wire::Refs(_) | Wire::RefsDeprecated(_)) => {
            return Err(Failure::new(
                "the engine gives several results for one definition",
            ));
        }
        None => answer.r#ref,
    };
    Ok(Ref { id })
}

/// The source that an output is.
fn source_of(output: &llb::Output) -> Option<pb::SourceOp> {
    let definition = llb::Definition::new(output);
    let ops = definition.as_pb().def.iter();
    let mut ops = ops.filter_map(|bytes| pb::Op::decode(bytes.as_slice()).ok());
    ops.find_map(|op| match op.op {
        Some(pb::op::Op::Source(source)) => Some(source),
        _ => None,
    })
}
