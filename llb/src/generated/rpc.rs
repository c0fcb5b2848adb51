// @generated from llb/proto/status.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// One error.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Status {
    /// A gRPC code; never 0.
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: ::prost::alloc::string::String,
    /// BuildKit puts JSON, not protobuf, into the values.
    #[prost(message, repeated, tag = "3")]
    pub details: ::prost::alloc::vec::Vec<::prost_types::Any>,
}
