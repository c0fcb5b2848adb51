//! An engine's side of the bridge, in this process: a gRPC server over a pipe, that does what real engines were
//! seen to do. Solving is lazy; a step that fails, fails when bytes are needed; every call that needs them gets
//! the same error; an error's details may be larger than a usual list of headers.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use frontend::generated::llb_bridge_server::{LlbBridge, LlbBridgeServer};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use llb::proto::gateway::{
    EvaluateRequest, EvaluateResponse, InputsRequest, InputsResponse, PingRequest, PongResponse,
    ReadDirRequest, ReadDirResponse, ReadFileRequest, ReadFileResponse, Ref,
    ResolveImageConfigRequest, ResolveImageConfigResponse, ResolveSourceGitResponse,
    ResolveSourceImageResponse, ResolveSourceMetaRequest, ResolveSourceMetaResponse,
    Result as BuildResult, ReturnRequest, ReturnResponse, SolveRequest, SolveResponse,
    StatFileRequest, StatFileResponse, WarnRequest, WarnResponse, result,
};
use llb::proto::{apicaps::ApiCap, fsutil::Stat, pb, rpc, types::WorkerRecord};
use prost::Message;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::task::JoinHandle;
use tonic::{Code, Request, Response, Status};

const MAX_MESSAGE: usize = 16 << 20;

/// Everything that the engines tested can be asked.
pub(crate) const GATEWAY_CAPS: [&str; 6] = [
    "frontend.inputs",
    "gateway.evaluate",
    "gateway.solve.evaluate",
    "gateway.warnings",
    "readfile",
    "source.metaresolver",
];

/// What the engine is like.
#[derive(Clone, Default)]
pub(crate) struct Script {
    /// Capabilities of the gateway that are enabled.
    pub(crate) gateway_caps: Vec<String>,
    /// Capabilities of ops that are enabled.
    pub(crate) llb_caps: Vec<String>,
    /// Capabilities of ops that are known and turned off.
    pub(crate) disabled_caps: Vec<String>,
    /// Files of the client's local directories: by directory, then by path; nothing stands for a directory.
    pub(crate) locals: BTreeMap<String, BTreeMap<String, Option<Vec<u8>>>>,
    /// Files that everything has that steps make.
    pub(crate) made: BTreeMap<String, Vec<u8>>,
    /// Images by full name.
    pub(crate) images: BTreeMap<String, (String, Vec<u8>)>,
    /// What git sources stand for, by identifier: the ref's object and commit; empty for an engine that cannot say.
    pub(crate) gits: BTreeMap<String, (String, String)>,
    /// Inputs by name.
    pub(crate) inputs: BTreeMap<String, pb::Definition>,
    /// The error of every step: of whatever is not just a source.
    pub(crate) failing: Option<rpc::Status>,
    /// How the names of the steps begin that fail; empty for every step. The error of a named one says which it was.
    pub(crate) failing_step: String,
    /// Making anything takes for ever.
    pub(crate) hangs: bool,
    /// Answers to Solve carry this many bytes more.
    pub(crate) padding: usize,
    /// Ping is refused.
    pub(crate) mute: bool,
}

impl Script {
    /// An engine that can do all that `GATEWAY_CAPS` names.
    pub(crate) fn able() -> Self {
        Self {
            gateway_caps: GATEWAY_CAPS.iter().map(|cap| (*cap).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Puts a file into a local directory.
    pub(crate) fn file(mut self, local: &str, path: &str, data: impl Into<Vec<u8>>) -> Self {
        self.locals
            .entry(local.to_owned())
            .or_default()
            .insert(path.to_owned(), Some(data.into()));
        self
    }

    /// Without one of its capabilities.
    pub(crate) fn without(mut self, cap: &str) -> Self {
        self.gateway_caps.retain(|has| has != cap);
        self
    }
}

/// What the engine was asked.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) solves: Vec<SolveRequest>,
    pub(crate) image_configs: Vec<ResolveImageConfigRequest>,
    pub(crate) source_metas: Vec<ResolveSourceMetaRequest>,
    pub(crate) warnings: Vec<WarnRequest>,
    pub(crate) evaluated: Vec<String>,
    pub(crate) returns: Vec<ReturnRequest>,
    pub(crate) reads: Vec<String>,
    /// Calls that the client gave up.
    pub(crate) cancelled: usize,
}

/// The good-bye of HTTP/2 up to its last two numbers: a frame of 8 bytes, of type 7, for the whole connection.
const GOAWAY: [u8; 9] = [0, 0, 8, 7, 0, 0, 0, 0, 0];

/// An engine's end of the pipe, with the last bytes that came through it.
struct Heard<T> {
    io: T,
    last: Arc<Mutex<Vec<u8>>>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Heard<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let poll = Pin::new(&mut self.io).poll_read(cx, into);
        let mut last = self.last.lock().unwrap();
        last.extend(&into.filled()[before..]);
        let cut = last.len().saturating_sub(GOAWAY.len() + 8);
        last.drain(..cut);
        drop(last);
        poll
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Heard<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// A running engine.
pub(crate) struct Fake {
    log: Arc<Mutex<Log>>,
    last: Arc<Mutex<Vec<u8>>>,
    server: JoinHandle<Result<(), hyper::Error>>,
}

impl Fake {
    /// Starts an engine, and gives the client's end of its pipe.
    pub(crate) fn start(script: Script) -> (Self, DuplexStream) {
        let (client, server) = tokio::io::duplex(64 << 10);
        (Self::on(script, server), client)
    }

    /// Starts an engine on the server's end of a pipe.
    pub(crate) fn on(
        script: Script,
        io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let log = Arc::new(Mutex::new(Log::default()));
        let last = Arc::default();
        let bridge = Bridge {
            script,
            log: Arc::clone(&log),
        };
        let service = LlbBridgeServer::new(bridge)
            .max_decoding_message_size(MAX_MESSAGE)
            .max_encoding_message_size(MAX_MESSAGE);
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(
                TokioIo::new(Heard {
                    io,
                    last: Arc::clone(&last),
                }),
                TowerToHyperService::new(service),
            );
        Self {
            log,
            last,
            server: tokio::spawn(server),
        }
    }

    /// What the engine was asked so far.
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// Waits for the client to hang up; whether it said good-bye first.
    pub(crate) async fn closed_cleanly(self) -> bool {
        self.server.await.unwrap().is_ok() && self.last.lock().unwrap().starts_with(&GOAWAY)
    }
}

struct Bridge {
    script: Script,
    log: Arc<Mutex<Log>>,
}

/// Counts a call whose future is dropped before it was done.
struct Pending(Option<Arc<Mutex<Log>>>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(log) = self.0.take() {
            log.lock().unwrap().cancelled += 1;
        }
    }
}

impl Bridge {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    fn needs(&self, cap: &str) -> Result<(), Status> {
        if self.script.gateway_caps.iter().any(|has| has == cap) {
            Ok(())
        } else {
            Err(Status::unimplemented(format!("{cap} is not known here")))
        }
    }

    fn definition(&self, id: &str) -> Result<pb::Definition, Status> {
        let number = id
            .strip_prefix("ref-")
            .and_then(|n| n.parse::<usize>().ok());
        let log = self.log();
        let solve = number
            .and_then(|n| log.solves.get(n))
            .ok_or_else(|| Status::not_found(format!("no such ref: {id}")))?;
        Ok(solve.definition.clone().unwrap_or_default())
    }

    /// Makes what a ref stands for, and gives the directory it is, if it is just a local one.
    async fn make(&self, id: &str) -> Result<Option<String>, Status> {
        let definition = self.definition(id)?;
        if self.script.hangs {
            let _pending = Pending(Some(Arc::clone(&self.log)));
            std::future::pending::<()>().await;
        }
        for bytes in &definition.def {
            let op = pb::Op::decode(bytes.as_slice()).unwrap();
            let digest = llb::Digest::of(bytes).to_string();
            match op.op {
                Some(pb::op::Op::Source(source)) if definition.def.len() == 2 => {
                    return Ok(source
                        .identifier
                        .strip_prefix("local://")
                        .map(str::to_owned));
                }
                Some(pb::op::Op::Source(_)) | None => {}
                Some(_) => self.run(&definition, &digest)?,
            }
        }
        Ok(None)
    }

    /// Runs one step.
    fn run(&self, definition: &pb::Definition, digest: &str) -> Result<(), Status> {
        let Some(failing) = &self.script.failing else {
            return Ok(());
        };
        let mut failing = failing.clone();
        if !self.script.failing_step.is_empty() {
            let name = definition
                .metadata
                .get(digest)
                .and_then(|m| m.description.get("llb.customname"));
            if !name.is_some_and(|name| name.starts_with(&self.script.failing_step)) {
                return Ok(());
            }
            failing.details.push(prost_types::Any {
                type_url: "github.com/moby/buildkit/errdefs.Vertex+json".to_owned(),
                value: format!(r#"{{"digest":"{digest}"}}"#).into_bytes(),
            });
        }
        let code = Code::from_i32(failing.code);
        Err(Status::with_details(
            code,
            failing.message.clone(),
            failing.encode_to_vec().into(),
        ))
    }

    async fn find(&self, id: &str, path: &str) -> Result<Option<Vec<u8>>, Status> {
        let local = self.make(id).await?;
        if path == "/" {
            return Ok(None);
        }
        let files = local
            .as_ref()
            .and_then(|local| self.script.locals.get(local));
        let below = format!("{path}/");
        if files.is_some_and(|files| files.keys().any(|file| file.starts_with(&below))) {
            return Ok(None);
        }
        let file = match local {
            Some(_) => files.and_then(|files| files.get(path).cloned()),
            None => self.script.made.get(path).cloned().map(Some),
        };
        file.ok_or_else(|| Status::unknown(format!("open {path}: no such file or directory")))
    }
}

#[tonic::async_trait]
impl LlbBridge for Bridge {
    async fn ping(&self, _: Request<PingRequest>) -> Result<Response<PongResponse>, Status> {
        if self.script.mute {
            return Err(Status::unavailable("no time"));
        }
        let cap = |id: &String, enabled| ApiCap {
            id: id.clone(),
            enabled,
            disabled_reason_msg: if enabled {
                String::new()
            } else {
                "turned off here".to_owned()
            },
            ..ApiCap::default()
        };
        let platform = pb::Platform {
            os: "linux".into(),
            architecture: "amd64".into(),
            ..pb::Platform::default()
        };
        Ok(Response::new(PongResponse {
            frontend_api_caps: self
                .script
                .gateway_caps
                .iter()
                .map(|id| cap(id, true))
                .collect(),
            llb_caps: self
                .script
                .llb_caps
                .iter()
                .map(|id| cap(id, true))
                .chain(self.script.disabled_caps.iter().map(|id| cap(id, false)))
                .collect(),
            workers: vec![WorkerRecord {
                platforms: vec![platform],
                ..WorkerRecord::default()
            }],
        }))
    }

    async fn solve(
        &self,
        request: Request<SolveRequest>,
    ) -> Result<Response<SolveResponse>, Status> {
        let request = request.into_inner();
        let evaluate = request.evaluate;
        if evaluate {
            self.needs("gateway.solve.evaluate")?;
        }
        if request
            .definition
            .as_ref()
            .is_some_and(|definition| definition.def.len() < 2)
        {
            return Err(Status::unknown(
                "failed to load LLB: invalid LLB with too few vertexes",
            ));
        }
        let mut def = request.definition.clone();
        if let Some(def) = &mut def {
            def.def.push(vec![0; self.script.padding]);
        }
        let id = {
            let mut log = self.log();
            log.solves.push(request);
            format!("ref-{}", log.solves.len() - 1)
        };
        if evaluate {
            self.make(&id).await?;
            self.log().evaluated.push(id.clone());
        }
        let result = BuildResult {
            result: Some(result::Result::Ref(Ref { id, def })),
            ..BuildResult::default()
        };
        Ok(Response::new(SolveResponse {
            result: Some(result),
            ..SolveResponse::default()
        }))
    }

    async fn evaluate(
        &self,
        request: Request<EvaluateRequest>,
    ) -> Result<Response<EvaluateResponse>, Status> {
        self.needs("gateway.evaluate")?;
        let id = request.into_inner().r#ref;
        self.make(&id).await?;
        self.log().evaluated.push(id);
        Ok(Response::new(EvaluateResponse {}))
    }

    async fn read_file(
        &self,
        request: Request<ReadFileRequest>,
    ) -> Result<Response<ReadFileResponse>, Status> {
        let request = request.into_inner();
        self.log().reads.push(request.file_path.clone());
        match self.find(&request.r#ref, &request.file_path).await? {
            Some(data) => {
                let whole = data.len();
                let number = |n: i64| usize::try_from(n).unwrap_or(0);
                let (start, length) = match request.range {
                    Some(range) => (number(range.offset).min(whole), number(range.length)),
                    None => (0, whole),
                };
                let data = data[start..start.saturating_add(length).min(whole)].to_vec();
                Ok(Response::new(ReadFileResponse { data }))
            }
            None => Err(Status::unknown(format!(
                "{} is not a regular file",
                request.file_path
            ))),
        }
    }

    async fn stat_file(
        &self,
        request: Request<StatFileRequest>,
    ) -> Result<Response<StatFileResponse>, Status> {
        let request = request.into_inner();
        let file = self.find(&request.r#ref, &request.path).await?;
        let stat = match file {
            Some(data) => Stat {
                mode: 0o644,
                size: i64::try_from(data.len()).unwrap(),
                ..Stat::default()
            },
            None => Stat {
                mode: 1 << 31 | 0o755,
                ..Stat::default()
            },
        };
        Ok(Response::new(StatFileResponse { stat: Some(stat) }))
    }

    async fn read_dir(
        &self,
        request: Request<ReadDirRequest>,
    ) -> Result<Response<ReadDirResponse>, Status> {
        let request = request.into_inner();
        let local = self.make(&request.r#ref).await?;
        let files = local.and_then(|local| self.script.locals.get(&local));
        let prefix = match request.dir_path.as_str() {
            "" => String::new(),
            path => format!("{path}/"),
        };
        let below = files.into_iter().flat_map(|files| files.keys());
        let below = below.filter_map(|path| path.strip_prefix(&prefix));
        let names: BTreeMap<&str, bool> = below
            .map(|rest| match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            })
            .collect();
        if names.is_empty() {
            return Err(Status::unknown(format!(
                "lstat {prefix}: no such file or directory"
            )));
        }
        let stat = |(name, directory): (&str, bool)| Stat {
            path: name.to_owned(),
            mode: if directory { 1 << 31 | 0o755 } else { 0o644 },
            ..Stat::default()
        };
        Ok(Response::new(ReadDirResponse {
            entries: names.into_iter().map(stat).collect(),
        }))
    }

    async fn resolve_image_config(
        &self,
        request: Request<ResolveImageConfigRequest>,
    ) -> Result<Response<ResolveImageConfigResponse>, Status> {
        let request = request.into_inner();
        let name = request.r#ref.clone();
        self.log().image_configs.push(request);
        let (digest, config) = self
            .script
            .images
            .get(&name)
            .ok_or_else(|| Status::not_found(format!("{name}: not found")))?;
        Ok(Response::new(ResolveImageConfigResponse {
            digest: digest.clone(),
            config: config.clone(),
            r#ref: name,
        }))
    }

    async fn resolve_source_meta(
        &self,
        request: Request<ResolveSourceMetaRequest>,
    ) -> Result<Response<ResolveSourceMetaResponse>, Status> {
        self.needs("source.metaresolver")?;
        let request = request.into_inner();
        let source = request.source.clone().unwrap_or_default();
        self.log().source_metas.push(request);
        if source.identifier.starts_with("git://") {
            let (checksum, commit_checksum) = self
                .script
                .gits
                .get(&source.identifier)
                .cloned()
                .ok_or_else(|| Status::not_found(format!("{}: not found", source.identifier)))?;
            let git = ResolveSourceGitResponse {
                checksum,
                commit_checksum,
                ..ResolveSourceGitResponse::default()
            };
            return Ok(Response::new(ResolveSourceMetaResponse {
                source: Some(source),
                git: Some(git),
                ..ResolveSourceMetaResponse::default()
            }));
        }
        let name = source
            .identifier
            .split_once("://")
            .map(|(_, name)| name.to_owned())
            .unwrap_or_default();
        let (digest, config) = self
            .script
            .images
            .get(&name)
            .ok_or_else(|| Status::not_found(format!("{name}: not found")))?;
        let image = ResolveSourceImageResponse {
            digest: digest.clone(),
            config: config.clone(),
        };
        Ok(Response::new(ResolveSourceMetaResponse {
            source: Some(source),
            image: Some(image),
            ..ResolveSourceMetaResponse::default()
        }))
    }

    async fn inputs(&self, _: Request<InputsRequest>) -> Result<Response<InputsResponse>, Status> {
        self.needs("frontend.inputs")?;
        Ok(Response::new(InputsResponse {
            definitions: self.script.inputs.clone(),
        }))
    }

    async fn warn(&self, request: Request<WarnRequest>) -> Result<Response<WarnResponse>, Status> {
        self.needs("gateway.warnings")?;
        self.log().warnings.push(request.into_inner());
        Ok(Response::new(WarnResponse {}))
    }

    async fn r#return(
        &self,
        request: Request<ReturnRequest>,
    ) -> Result<Response<ReturnResponse>, Status> {
        let request = request.into_inner();
        let mut log = self.log();
        if !log.returns.is_empty() {
            return Err(Status::unknown("gateway result is already set"));
        }
        assert!(
            request.result.is_some() != request.error.is_some(),
            "an answer that kills an engine"
        );
        assert!(
            request.error.as_ref().is_none_or(|error| error.code != 0),
            "an answer that is neither"
        );
        log.returns.push(request);
        Ok(Response::new(ReturnResponse {}))
    }
}
