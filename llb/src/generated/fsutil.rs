// @generated from llb/proto/stat.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// One file.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Stat {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    /// Kind and permission bits in the encoding of Go's `os.FileMode`.
    #[prost(uint32, tag = "2")]
    pub mode: u32,
    #[prost(uint32, tag = "3")]
    pub uid: u32,
    #[prost(uint32, tag = "4")]
    pub gid: u32,
    #[prost(int64, tag = "5")]
    pub size: i64,
    /// Nanoseconds since 1970.
    #[prost(int64, tag = "6")]
    pub mod_time: i64,
    #[prost(string, tag = "7")]
    pub linkname: ::prost::alloc::string::String,
    #[prost(int64, tag = "8")]
    pub devmajor: i64,
    #[prost(int64, tag = "9")]
    pub devminor: i64,
    #[prost(btree_map = "string, bytes", tag = "10")]
    pub xattrs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::vec::Vec<u8>,
    >,
}
