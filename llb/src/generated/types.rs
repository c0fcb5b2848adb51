// @generated from llb/proto/worker.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// One worker.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct WorkerRecord {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub labels: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
    /// The first one is the worker's own.
    #[prost(message, repeated, tag = "3")]
    pub platforms: ::prost::alloc::vec::Vec<crate::proto::pb::Platform>,
    #[prost(message, repeated, tag = "4")]
    pub gc_policy: ::prost::alloc::vec::Vec<GcPolicy>,
    #[prost(message, optional, tag = "5")]
    pub buildkit_version: ::core::option::Option<BuildkitVersion>,
    #[prost(message, repeated, tag = "6")]
    pub cdi_devices: ::prost::alloc::vec::Vec<CdiDevice>,
}
/// One rule of the garbage collector.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct GcPolicy {
    #[prost(bool, tag = "1")]
    pub all: bool,
    /// Nanoseconds.
    #[prost(int64, tag = "2")]
    pub keep_duration: i64,
    /// Bytes.
    #[prost(int64, tag = "3")]
    pub reserved_space: i64,
    #[prost(string, repeated, tag = "4")]
    pub filters: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    /// Bytes.
    #[prost(int64, tag = "5")]
    pub max_used_space: i64,
    /// Bytes.
    #[prost(int64, tag = "6")]
    pub min_free_space: i64,
}
/// Who the engine says it is.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct BuildkitVersion {
    #[prost(string, tag = "1")]
    pub package: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub version: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub revision: ::prost::alloc::string::String,
    #[prost(string, tag = "4")]
    pub dockerfile_version: ::prost::alloc::string::String,
}
/// A device that steps may ask for.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CdiDevice {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(bool, tag = "2")]
    pub auto_allow: bool,
    #[prost(btree_map = "string, string", tag = "3")]
    pub annotations: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
    #[prost(bool, tag = "4")]
    pub on_demand: bool,
}
