//! BuildKit's wire types, generated from `llb/proto/` by `cargo xtask codegen`.
//!
//! All maps are ordered. The text is included, not compiled as modules, so that
//! the formatter leaves it as the generator wrote it; its comments are those of
//! the schema, which does not repeat what a name says, so docs may be missing.

/// LLB: ops, their metadata, definitions, source maps (`solver/pb/ops.proto`).
#[allow(missing_docs, clippy::all)]
pub mod pb {
    include!("generated/pb.rs");
}

/// The gateway's messages (`frontend/gateway/pb/gateway.proto`). Its client and
/// server are generated where gRPC is, in the frontend.
#[allow(missing_docs, clippy::all)]
pub mod gateway {
    include!("generated/gateway.rs");
}

/// Workers (`api/types/worker.proto`).
#[allow(missing_docs, clippy::all)]
pub mod types {
    include!("generated/types.rs");
}

/// Capabilities (`util/apicaps/pb/caps.proto`).
#[allow(missing_docs, clippy::all)]
pub mod apicaps {
    include!("generated/apicaps.rs");
}

/// File attributes (`fsutil` `types/stat.proto`).
#[allow(missing_docs, clippy::all)]
pub mod fsutil {
    include!("generated/fsutil.rs");
}

/// Errors with details (`google.rpc.Status`).
#[allow(missing_docs, clippy::all)]
pub mod rpc {
    include!("generated/rpc.rs");
}
