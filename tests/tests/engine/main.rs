//! What only an engine can show.

mod bad_input;
mod contexts;
mod gate_cases;
mod gates;
mod git;
mod image;
mod keys;
mod media_mini;
mod options;
mod payloads;
mod products;
mod protocol;
mod steps;
mod stories;
mod trees;
