//! The one connection of a gateway process: HTTP/2 over its standard input and output.
//!
//! The engine is the server, without TLS. It is there from the start and comes only once, so there is nothing to
//! connect to again: the connection is made here, and its end can be waited for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic::codegen::{Service, http};

/// The largest message that engines take or send, in bytes (containerd's `DefaultMaxRecvMsgSize`).
pub const MAX_MESSAGE: usize = 16 << 20;
/// The largest list of headers or trailers, in bytes. An error's details come in a trailer and hold the whole
/// lane file; what is larger than this kills the connection, and with the usual 16 KiB that is nearly every file.
pub const MAX_HEADERS: u32 = 16 << 20;
/// How long an engine may take to read our good-bye.
const CLOSE_WITHIN: Duration = Duration::from_secs(2);

/// The engine, as a gRPC client sees it.
#[derive(Clone)]
pub struct Engine {
    sender: http2::SendRequest<Body>,
}

/// The connection under all clones of an [`Engine`].
pub struct Connection(Tasks);

/// What hyper does in the background: one task reads and writes, and only its end says that all is written.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        self.all().spawn(task);
    }
}

impl Tasks {
    fn all(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ended(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *self.all());
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }
}

/// The process's own standard input and output as one stream.
#[must_use]
pub fn stdio() -> impl AsyncRead + AsyncWrite + Send + Unpin + 'static {
    tokio::io::join(tokio::io::stdin(), tokio::io::stdout())
}

/// Opens HTTP/2 on `io`.
///
/// # Errors
/// When nobody can be talked to there.
pub async fn connect<T>(io: T) -> io::Result<(Engine, Connection)>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let tasks = Tasks::default();
    let (sender, dispatch) = http2::Builder::new(tasks.clone())
        .max_header_list_size(MAX_HEADERS)
        .handshake(TokioIo::new(io))
        .await
        .map_err(io::Error::other)?;
    tasks.execute(async {
        // When this fails, the calls that wait for it fail with the reason.
        let _ = dispatch.await;
    });
    Ok((Engine { sender }, Connection(tasks)))
}

impl Connection {
    /// Waits until our good-bye is written; every [`Engine`] of it must be gone. A process that ends earlier may
    /// cut off the last words that it said.
    ///
    /// # Errors
    /// When the engine does not read.
    pub async fn closed(self) -> io::Result<()> {
        tokio::time::timeout(CLOSE_WITHIN, self.0.ended())
            .await
            .map_err(io::Error::from)
    }
}

impl Service<http::Request<Body>> for Engine {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.sender.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.sender.send_request(request))
    }
}
