// @generated from llb/proto/caps.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// One capability. One that is not listed is not there.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ApiCap {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    /// Known, and may be used.
    #[prost(bool, tag = "2")]
    pub enabled: bool,
    #[prost(bool, tag = "3")]
    pub deprecated: bool,
    /// For programs.
    #[prost(string, tag = "4")]
    pub disabled_reason: ::prost::alloc::string::String,
    /// For people.
    #[prost(string, tag = "5")]
    pub disabled_reason_msg: ::prost::alloc::string::String,
    #[prost(string, tag = "6")]
    pub disabled_alternative: ::prost::alloc::string::String,
}
