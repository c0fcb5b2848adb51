//! Work over many things at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exit::Failure;

/// Applies `work` to all items on all cores; results come in the items' order.
///
/// # Errors
/// The first failure in the items' order.
pub fn in_parallel<'i, I: Sync, T: Send>(
    items: &'i [I],
    work: impl Fn(&'i I) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, Result<T, Failure>)> = std::thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else {
                    return done;
                };
                done.push((index, work(item)));
            }
        };
        let helpers: Vec<_> = (1..cores.min(items.len()))
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, run))
            .collect();
        let mut all = run();
        // A thread that could not start costs speed only: the others take its items.
        for helper in helpers.into_iter().flatten() {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(_) => all.push((0, Err(Failure::Unreadable("a thread died".to_owned())))),
            }
        }
        all
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
