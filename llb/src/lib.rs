//! BuildKit's LLB: wire types, typed ops and canonical bytes.

pub mod proto;
