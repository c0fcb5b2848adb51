//! Several calls at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Waits for all of them; what they give stands in their order.
pub async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    enum State<F: Future> {
        Running(Pin<Box<F>>),
        Done(Option<F::Output>),
    }
    let mut states: Vec<State<F>> = futures
        .into_iter()
        .map(|future| State::Running(Box::pin(future)))
        .collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for state in &mut states {
            if let State::Running(future) = state {
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => *state = State::Done(Some(output)),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    let done = |state| match state {
        State::Done(output) => output,
        State::Running(_) => None,
    };
    states.into_iter().filter_map(done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn they_run_at_once_and_stand_in_order() {
        let start = tokio::time::Instant::now();
        let wait = |n: u64| async move {
            tokio::time::sleep(Duration::from_secs(10 - n)).await;
            n
        };
        assert_eq!(join_all((0..5).map(wait)).await, [0, 1, 2, 3, 4]);
        assert_eq!(start.elapsed(), Duration::from_secs(10));
        assert!(
            join_all(Vec::<std::future::Ready<()>>::new())
                .await
                .is_empty()
        );
    }
}
