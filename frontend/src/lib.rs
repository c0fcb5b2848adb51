//! The ways in.
//!
//! [`gateway`] is the frontend that an engine starts in a container; `command` is what a person types, and not in
//! that container's image.

pub mod build;
#[cfg(feature = "cli")]
pub mod command;
#[cfg(feature = "cli")]
pub mod contents;
pub mod gateway;
pub mod lanefile;
#[cfg(feature = "cli")]
pub mod ledger;
#[cfg(feature = "cli")]
pub mod payloads;
pub mod policies;
#[cfg(feature = "cli")]
pub mod progress;
#[cfg(feature = "cli")]
pub mod repro;
pub mod rules;

/// The gRPC client and server of the engine's bridge, generated from `llb/proto/gateway.proto`.
/// The text is included, not compiled as a module, so that the formatter leaves it as it was written.
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub, unused_qualifications, clippy::all)]
pub mod generated {
    include!("generated/llb_bridge.rs");
}
