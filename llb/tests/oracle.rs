//! Our wire types against upstream's, as another project generated them from
//! BuildKit 0.29's own files: what one writes the other reads, whole.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;

use bollard_buildkit_proto::moby::buildkit::v1::{apicaps, frontend, types};
use bollard_buildkit_proto::{fsutil, google, pb as upstream};
use llb::proto::{self, pb};
use prost::Message;

/// `ours` survives a passage through upstream's type `T`, and upstream's
/// encoder makes the same bytes of it.
#[track_caller]
fn survives<T: Message + Default, M: Message + Default + PartialEq + std::fmt::Debug>(ours: &M) {
    let bytes = ours.encode_to_vec();
    let theirs = T::decode(bytes.as_slice()).unwrap();
    let again = theirs.encode_to_vec();
    assert_eq!(again, bytes, "upstream reads or writes it otherwise");
    assert_eq!(&M::decode(again.as_slice()).unwrap(), ours);
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn s(text: &str) -> String {
    text.to_owned()
}

/// An op of a kind, with all else that an op can have.
fn op(kind: pb::op::Op) -> pb::Op {
    pb::Op {
        inputs: vec![pb::Input {
            digest: s("sha256:1"),
            index: 2,
        }],
        op: Some(kind),
        platform: Some(platform()),
        constraints: Some(pb::WorkerConstraints {
            filter: vec![s("filter")],
        }),
    }
}

fn platform() -> pb::Platform {
    pb::Platform {
        architecture: s("arm"),
        os: s("windows"),
        variant: s("v7"),
        os_version: s("10"),
        os_features: vec![s("feature")],
    }
}

fn mount() -> pb::Mount {
    pb::Mount {
        input: 1,
        selector: s("/selector"),
        dest: s("/dest"),
        output: -1,
        readonly: true,
        mount_type: pb::MountType::Tmpfs.into(),
        tmpfs_opt: Some(pb::TmpfsOpt { size: 1 }),
        cache_opt: Some(pb::CacheOpt {
            id: s("cache"),
            sharing: pb::CacheSharingOpt::Locked.into(),
        }),
        secret_opt: Some(pb::SecretOpt {
            id: s("secret"),
            uid: 1,
            gid: 2,
            mode: 3,
            optional: true,
        }),
        ssh_opt: Some(pb::SshOpt {
            id: s("ssh"),
            uid: 1,
            gid: 2,
            mode: 3,
            optional: true,
        }),
        result_id: s("result"),
        content_cache: pb::MountContentCache::Off.into(),
    }
}

fn owner() -> pb::ChownOpt {
    pb::ChownOpt {
        user: Some(pb::UserOpt {
            user: Some(pb::user_opt::User::ByName(pb::NamedUserOpt {
                name: s("name"),
                input: 3,
            })),
        }),
        group: Some(pb::UserOpt {
            user: Some(pb::user_opt::User::ById(0)),
        }),
    }
}

fn definition() -> pb::Definition {
    pb::Definition {
        def: vec![vec![1, 2], vec![]],
        metadata: BTreeMap::from([(s("sha256:1"), metadata())]),
        source: Some(pb::Source {
            locations: BTreeMap::from([(
                s("sha256:1"),
                pb::Locations {
                    locations: vec![pb::Location {
                        source_index: 1,
                        ranges: vec![range()],
                    }],
                },
            )]),
            infos: vec![info()],
        }),
    }
}

fn info() -> pb::SourceInfo {
    pb::SourceInfo {
        filename: s("file"),
        data: b"data".to_vec(),
        definition: Some(pb::Definition::default()),
        language: s("TOML"),
    }
}

fn range() -> pb::Range {
    pb::Range {
        start: Some(pb::Position {
            line: 1,
            character: 2,
        }),
        end: Some(pb::Position {
            line: 3,
            character: 4,
        }),
    }
}

fn metadata() -> pb::OpMetadata {
    pb::OpMetadata {
        ignore_cache: true,
        description: texts(&[("llb.customname", "name"), ("other", "text")]),
        export_cache: Some(pb::ExportCache { value: true }),
        caps: BTreeMap::from([(s("mergeop"), true)]),
        progress_group: Some(pb::ProgressGroup {
            id: s("id"),
            name: s("name"),
            weak: true,
        }),
        // Newer than upstream's 0.29.
        linux_resources: None,
    }
}

#[test]
fn exec_is_upstreams() {
    survives::<upstream::Op, _>(&op(pb::op::Op::Exec(pb::ExecOp {
        meta: Some(pb::Meta {
            args: vec![s("a"), s("")],
            env: vec![s("A=1"), s("B=")],
            cwd: s("/"),
            user: s("1"),
            proxy_env: Some(pb::ProxyEnv {
                http_proxy: s("1"),
                https_proxy: s("2"),
                ftp_proxy: s("3"),
                no_proxy: s("4"),
                all_proxy: s("5"),
            }),
            extra_hosts: vec![pb::HostIp {
                host: s("host"),
                ip: s("10.0.0.1"),
            }],
            hostname: s("h"),
            ulimit: vec![pb::Ulimit {
                name: s("nofile"),
                soft: 1,
                hard: -1,
            }],
            cgroup_parent: s("cgroup"),
            remove_mount_stubs_recursive: true,
            valid_exit_codes: vec![0, 3, -1],
        }),
        mounts: vec![mount(), pb::Mount::default()],
        network: pb::NetMode::None.into(),
        security: pb::SecurityMode::Insecure.into(),
        secretenv: vec![pb::SecretEnv {
            id: s("id"),
            name: s("name"),
            optional: true,
        }],
        cdi_devices: vec![pb::CdiDevice {
            name: s("vendor/device=1"),
            optional: true,
        }],
    })));
}

#[test]
fn source_is_upstreams() {
    survives::<upstream::Op, _>(&op(pb::op::Op::Source(pb::SourceOp {
        identifier: s("local://context"),
        attrs: texts(&[("b", "2"), ("a", "1")]),
    })));
}

#[test]
fn file_is_upstreams() {
    use pb::file_action::Action;
    let actions = [
        Action::Copy(pb::FileActionCopy {
            src: s("/src"),
            dest: s("/dest"),
            owner: Some(owner()),
            mode: -1,
            follow_symlink: true,
            dir_copy_contents: true,
            attempt_unpack_docker_compatibility: true,
            create_dest_path: true,
            allow_wildcard: true,
            allow_empty_wildcard: true,
            timestamp: -1,
            include_patterns: vec![s("include")],
            exclude_patterns: vec![s("exclude")],
            always_replace_existing_dest_paths: true,
            mode_str: s("u=rw"),
            required_paths: vec![s("required")],
        }),
        Action::Mkfile(pb::FileActionMkFile {
            path: s("/file"),
            mode: 0o644,
            data: b"data".to_vec(),
            owner: Some(owner()),
            timestamp: 1,
        }),
        Action::Mkdir(pb::FileActionMkDir {
            path: s("/dir"),
            mode: 0o755,
            make_parents: true,
            owner: Some(owner()),
            timestamp: 1,
        }),
        Action::Rm(pb::FileActionRm {
            path: s("/rm"),
            allow_not_found: true,
            allow_wildcard: true,
        }),
        Action::Symlink(pb::FileActionSymlink {
            oldpath: s("old"),
            newpath: s("/new"),
            owner: Some(owner()),
            timestamp: 1,
        }),
    ];
    survives::<upstream::Op, _>(&op(pb::op::Op::File(pb::FileOp {
        actions: actions
            .into_iter()
            .map(|action| pb::FileAction {
                input: 1,
                secondary_input: 2,
                output: -1,
                action: Some(action),
            })
            .collect(),
    })));
}

#[test]
fn merge_and_diff_are_upstreams() {
    survives::<upstream::Op, _>(&op(pb::op::Op::Merge(pb::MergeOp {
        inputs: vec![pb::MergeInput { input: 0 }, pb::MergeInput { input: 1 }],
    })));
    survives::<upstream::Op, _>(&op(pb::op::Op::Diff(pb::DiffOp {
        lower: Some(pb::LowerDiffInput { input: 1 }),
        upper: Some(pb::UpperDiffInput { input: -1 }),
    })));
}

#[test]
fn build_is_upstreams() {
    survives::<upstream::Op, _>(&op(pb::op::Op::Build(pb::BuildOp {
        builder: -1,
        inputs: BTreeMap::from([(s("input"), pb::BuildInput { input: 1 })]),
        def: Some(definition()),
        attrs: texts(&[("a", "1")]),
    })));
}

#[test]
fn a_definition_is_upstreams() {
    survives::<upstream::Definition, _>(&definition());
}

#[test]
fn every_op_of_the_sample_is_upstreams() {
    let platform = llb::Platform::new("linux", "amd64");
    let base = llb::Image::new("base".parse().unwrap(), platform.clone()).build();
    let result = llb::sample::every_op(base, &platform).unwrap();
    let definition = llb::Definition::new(&result);
    survives::<upstream::Definition, _>(definition.as_pb());
    for bytes in &definition.as_pb().def {
        survives::<upstream::Op, _>(&pb::Op::decode(bytes.as_slice()).unwrap());
    }
}

#[test]
fn what_upstream_0_29_does_not_know_is_what_0_31_brought() {
    let pass = op(pb::op::Op::Passthrough(pb::PassthroughOp {
        id: s("id"),
        outputs: vec![0],
    }));
    let theirs = upstream::Op::decode(pass.encode_to_vec().as_slice()).unwrap();
    assert_eq!(theirs.op, None);
}

#[test]
fn the_gateways_messages_are_upstreams() {
    use proto::gateway as ours;
    let reference = || ours::Ref {
        id: s("ref"),
        def: Some(definition()),
    };
    let result = ours::Result {
        metadata: BTreeMap::from([(s("key"), b"value".to_vec())]),
        attestations: BTreeMap::from([(
            s("linux/amd64"),
            ours::Attestations {
                attestation: vec![ours::Attestation {
                    kind: ours::AttestationKind::Bundle.into(),
                    metadata: BTreeMap::from([(s("key"), b"value".to_vec())]),
                    r#ref: Some(reference()),
                    path: s("/path"),
                    in_toto_predicate_type: s("type"),
                    in_toto_subjects: vec![ours::InTotoSubject {
                        kind: ours::InTotoSubjectKind::Raw.into(),
                        digest: vec![s("sha256:1")],
                        name: s("name"),
                    }],
                }],
            },
        )]),
        result: Some(ours::result::Result::Refs(ours::RefMap {
            refs: BTreeMap::from([(s("linux/amd64"), reference())]),
        })),
    };
    survives::<frontend::ReturnRequest, _>(&ours::ReturnRequest {
        result: Some(result.clone()),
        error: Some(proto::rpc::Status {
            code: 2,
            message: s("message"),
            details: vec![prost_types::Any {
                type_url: s("type"),
                value: b"value".to_vec(),
            }],
        }),
    });
    survives::<frontend::SolveRequest, _>(&ours::SolveRequest {
        definition: Some(definition()),
        frontend: s("gateway.v0"),
        frontend_opt: texts(&[("key", "value")]),
        allow_result_return: true,
        allow_result_array_ref: true,
        r#final: true,
        exporter_attr: b"attr".to_vec(),
        cache_imports: vec![ours::CacheOptionsEntry {
            r#type: s("registry"),
            attrs: texts(&[("ref", "a")]),
        }],
        frontend_inputs: BTreeMap::from([(s("input"), definition())]),
        evaluate: true,
    });
    survives::<frontend::SolveResponse, _>(&ours::SolveResponse {
        r#ref: s("ref"),
        result: Some(result),
    });
    survives::<frontend::InputsResponse, _>(&ours::InputsResponse {
        definitions: BTreeMap::from([(s("input"), definition())]),
    });
    survives::<frontend::ResolveImageConfigRequest, _>(&ours::ResolveImageConfigRequest {
        r#ref: s("ref"),
        platform: Some(platform()),
        resolve_mode: s("pull"),
        log_name: s("log"),
        resolver_type: 1,
        session_id: s("session"),
        store_id: s("store"),
    });
    survives::<frontend::ResolveImageConfigResponse, _>(&ours::ResolveImageConfigResponse {
        digest: s("sha256:1"),
        config: b"{}".to_vec(),
        r#ref: s("ref"),
    });
    let source = || {
        Some(pb::SourceOp {
            identifier: s("docker-image://a"),
            attrs: texts(&[("a", "1")]),
        })
    };
    survives::<frontend::ResolveSourceMetaRequest, _>(&ours::ResolveSourceMetaRequest {
        source: source(),
        platform: Some(platform()),
        log_name: s("log"),
        resolve_mode: s("pull"),
        git: Some(ours::ResolveSourceGitRequest {
            return_object: true,
        }),
        image: Some(ours::ResolveSourceImageRequest { no_config: true }),
        http: Some(ours::ResolveSourceHttpRequest {
            checksum_request: Some(ours::ChecksumRequest {
                algo: ours::checksum_request::ChecksumAlgo::Sha512.into(),
                suffix: b"suffix".to_vec(),
            }),
        }),
    });
    survives::<frontend::ResolveSourceMetaResponse, _>(&ours::ResolveSourceMetaResponse {
        source: source(),
        image: Some(ours::ResolveSourceImageResponse {
            digest: s("sha256:1"),
            config: b"{}".to_vec(),
        }),
        git: Some(ours::ResolveSourceGitResponse {
            checksum: s("1"),
            r#ref: s("ref"),
            commit_checksum: s("2"),
            commit_object: b"commit".to_vec(),
            tag_object: b"tag".to_vec(),
        }),
        http: Some(ours::ResolveSourceHttpResponse {
            checksum: s("1"),
            filename: s("file"),
            last_modified: Some(prost_types::Timestamp {
                seconds: 1,
                nanos: 2,
            }),
            checksum_response: Some(ours::ChecksumResponse {
                digest: s("sha256:1"),
                suffix: b"suffix".to_vec(),
            }),
        }),
    });
    survives::<frontend::ReadFileRequest, _>(&ours::ReadFileRequest {
        r#ref: s("ref"),
        file_path: s("/file"),
        range: Some(ours::FileRange {
            offset: 1,
            length: 2,
        }),
        mount_index: 3,
    });
    survives::<frontend::ReadFileResponse, _>(&ours::ReadFileResponse {
        data: b"data".to_vec(),
    });
    survives::<frontend::ReadDirRequest, _>(&ours::ReadDirRequest {
        r#ref: s("ref"),
        dir_path: s("/dir"),
        include_pattern: s("*"),
        mount_index: 3,
    });
    survives::<frontend::StatFileRequest, _>(&ours::StatFileRequest {
        r#ref: s("ref"),
        path: s("/file"),
        mount_index: 3,
    });
    survives::<frontend::EvaluateRequest, _>(&ours::EvaluateRequest { r#ref: s("ref") });
    survives::<frontend::WarnRequest, _>(&ours::WarnRequest {
        digest: s("sha256:1"),
        level: 1,
        short: b"short".to_vec(),
        detail: vec![b"detail".to_vec()],
        url: s("url"),
        info: Some(info()),
        ranges: vec![range()],
    });
}

#[test]
fn files_workers_capabilities_and_errors_are_upstreams() {
    survives::<fsutil::types::Stat, _>(&proto::fsutil::Stat {
        path: s("/file"),
        mode: 1,
        uid: 2,
        gid: 3,
        size: 4,
        mod_time: 5,
        linkname: s("link"),
        devmajor: 6,
        devminor: 7,
        xattrs: BTreeMap::from([(s("user.a"), b"1".to_vec())]),
    });
    survives::<apicaps::ApiCap, _>(&proto::apicaps::ApiCap {
        id: s("mergeop"),
        enabled: true,
        deprecated: true,
        disabled_reason: s("reason"),
        disabled_reason_msg: s("message"),
        disabled_alternative: s("alternative"),
    });
    survives::<types::WorkerRecord, _>(&proto::types::WorkerRecord {
        id: s("worker"),
        labels: texts(&[("key", "value")]),
        platforms: vec![platform()],
        gc_policy: vec![proto::types::GcPolicy {
            all: true,
            keep_duration: 1,
            reserved_space: 2,
            filters: vec![s("filter")],
            max_used_space: 3,
            min_free_space: 4,
        }],
        buildkit_version: Some(proto::types::BuildkitVersion {
            package: s("package"),
            version: s("version"),
            revision: s("revision"),
            // Newer than upstream's 0.29.
            dockerfile_version: String::new(),
        }),
        cdi_devices: vec![proto::types::CdiDevice {
            name: s("device"),
            auto_allow: true,
            annotations: texts(&[("key", "value")]),
            on_demand: true,
        }],
    });
    survives::<google::rpc::Status, _>(&proto::rpc::Status {
        code: 2,
        message: s("message"),
        details: vec![],
    });
}
