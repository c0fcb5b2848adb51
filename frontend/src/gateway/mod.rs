//! The gateway process: a frontend that an engine starts, talks to over standard input and output, and that
//! gives exactly one answer.

pub mod bridge;
pub mod error;
pub mod opts;
pub mod platform;
pub mod reference;
pub mod transport;

use std::any::Any;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use bridge::{Bridge, Outcome};
use error::Failure;

/// Opens the bridge on `io`, runs `build` on it, and returns what comes of it; a panic of `build` too.
///
/// # Errors
/// When the engine could not be talked to or did not take the answer.
pub async fn serve<T>(io: T, build: impl AsyncFnOnce(&Bridge) -> Outcome) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let bridge = Bridge::open(io).await?;
    let outcome = caught(build(&bridge)).await;
    bridge.finish(outcome.unwrap_or_else(Err)).await
}

/// Runs a future; a panic in it becomes a failure. The panic's text is on standard error already, by the hook.
async fn caught<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(bug(panic.as_ref()))),
        },
    )
    .await
}

fn bug(panic: &(dyn Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned());
    Failure::new(format!("lanekit has a bug, please report it: {text}"))
}
