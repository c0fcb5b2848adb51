// @generated from llb/proto/ops.proto by `cargo xtask codegen` (prost-build, tonic-prost-build).
// Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.
/// One vertex.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Op {
    #[prost(message, repeated, tag = "1")]
    pub inputs: ::prost::alloc::vec::Vec<Input>,
    /// Only for exec, image and OCI layout vertices.
    #[prost(message, optional, tag = "10")]
    pub platform: ::core::option::Option<Platform>,
    #[prost(message, optional, tag = "11")]
    pub constraints: ::core::option::Option<WorkerConstraints>,
    /// BuildKit's own encoder writes this member last, behind `constraints`.
    #[prost(oneof = "op::Op", tags = "2, 3, 4, 5, 6, 7, 8")]
    pub op: ::core::option::Option<op::Op>,
}
/// Nested message and enum types in `Op`.
pub mod op {
    /// BuildKit's own encoder writes this member last, behind `constraints`.
    #[derive(Clone, PartialEq, ::prost::Oneof)]
    pub enum Op {
        #[prost(message, tag = "2")]
        Exec(super::ExecOp),
        #[prost(message, tag = "3")]
        Source(super::SourceOp),
        #[prost(message, tag = "4")]
        File(super::FileOp),
        #[prost(message, tag = "5")]
        Build(super::BuildOp),
        #[prost(message, tag = "6")]
        Merge(super::MergeOp),
        #[prost(message, tag = "7")]
        Diff(super::DiffOp),
        /// Since BuildKit 0.31.
        #[prost(message, tag = "8")]
        Passthrough(super::PassthroughOp),
    }
}
/// What a step runs on, in the words of the OCI image specification.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Platform {
    #[prost(string, tag = "1")]
    pub architecture: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub os: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub variant: ::prost::alloc::string::String,
    #[prost(string, tag = "4")]
    pub os_version: ::prost::alloc::string::String,
    #[prost(string, repeated, tag = "5")]
    pub os_features: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
}
/// One edge: an output of an earlier vertex.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Input {
    /// `sha256:` and the hex digest of the bytes of that vertex.
    #[prost(string, tag = "1")]
    pub digest: ::prost::alloc::string::String,
    #[prost(int64, tag = "2")]
    pub index: i64,
}
/// Runs one process.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ExecOp {
    #[prost(message, optional, tag = "1")]
    pub meta: ::core::option::Option<Meta>,
    #[prost(message, repeated, tag = "2")]
    pub mounts: ::prost::alloc::vec::Vec<Mount>,
    #[prost(enumeration = "NetMode", tag = "3")]
    pub network: i32,
    #[prost(enumeration = "SecurityMode", tag = "4")]
    pub security: i32,
    #[prost(message, repeated, tag = "5")]
    pub secretenv: ::prost::alloc::vec::Vec<SecretEnv>,
    #[prost(message, repeated, tag = "6")]
    pub cdi_devices: ::prost::alloc::vec::Vec<CdiDevice>,
}
/// The process of an exec.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Meta {
    #[prost(string, repeated, tag = "1")]
    pub args: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    /// `NAME=value`, in the order given.
    #[prost(string, repeated, tag = "2")]
    pub env: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(string, tag = "3")]
    pub cwd: ::prost::alloc::string::String,
    #[prost(string, tag = "4")]
    pub user: ::prost::alloc::string::String,
    /// Not part of the cache key.
    #[prost(message, optional, tag = "5")]
    pub proxy_env: ::core::option::Option<ProxyEnv>,
    #[prost(message, repeated, tag = "6")]
    pub extra_hosts: ::prost::alloc::vec::Vec<HostIp>,
    #[prost(string, tag = "7")]
    pub hostname: ::prost::alloc::string::String,
    #[prost(message, repeated, tag = "9")]
    pub ulimit: ::prost::alloc::vec::Vec<Ulimit>,
    #[prost(string, tag = "10")]
    pub cgroup_parent: ::prost::alloc::string::String,
    /// Removes the empty directories that mount points leave in the root.
    #[prost(bool, tag = "11")]
    pub remove_mount_stubs_recursive: bool,
    /// Exit codes that count as success; empty means just 0.
    #[prost(int32, repeated, tag = "12")]
    pub valid_exit_codes: ::prost::alloc::vec::Vec<i32>,
}
/// One line of the hosts file.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct HostIp {
    #[prost(string, tag = "1")]
    pub host: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub ip: ::prost::alloc::string::String,
}
/// One resource limit of the process.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Ulimit {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(int64, tag = "2")]
    pub soft: i64,
    #[prost(int64, tag = "3")]
    pub hard: i64,
}
/// An environment variable whose value is a secret of the session.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SecretEnv {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    /// Without the secret the variable is set and empty.
    #[prost(bool, tag = "3")]
    pub optional: bool,
}
/// A device by its qualified CDI name.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CdiDevice {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(bool, tag = "2")]
    pub optional: bool,
}
/// One mount of an exec.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Mount {
    /// Index into `Op.inputs`, or -1 for none.
    #[prost(int64, tag = "1")]
    pub input: i64,
    /// Path inside the input.
    #[prost(string, tag = "2")]
    pub selector: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub dest: ::prost::alloc::string::String,
    /// Index of the output that this mount makes, or -1 for none.
    #[prost(int64, tag = "4")]
    pub output: i64,
    /// With an output, and not at `/`: the input itself becomes the output.
    #[prost(bool, tag = "5")]
    pub readonly: bool,
    #[prost(enumeration = "MountType", tag = "6")]
    pub mount_type: i32,
    #[prost(message, optional, tag = "19")]
    pub tmpfs_opt: ::core::option::Option<TmpfsOpt>,
    #[prost(message, optional, tag = "20")]
    pub cache_opt: ::core::option::Option<CacheOpt>,
    #[prost(message, optional, tag = "21")]
    pub secret_opt: ::core::option::Option<SecretOpt>,
    #[prost(message, optional, tag = "22")]
    pub ssh_opt: ::core::option::Option<SshOpt>,
    #[prost(string, tag = "23")]
    pub result_id: ::prost::alloc::string::String,
    #[prost(enumeration = "MountContentCache", tag = "24")]
    pub content_cache: i32,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct TmpfsOpt {
    /// Bytes; 0 means no limit.
    #[prost(int64, tag = "1")]
    pub size: i64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct CacheOpt {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(enumeration = "CacheSharingOpt", tag = "2")]
    pub sharing: i32,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SecretOpt {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(uint32, tag = "2")]
    pub uid: u32,
    #[prost(uint32, tag = "3")]
    pub gid: u32,
    #[prost(uint32, tag = "4")]
    pub mode: u32,
    #[prost(bool, tag = "5")]
    pub optional: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct SshOpt {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(uint32, tag = "2")]
    pub uid: u32,
    #[prost(uint32, tag = "3")]
    pub gid: u32,
    #[prost(uint32, tag = "4")]
    pub mode: u32,
    #[prost(bool, tag = "5")]
    pub optional: bool,
}
/// Something from outside the graph: an image, a directory of the client, …
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SourceOp {
    /// `docker-image://…`, `local://…`, `<https://…`,> `git://…`, `oci-layout://…`.
    #[prost(string, tag = "1")]
    pub identifier: ::prost::alloc::string::String,
    #[prost(btree_map = "string, string", tag = "2")]
    pub attrs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
/// A nested build.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct BuildOp {
    /// Index into `Op.inputs`, or -1: the graph itself is LLB.
    #[prost(int64, tag = "1")]
    pub builder: i64,
    #[prost(btree_map = "string, message", tag = "2")]
    pub inputs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        BuildInput,
    >,
    #[prost(message, optional, tag = "3")]
    pub def: ::core::option::Option<Definition>,
    #[prost(btree_map = "string, string", tag = "4")]
    pub attrs: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct BuildInput {
    #[prost(int64, tag = "1")]
    pub input: i64,
}
/// What is said about one vertex outside its digest.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct OpMetadata {
    #[prost(bool, tag = "1")]
    pub ignore_cache: bool,
    /// Free text, such as the name shown in the progress.
    #[prost(btree_map = "string, string", tag = "2")]
    pub description: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        ::prost::alloc::string::String,
    >,
    /// 3 was used by early versions.
    #[prost(message, optional, tag = "4")]
    pub export_cache: ::core::option::Option<ExportCache>,
    /// What the engine must know to run the vertex.
    #[prost(btree_map = "string, bool", tag = "5")]
    pub caps: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        bool,
    >,
    #[prost(message, optional, tag = "6")]
    pub progress_group: ::core::option::Option<ProgressGroup>,
    /// Since BuildKit 0.31.
    #[prost(message, optional, tag = "7")]
    pub linux_resources: ::core::option::Option<LinuxResources>,
}
/// Which lines of which files the vertices come from.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Source {
    /// By the digest of the vertex.
    #[prost(btree_map = "string, message", tag = "1")]
    pub locations: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        Locations,
    >,
    #[prost(message, repeated, tag = "2")]
    pub infos: ::prost::alloc::vec::Vec<SourceInfo>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Locations {
    #[prost(message, repeated, tag = "1")]
    pub locations: ::prost::alloc::vec::Vec<Location>,
}
/// One file.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct SourceInfo {
    #[prost(string, tag = "1")]
    pub filename: ::prost::alloc::string::String,
    #[prost(bytes = "vec", tag = "2")]
    pub data: ::prost::alloc::vec::Vec<u8>,
    /// How the file was read, to read it again.
    #[prost(message, optional, tag = "3")]
    pub definition: ::core::option::Option<Definition>,
    #[prost(string, tag = "4")]
    pub language: ::prost::alloc::string::String,
}
/// Ranges in one file.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Location {
    /// Index into `Source.infos`.
    #[prost(int32, tag = "1")]
    pub source_index: i32,
    #[prost(message, repeated, tag = "2")]
    pub ranges: ::prost::alloc::vec::Vec<Range>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Range {
    #[prost(message, optional, tag = "1")]
    pub start: ::core::option::Option<Position>,
    #[prost(message, optional, tag = "2")]
    pub end: ::core::option::Option<Position>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct Position {
    /// From 1.
    #[prost(int32, tag = "1")]
    pub line: i32,
    #[prost(int32, tag = "2")]
    pub character: i32,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ExportCache {
    #[prost(bool, tag = "1")]
    pub value: bool,
}
/// Vertices that progress shows as one.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ProgressGroup {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub name: ::prost::alloc::string::String,
    #[prost(bool, tag = "3")]
    pub weak: bool,
}
/// Limits of a step that are not part of its key.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct LinuxResources {
    /// Bytes.
    #[prost(int64, tag = "1")]
    pub memory: i64,
    /// Bytes, memory included.
    #[prost(int64, tag = "2")]
    pub memory_swap: i64,
    #[prost(uint64, tag = "3")]
    pub cpu_shares: u64,
    /// Microseconds.
    #[prost(uint64, tag = "4")]
    pub cpu_period: u64,
    /// Microseconds.
    #[prost(int64, tag = "5")]
    pub cpu_quota: i64,
    #[prost(string, tag = "6")]
    pub cpuset_cpus: ::prost::alloc::string::String,
    #[prost(string, tag = "7")]
    pub cpuset_mems: ::prost::alloc::string::String,
}
/// Proxy settings; they are not part of the cache key.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ProxyEnv {
    #[prost(string, tag = "1")]
    pub http_proxy: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub https_proxy: ::prost::alloc::string::String,
    #[prost(string, tag = "3")]
    pub ftp_proxy: ::prost::alloc::string::String,
    #[prost(string, tag = "4")]
    pub no_proxy: ::prost::alloc::string::String,
    #[prost(string, tag = "5")]
    pub all_proxy: ::prost::alloc::string::String,
}
/// Which worker may run a vertex.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct WorkerConstraints {
    #[prost(string, repeated, tag = "1")]
    pub filter: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
}
/// A whole graph.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Definition {
    /// The vertices as bytes, inputs before their users. The last one has one
    /// input, the result, and nothing else.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub def: ::prost::alloc::vec::Vec<::prost::alloc::vec::Vec<u8>>,
    /// By the digest of the vertex.
    #[prost(btree_map = "string, message", tag = "2")]
    pub metadata: ::prost::alloc::collections::BTreeMap<
        ::prost::alloc::string::String,
        OpMetadata,
    >,
    #[prost(message, optional, tag = "3")]
    pub source: ::core::option::Option<Source>,
}
/// A chain of file operations in one vertex.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct FileOp {
    #[prost(message, repeated, tag = "2")]
    pub actions: ::prost::alloc::vec::Vec<FileAction>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileAction {
    /// Index into `Op.inputs`; from the number of inputs on, an earlier action;
    /// -1 for scratch.
    #[prost(int64, tag = "1")]
    pub input: i64,
    /// The same, for what is copied.
    #[prost(int64, tag = "2")]
    pub secondary_input: i64,
    /// Index of the output, or -1 for none.
    #[prost(int64, tag = "3")]
    pub output: i64,
    #[prost(oneof = "file_action::Action", tags = "4, 5, 6, 7, 8")]
    pub action: ::core::option::Option<file_action::Action>,
}
/// Nested message and enum types in `FileAction`.
pub mod file_action {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum Action {
        #[prost(message, tag = "4")]
        Copy(super::FileActionCopy),
        #[prost(message, tag = "5")]
        Mkfile(super::FileActionMkFile),
        #[prost(message, tag = "6")]
        Mkdir(super::FileActionMkDir),
        #[prost(message, tag = "7")]
        Rm(super::FileActionRm),
        /// Since BuildKit 0.19.
        #[prost(message, tag = "8")]
        Symlink(super::FileActionSymlink),
    }
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileActionCopy {
    #[prost(string, tag = "1")]
    pub src: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub dest: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub owner: ::core::option::Option<ChownOpt>,
    /// Permission bits, or -1 to keep them.
    #[prost(int32, tag = "4")]
    pub mode: i32,
    #[prost(bool, tag = "5")]
    pub follow_symlink: bool,
    /// Of a directory, copy what is in it.
    #[prost(bool, tag = "6")]
    pub dir_copy_contents: bool,
    #[prost(bool, tag = "7")]
    pub attempt_unpack_docker_compatibility: bool,
    #[prost(bool, tag = "8")]
    pub create_dest_path: bool,
    #[prost(bool, tag = "9")]
    pub allow_wildcard: bool,
    #[prost(bool, tag = "10")]
    pub allow_empty_wildcard: bool,
    /// Nanoseconds since 1970, or -1 to keep the time.
    #[prost(int64, tag = "11")]
    pub timestamp: i64,
    #[prost(string, repeated, tag = "12")]
    pub include_patterns: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(string, repeated, tag = "13")]
    pub exclude_patterns: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
    #[prost(bool, tag = "14")]
    pub always_replace_existing_dest_paths: bool,
    /// Symbolic mode, as of chmod.
    #[prost(string, tag = "15")]
    pub mode_str: ::prost::alloc::string::String,
    /// Since BuildKit 0.26.
    #[prost(string, repeated, tag = "16")]
    pub required_paths: ::prost::alloc::vec::Vec<::prost::alloc::string::String>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileActionMkFile {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    #[prost(int32, tag = "2")]
    pub mode: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub data: ::prost::alloc::vec::Vec<u8>,
    #[prost(message, optional, tag = "4")]
    pub owner: ::core::option::Option<ChownOpt>,
    #[prost(int64, tag = "5")]
    pub timestamp: i64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileActionSymlink {
    /// What the link says.
    #[prost(string, tag = "1")]
    pub oldpath: ::prost::alloc::string::String,
    /// Where the link is.
    #[prost(string, tag = "2")]
    pub newpath: ::prost::alloc::string::String,
    #[prost(message, optional, tag = "3")]
    pub owner: ::core::option::Option<ChownOpt>,
    #[prost(int64, tag = "4")]
    pub timestamp: i64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileActionMkDir {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    #[prost(int32, tag = "2")]
    pub mode: i32,
    #[prost(bool, tag = "3")]
    pub make_parents: bool,
    #[prost(message, optional, tag = "4")]
    pub owner: ::core::option::Option<ChownOpt>,
    #[prost(int64, tag = "5")]
    pub timestamp: i64,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct FileActionRm {
    #[prost(string, tag = "1")]
    pub path: ::prost::alloc::string::String,
    #[prost(bool, tag = "2")]
    pub allow_not_found: bool,
    #[prost(bool, tag = "3")]
    pub allow_wildcard: bool,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct ChownOpt {
    #[prost(message, optional, tag = "1")]
    pub user: ::core::option::Option<UserOpt>,
    #[prost(message, optional, tag = "2")]
    pub group: ::core::option::Option<UserOpt>,
}
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct UserOpt {
    #[prost(oneof = "user_opt::User", tags = "1, 2")]
    pub user: ::core::option::Option<user_opt::User>,
}
/// Nested message and enum types in `UserOpt`.
pub mod user_opt {
    #[derive(Clone, PartialEq, Eq, Hash, ::prost::Oneof)]
    pub enum User {
        #[prost(message, tag = "1")]
        ByName(super::NamedUserOpt),
        #[prost(uint32, tag = "2")]
        ById(u32),
    }
}
/// A name, looked up in the passwd or group file of an input.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct NamedUserOpt {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(int64, tag = "2")]
    pub input: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct MergeInput {
    #[prost(int64, tag = "1")]
    pub input: i64,
}
/// Lays file systems over each other. Since BuildKit 0.10.
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct MergeOp {
    #[prost(message, repeated, tag = "1")]
    pub inputs: ::prost::alloc::vec::Vec<MergeInput>,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct LowerDiffInput {
    #[prost(int64, tag = "1")]
    pub input: i64,
}
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct UpperDiffInput {
    #[prost(int64, tag = "1")]
    pub input: i64,
}
/// What upper has over lower. Since BuildKit 0.10.
#[derive(Clone, Copy, PartialEq, Eq, Hash, ::prost::Message)]
pub struct DiffOp {
    #[prost(message, optional, tag = "1")]
    pub lower: ::core::option::Option<LowerDiffInput>,
    #[prost(message, optional, tag = "2")]
    pub upper: ::core::option::Option<UpperDiffInput>,
}
/// Hands inputs on as outputs. Since BuildKit 0.31.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
pub struct PassthroughOp {
    #[prost(string, tag = "1")]
    pub id: ::prost::alloc::string::String,
    /// Indices into `Op.inputs`.
    #[prost(int64, repeated, tag = "2")]
    pub outputs: ::prost::alloc::vec::Vec<i64>,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum NetMode {
    /// A sandbox with network access.
    Unset = 0,
    Host = 1,
    None = 2,
}
impl NetMode {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Unset => "UNSET",
            Self::Host => "HOST",
            Self::None => "NONE",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "UNSET" => Some(Self::Unset),
            "HOST" => Some(Self::Host),
            "NONE" => Some(Self::None),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum SecurityMode {
    Sandbox = 0,
    /// All privileges of the host; needs an entitlement.
    Insecure = 1,
}
impl SecurityMode {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Sandbox => "SANDBOX",
            Self::Insecure => "INSECURE",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "SANDBOX" => Some(Self::Sandbox),
            "INSECURE" => Some(Self::Insecure),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum MountType {
    Bind = 0,
    Secret = 1,
    Ssh = 2,
    Cache = 3,
    Tmpfs = 4,
}
impl MountType {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Bind => "BIND",
            Self::Secret => "SECRET",
            Self::Ssh => "SSH",
            Self::Cache => "CACHE",
            Self::Tmpfs => "TMPFS",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "BIND" => Some(Self::Bind),
            "SECRET" => Some(Self::Secret),
            "SSH" => Some(Self::Ssh),
            "CACHE" => Some(Self::Cache),
            "TMPFS" => Some(Self::Tmpfs),
            _ => None,
        }
    }
}
/// Whether the key of an exec follows the bytes of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum MountContentCache {
    Default = 0,
    On = 1,
    Off = 2,
}
impl MountContentCache {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Default => "DEFAULT",
            Self::On => "ON",
            Self::Off => "OFF",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "DEFAULT" => Some(Self::Default),
            "ON" => Some(Self::On),
            "OFF" => Some(Self::Off),
            _ => None,
        }
    }
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ::prost::Enumeration)]
#[repr(i32)]
pub enum CacheSharingOpt {
    /// Many writers at once.
    Shared = 0,
    /// A new directory for each writer at the same time.
    Private = 1,
    /// One writer after the other.
    Locked = 2,
}
impl CacheSharingOpt {
    /// String value of the enum field names used in the ProtoBuf definition.
    ///
    /// The values are not transformed in any way and thus are considered stable
    /// (if the ProtoBuf definition does not change) and safe for programmatic use.
    pub fn as_str_name(&self) -> &'static str {
        match self {
            Self::Shared => "SHARED",
            Self::Private => "PRIVATE",
            Self::Locked => "LOCKED",
        }
    }
    /// Creates an enum from field names used in the ProtoBuf definition.
    pub fn from_str_name(value: &str) -> ::core::option::Option<Self> {
        match value {
            "SHARED" => Some(Self::Shared),
            "PRIVATE" => Some(Self::Private),
            "LOCKED" => Some(Self::Locked),
            _ => None,
        }
    }
}
