//! Work over many files at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::exit::Failure;
use crate::walk;

/// Applies `work` to all files on all cores; results come in the files' order.
///
/// # Errors
/// The first failure in the files' order.
pub fn in_parallel<T: Send>(
    files: &[walk::File],
    work: impl Fn(&walk::File) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(usize, Result<T, Failure>)> = std::thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = files.get(index) else {
                    return done;
                };
                done.push((index, work(file)));
            }
        };
        let helpers: Vec<_> = (1..cores.min(files.len()))
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, run))
            .collect();
        let mut all = run();
        // A thread that could not start costs speed only: the others take its files.
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
