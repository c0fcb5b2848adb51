//! What a graph holds and what a request comes to, as data and as text for people. A view decides nothing.

pub mod graph;
mod outline;
mod payloads;
mod plan;
mod table;
mod tags;
mod targets;

pub use outline::{Outline, OutlineArg, OutlineCache, OutlineSecret, outline};
pub use payloads::{PayloadRow, payloads};
pub use plan::{Input, inputs, plan_json, plan_text};
pub use table::Table;
pub use tags::{TagRow, check_tags, tags};
pub use targets::{Listed, targets, targets_text};
