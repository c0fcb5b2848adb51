//! What the tests with an engine share: the engine that `cargo xtask test --only engine` set up,
//! copies of the examples to change, and builds whose progress is read.

mod build;
mod example;
mod image;
mod lanekit;
pub mod layout;
mod said;
mod setup;

pub use build::{Build, Outcome, Vertex};
pub use example::{Example, nonce};
pub use image::image;
pub use lanekit::{Answer, Lanekit};
pub use said::{Said, buildx};
pub use setup::{Engine, Setup, docker, skipped};
