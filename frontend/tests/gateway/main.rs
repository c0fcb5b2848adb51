//! The gateway against an engine's side of the bridge in this process.
#![allow(missing_docs, clippy::unwrap_used)]

mod bridge;
mod contexts;
mod demands;
mod fake;
mod flow;
mod gits;
mod payloads;
mod process;
mod requests;
