//! The gateway process: a frontend that an engine starts, talks to over standard input and output, and that
//! gives exactly one answer.

pub mod bridge;
pub mod error;
pub mod frontend_image;
pub mod join;
pub mod opts;
pub mod transport;
pub(crate) mod wrong;

use std::any::Any;
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::ExitCode;
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

/// The whole gateway process: serves one build on standard input and output, and gives the process's exit code.
/// That is 0 once the engine took the answer, whatever the answer was: a failed build is one too.
pub fn process(build: impl AsyncFnOnce(&Bridge) -> Outcome) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return unserved(&error),
    };
    let served = runtime.block_on(serve(transport::stdio(), build));
    // Standard input is read by a thread that nothing can stop; waiting for it would hang.
    runtime.shutdown_background();
    served.map_or_else(|error| unserved(&error), |()| ExitCode::SUCCESS)
}

fn unserved(error: &io::Error) -> ExitCode {
    // The engine's log is all that is left.
    eprintln!("lanekit: {error}");
    ExitCode::FAILURE
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
