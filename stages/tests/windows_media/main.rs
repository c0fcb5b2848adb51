//! `examples/windows-media`, held against what is known of the system that it describes. It cannot
//! run here, so its structure is the proof.

#[allow(
    dead_code,
    reason = "another test's helpers, of which this one takes some"
)]
#[path = "../lanefile/common.rs"]
mod common;
mod example;

mod breakages;
mod costs;
mod discipline;
mod edges;
mod floors;
mod gates;
mod llb;
mod plans;
mod policies;
mod systems;
mod tags;
mod twin;
