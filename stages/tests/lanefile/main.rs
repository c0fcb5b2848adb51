//! Lane files on their way through the crate: to errors, and to LLB.

mod checklist;
mod common;
mod discipline;
mod docs;
mod errors;
mod examples;
mod fetches;
mod gates;
mod gits;
mod hosts;
mod incidents;
mod instances;
mod keys;
mod language;
mod lints;
mod llb;
mod mounts;
mod output;
mod payloads;
mod pictures;
mod properties;
mod table;
mod tags;
mod trees;
mod values;
mod windows;
