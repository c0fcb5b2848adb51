//! A graph as data for people and tools: what there is, before anything is built.

mod tags;

pub use tags::{TagRow, check_tags, tags};
