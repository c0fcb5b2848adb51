// @generated from llb/proto/gateway.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// What a build gives.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Result {
    #[prost(btree_map = "string, bytes", tag = "10")]
    pub metadata: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::vec::Vec<u8>,
    >,
    /// By platform.
    #[prost(btree_map = "string, message", tag = "12")]
    pub attestations: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        Attestations,
    >,
    #[prost(oneof = "result::Result", tags = "1, 2, 3, 4")]
    pub result: ::core::option::Option<result::Result>,
}
/// Nested message and enum types in `Result`.
pub mod result {
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Result {
        /// Of old servers.
        #[prost(string, tag = "1")]
        RefDeprecated(::prost::alloc::string::String),
        /// Of old servers.
        #[prost(message, tag = "2")]
        RefsDeprecated(super::RefMapDeprecated),
        #[prost(message, tag = "3")]
        Ref(super::Ref),
        /// By platform.
        #[prost(message, tag = "4")]
        Refs(super::RefMap),
    }
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct RefMapDeprecated {
    #[prost(btree_map = "string, string", tag = "1")]
    pub refs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
/// A handle to a result in the engine. An empty id is an empty file system.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Ref {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    /// The graph, sent back by the server.
    #[prost(message, optional, tag = "2")]
    pub def: ::core::option::Option<crate::proto::pb::Definition>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct RefMap {
    #[prost(btree_map = "string, message", tag = "1")]
    pub refs: ::prost::alloc::collections::BTreeMap<::prost::alloc::string::String, Ref>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Attestations {
    #[prost(message, repeated, tag = "1")]
    pub attestation: ::prost::alloc::vec::Vec<Attestation>,
}
/// A statement about the result: a file of a ref.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Attestation {
    #[prost(enumeration = "AttestationKind", tag = "1")]
    pub kind: i32,
    #[prost(btree_map = "string, bytes", tag = "2")]
    pub metadata: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::vec::Vec<u8>,
    >,
    #[prost(message, optional, tag = "3")]
    pub r#ref: ::core::option::Option<Ref>,
    #[prost(string, tag = "4")]
    pub path: ::prost::alloc::string::String,
    #[prost(string, tag = "5")]
    pub in_toto_predicate_type: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "6")]
    pub in_toto_subjects: ::prost::alloc::vec::Vec<InTotoSubject>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct InTotoSubject {
    #[prost(enumeration = "InTotoSubjectKind", tag = "1")]
    pub kind: i32,
    #[prost(string, repeated, tag = "2")]
    pub digest: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(string, tag = "3")]
    pub name: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReturnRequest {
    #[prost(message, optional, tag = "1")]
    pub result: ::core::option::Option<Result>,
    /// Its code must not be 0.
    #[prost(message, optional, tag = "2")]
    pub error: ::core::option::Option<crate::proto::rpc::Status>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ReturnResponse {}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct InputsRequest {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct InputsResponse {
    #[prost(btree_map = "string, message", tag = "1")]
    pub definitions: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        crate::proto::pb::Definition,
    >,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveImageConfigRequest {
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "2")]
    pub platform: ::core::option::Option<crate::proto::pb::Platform>,
    #[prost(string, tag = "3")]
    pub resolve_mode: ::prost::alloc::string::String,
    /// Shown in the progress.
    #[prost(string, tag = "4")]
    pub log_name: ::prost::alloc::string::String,
    /// 0: a registry, 1: an OCI layout.
    #[prost(int32, tag = "5")]
    pub resolver_type: i32,
    #[prost(string, tag = "6")]
    pub session_id: ::prost::alloc::string::String,
    #[prost(string, tag = "7")]
    pub store_id: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveImageConfigResponse {
    #[prost(string, tag = "1")]
    pub digest: ::prost::alloc::string::String,
    /// JSON of the OCI image config.
    #[prost(bytes = "vec", tag = "2")]
    pub config: ::prost::alloc::vec::Vec<u8>,
    #[prost(string, tag = "3")]
    pub r#ref: ::prost::alloc::string::String,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ResolveSourceMetaRequest {
    #[prost(message, optional, tag = "1")]
    pub source: ::core::option::Option<crate::proto::pb::SourceOp>,
    #[prost(message, optional, tag = "2")]
    pub platform: ::core::option::Option<crate::proto::pb::Platform>,
    /// Shown in the progress.
    #[prost(string, tag = "3")]
    pub log_name: ::prost::alloc::string::String,
    #[prost(string, tag = "4")]
    pub resolve_mode: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "5")]
    pub git: ::core::option::Option<ResolveSourceGitRequest>,
    #[prost(message, optional, tag = "6")]
    pub image: ::core::option::Option<ResolveSourceImageRequest>,
    #[prost(message, optional, tag = "7")]
    pub http: ::core::option::Option<ResolveSourceHttpRequest>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ResolveSourceMetaResponse {
    #[prost(message, optional, tag = "1")]
    pub source: ::core::option::Option<crate::proto::pb::SourceOp>,
    #[prost(message, optional, tag = "2")]
    pub image: ::core::option::Option<ResolveSourceImageResponse>,
    #[prost(message, optional, tag = "3")]
    pub git: ::core::option::Option<ResolveSourceGitResponse>,
    #[prost(message, optional, tag = "4")]
    pub http: ::core::option::Option<ResolveSourceHttpResponse>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceImageRequest {
    #[prost(bool, tag = "1")]
    pub no_config: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceImageResponse {
    #[prost(string, tag = "1")]
    pub digest: ::prost::alloc::string::String,
    /// JSON of the OCI image config.
    #[prost(bytes = "vec", tag = "2")]
    pub config: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceGitRequest {
    /// Also give the bytes of commit and tag.
    #[prost(bool, tag = "1")]
    pub return_object: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceGitResponse {
    #[prost(string, tag = "1")]
    pub checksum: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub commit_checksum: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "4")]
    pub commit_object: ::prost::alloc::vec::Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    pub tag_object: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceHttpRequest {
    #[prost(message, optional, tag = "1")]
    pub checksum_request: ::core::option::Option<ChecksumRequest>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ResolveSourceHttpResponse {
    #[prost(string, tag = "1")]
    pub checksum: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub filename: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub last_modified: ::core::option::Option<::prost_types::Timestamp>,
    #[prost(message, optional, tag = "4")]
    pub checksum_response: ::core::option::Option<ChecksumResponse>,
}
/// Asks for another checksum of the same bytes.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ChecksumRequest {
    #[prost(enumeration = "checksum_request::ChecksumAlgo", tag = "1")]
    pub algo: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub suffix: ::prost::alloc::vec::Vec<u8>,
}
/// Nested message and enum types in `ChecksumRequest`.
pub mod checksum_request {
    #[derive(
        Clone,
        Copy,
        Debug,
        PartialEq,
        Eq,
        Hash,
        PartialOrd,
        Ord,
        ::prost::Enumeration
    )]
    #[repr(i32)]
    pub enum ChecksumAlgo {
        Sha256 = 0,
        Sha384 = 1,
        Sha512 = 2,
    }
    impl ChecksumAlgo {
        /// String value of the enum field names used in the ProtoBuf definition.
        ///
        /// The values are not transformed in any way and thus are considered stable
        /// (if the ProtoBuf definition does not change) and safe for programmatic use.
        pub fn as_str_name(&self) -> &'static str {
            match self {
                Self::Sha256 => "CHECKSUM_ALGO_SHA256",
                Self::Sha384 => "CHECKSUM_ALGO_SHA384",
                Self::Sha512 => "CHECKSUM_ALGO_SHA512",
            }
        }
        /// Creates an enum from field names used in the ProtoBuf definition.
        pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
            match value {
                "CHECKSUM_ALGO_SHA256" => Some(Self::Sha256),
                "CHECKSUM_ALGO_SHA384" => Some(Self::Sha384),
                "CHECKSUM_ALGO_SHA512" => Some(Self::Sha512),
                _ => None,
            }
        }
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ChecksumResponse {
    #[prost(string, tag = "1")]
    pub digest: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "2")]
    pub suffix: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SolveRequest {
    #[prost(message, optional, tag = "1")]
    pub definition: ::core::option::Option<crate::proto::pb::Definition>,
    /// Another frontend, instead of a definition.
    #[prost(string, tag = "2")]
    pub frontend: ::prost::alloc::string::String,
    #[prost(btree_map = "string, string", tag = "3")]
    pub frontend_opt: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
    /// 4 was removed.
    /// Always true: the answer is `result`.
    #[prost(bool, tag = "5")]
    pub allow_result_return: bool,
    /// Always true: refs come as `Ref`.
    #[prost(bool, tag = "6")]
    pub allow_result_array_ref: bool,
    /// Of old clients.
    #[prost(bool, tag = "10")]
    pub r#final: bool,
    /// Of old clients.
    #[prost(bytes = "vec", tag = "11")]
    pub exporter_attr: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, repeated, tag = "12")]
    pub cache_imports: ::prost::alloc::vec::Vec<CacheOptionsEntry>,
    #[prost(btree_map = "string, message", tag = "13")]
    pub frontend_inputs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        crate::proto::pb::Definition,
    >,
    /// Run before answering.
    #[prost(bool, tag = "14")]
    pub evaluate: bool,
}
/// One place to import cache from.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct CacheOptionsEntry {
    #[prost(string, tag = "1")]
    pub r#type: ::prost::alloc::string::String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub attrs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SolveResponse {
    /// Of old servers.
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub result: ::core::option::Option<Result>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ReadFileRequest {
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub file_path: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub range: ::core::option::Option<FileRange>,
    #[prost(int32, tag = "4")]
    pub mount_index: i32,
}
/// Bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileRange {
    #[prost(int64, tag = "1")]
    pub offset: i64,
    /// 0: to the end.
    #[prost(int64, tag = "2")]
    pub length: i64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ReadFileResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub data: ::prost::alloc::vec::Vec<u8>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ReadDirRequest {
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub dir_path: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub include_pattern: ::prost::alloc::string::String,
    #[prost(int32, tag = "4")]
    pub mount_index: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ReadDirResponse {
    #[prost(message, repeated, tag = "1")]
    pub entries: ::prost::alloc::vec::Vec<crate::proto::fsutil::Stat>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct StatFileRequest {
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub path: ::prost::alloc::string::String,
    #[prost(int32, tag = "3")]
    pub mount_index: i32,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct StatFileResponse {
    #[prost(message, optional, tag = "1")]
    pub stat: ::core::option::Option<crate::proto::fsutil::Stat>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct EvaluateRequest {
    #[prost(string, tag = "1")]
    pub r#ref: ::prost::alloc::string::String,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct EvaluateResponse {}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct PingRequest {}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct PongResponse {
    #[prost(message, repeated, tag = "1")]
    pub frontend_api_caps: ::prost::alloc::vec::Vec<crate::proto::apicaps::ApiCap>,
    #[prost(message, repeated, tag = "2")]
    pub llb_caps: ::prost::alloc::vec::Vec<crate::proto::apicaps::ApiCap>,
    #[prost(message, repeated, tag = "3")]
    pub workers: ::prost::alloc::vec::Vec<crate::proto::types::WorkerRecord>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct WarnRequest {
    /// Of a vertex that the build knows.
    #[prost(string, tag = "1")]
    pub digest: ::prost::alloc::string::String,
    #[prost(int64, tag = "2")]
    pub level: i64,
    /// One line.
    #[prost(bytes = "vec", tag = "3")]
    pub short: ::prost::alloc::vec::Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "4")]
    pub detail: ::prost::alloc::vec::Vec<::prost::alloc::vec::Vec<u8>>,
    #[prost(string, tag = "5")]
    pub url: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "6")]
    pub info: ::core::option::Option<crate::proto::pb::SourceInfo>,
    #[prost(message, repeated, tag = "7")]
    pub ranges: ::prost::alloc::vec::Vec<crate::proto::pb::Range>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct WarnResponse {}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum AttestationKind {
    InToto = 0,
    Bundle = 1,
}
impl AttestationKind {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::InToto => "InToto",
            Self::Bundle => "Bundle",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "InToto" => Some(Self::InToto),
            "Bundle" => Some(Self::Bundle),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum InTotoSubjectKind {
    Self_ = 0,
    Raw = 1,
}
impl InTotoSubjectKind {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Self_ => "Self",
            Self::Raw => "Raw",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "Self" => Some(Self::Self_),
            "Raw" => Some(Self::Raw),
            _ => None,
        }
    }
}
