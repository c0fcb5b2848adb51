//! From a lane file to LLB, in one direction:
//!
//! ```text
//! lanes.toml, versions.env
//!    │  file     text → declared tables, each value with its span
//!    ▼
//! graph           names checked, every lane at once, all errors collected
//!    │  select    one lane and output, with the caller's arguments
//!    ▼
//! plan            the stages, steps and gates of that output with their exact inputs
//!    ▼
//! lower           typed ops: the one place that knows LLB
//! ```
//!
//! [`view`] shows graphs and plans to people and tools.
//!
//! Nothing here touches the network, a clock or the disk: callers hand in texts
//! ([`diag::Sources`]) and what the engine told them ([`plan::Facts`]).
//! What is wrong comes back as a [`diag::Report`]: everything at once, with lines.

pub mod arch;
pub mod diag;
pub mod explain;
pub mod file;
pub mod graph;
pub mod ignore;
pub mod impact;
pub mod keys;
mod lookup;
pub mod lower;
pub mod plan;
pub mod predefined;
pub mod text;
pub mod view;

use std::panic::resume_unwind;
use std::thread;

/// Two things that are found at the same time, the first one in a thread of its own.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        let one = one.join();
        (one.unwrap_or_else(|panic| resume_unwind(panic)), other)
    })
}
