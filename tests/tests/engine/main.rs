//! What only an engine can show.

#[allow(
    dead_code,
    reason = "another test's helpers, of which this one takes some"
)]
#[path = "../../../stages/tests/lanefile/common.rs"]
mod common;
#[allow(
    dead_code,
    reason = "another test's helpers, of which this one takes some"
)]
#[path = "../../../stages/tests/windows_media/example.rs"]
mod example;

mod arguments;
mod attestations;
mod bad_input;
mod contexts;
mod external;
mod gate_cases;
mod gates;
mod git;
mod image;
mod inputs;
mod keys;
mod media_mini;
mod options;
mod payloads;
mod products;
mod protocol;
mod steps;
mod stories;
mod trees;
mod windows;
