//! The bytes of each kind of op, field by field in the order in which BuildKit's
//! own encoder writes them: by number, but the kind of the op last.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use llb::proto::pb;
use llb::{
    Bind, Cache, ContentCache, Copy, Definition, Diff, Digest, Exec, FileOp, Git, Http, Id, Image,
    Local, Merge, MkDir, MkFile, Network, OciLayout, Output, Owner, Platform, Proxy, ResolveMode,
    Rm, Root, Secret, Security, Sharing, Ssh, Symlink, Tmpfs,
};

/// A number as protobuf writes it; negative ones take ten bytes.
fn varint(number: i64) -> Vec<u8> {
    let mut rest = number.cast_unsigned();
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Field `number` with a number.
fn int(number: i64, value: i64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

/// Field `number` with bytes.
fn bytes(number: i64, value: &[u8]) -> Vec<u8> {
    let length = varint(i64::try_from(value.len()).unwrap());
    [varint(number << 3 | 2), length, value.to_vec()].concat()
}

fn text(number: i64, value: &str) -> Vec<u8> {
    bytes(number, value.as_bytes())
}

/// Field `number` with a message.
fn message(number: i64, fields: &[Vec<u8>]) -> Vec<u8> {
    bytes(number, &fields.concat())
}

/// Field `number` with an entry of a map of texts.
fn entry(number: i64, key: &str, value: &str) -> Vec<u8> {
    message(number, &[text(1, key), text(2, value)])
}

fn edge(output: &Output) -> Vec<u8> {
    let mut fields = vec![text(1, &output.digest().to_string())];
    if output.index() != 0 {
        fields.push(int(2, output.index()));
    }
    message(1, &fields)
}

fn linux() -> Platform {
    Platform::new("linux", "amd64")
}

fn platform() -> Vec<u8> {
    message(10, &[text(1, "amd64"), text(2, "linux")])
}

/// The bytes of the vertex that makes `output`.
fn op(output: &Output) -> Vec<u8> {
    let definition = Definition::new(output);
    let def = &definition.as_pb().def;
    def[def.len() - 2].clone()
}

#[track_caller]
fn assert_op(output: &Output, expected: &[Vec<u8>]) {
    let expected = expected.concat();
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    assert_eq!(hex(&op(output)), hex(&expected));
    assert_eq!(output.digest(), Digest::of(&expected));
}

fn tree(name: &str) -> Output {
    FileOp::new(None)
        .mkdir(MkDir::new(name, 0o755))
        .build()
        .unwrap()
}

#[test]
fn a_small_op_is_these_very_bytes() {
    let output = Image::new("a".parse().unwrap(), linux()).build();
    let hex: String = op(&output).iter().map(|b| format!("{b:02x}")).collect();
    // 52: field 10, 0e: 14 bytes; 0a 05 "amd64", 12 05 "linux"
    // 1a: field 3, 2b: 43 bytes; 0a 29 "docker-image://docker.io/library/a:latest"
    assert_eq!(
        hex,
        "520e0a05616d64363412056c696e7578\
         1a2b0a29646f636b65722d696d6167653a2f2f646f636b65722e696f2f6c6962726172792f613a6c6174657374"
    );
}

#[test]
fn image_has_a_platform_and_sorted_attributes() {
    let digest = Digest::of(b"image");
    assert_op(
        &Image::new("debian:13".parse().unwrap(), linux())
            .resolve_mode(ResolveMode::Pull)
            .record_type("frontend")
            .checksum(digest)
            .build(),
        &[
            platform(),
            message(
                3,
                &[
                    text(1, "docker-image://docker.io/library/debian:13"),
                    entry(2, "image.checksum", &digest.to_string()),
                    entry(2, "image.recordtype", "frontend"),
                    entry(2, "image.resolvemode", "pull"),
                ],
            ),
        ],
    );
}

#[test]
fn every_part_of_a_platform_is_written() {
    let mut platform: Platform = "windows(10.0.20348.1)/arm/v7".parse().unwrap();
    platform.os_features = vec!["win32k".to_owned()];
    assert_op(
        &Image::new("a".parse().unwrap(), platform).build(),
        &[
            message(
                10,
                &[
                    text(1, "arm"),
                    text(2, "windows"),
                    text(3, "v7"),
                    text(4, "10.0.20348.1"),
                    text(5, "win32k"),
                ],
            ),
            message(3, &[text(1, "docker-image://docker.io/library/a:latest")]),
        ],
    );
}

#[test]
fn oci_layout_has_a_platform() {
    let digest = Digest::of(b"image");
    let reference = format!("a.test/b@{digest}").parse().unwrap();
    assert_op(
        &OciLayout::new(reference, "session", "store", linux())
            .unwrap()
            .build(),
        &[
            platform(),
            message(
                3,
                &[
                    text(1, &format!("oci-layout://a.test/b@{digest}")),
                    entry(2, "oci.session", "session"),
                    entry(2, "oci.store", "store"),
                ],
            ),
        ],
    );
}

#[test]
fn local_has_no_platform_and_lists_are_json() {
    assert_op(
        &Local::of_session("context", "s1")
            .unwrap()
            .include(["**/*.toml", "quote\""])
            .exclude(["b", "!a"])
            .follow(["z", "a", "z"])
            .shared_key_hint("hint")
            .differ_none()
            .build(),
        &[message(
            3,
            &[
                text(1, "local://context"),
                entry(2, "local.differ", "none"),
                entry(2, "local.excludepatterns", r#"["b","!a"]"#),
                entry(2, "local.followpaths", r#"["a","z"]"#),
                entry(2, "local.includepattern", r#"["**/*.toml","quote\""]"#),
                entry(2, "local.session", "s1"),
                entry(2, "local.sharedkeyhint", "hint"),
            ],
        )],
    );
    assert_op(
        &Local::unique("context", "u1")
            .unwrap()
            .follow([""; 0])
            .shared_key_hint("")
            .build(),
        &[message(
            3,
            &[text(1, "local://context"), entry(2, "local.unique", "u1")],
        )],
    );
}

#[test]
fn http_has_its_url_as_identifier() {
    let digest = Digest::of(b"file");
    assert_op(
        &Http::new("https://example.test/a.tar")
            .unwrap()
            .checksum(digest)
            .filename("b.tar")
            .unwrap()
            .mode(0o644)
            .owner(0, 7)
            .auth_header_secret("token")
            .build(),
        &[message(
            3,
            &[
                text(1, "https://example.test/a.tar"),
                entry(2, "http.authheadersecret", "token"),
                entry(2, "http.checksum", &digest.to_string()),
                entry(2, "http.filename", "b.tar"),
                entry(2, "http.gid", "7"),
                entry(2, "http.perm", "0644"),
            ],
        )],
    );
}

#[test]
fn git_names_the_repository_without_protocol_and_user() {
    assert_op(
        &Git::new("https://user@example.test/a/b.git")
            .unwrap()
            .reference("v1")
            .unwrap()
            .subdir("c//d/")
            .unwrap()
            .checksum("0123456789abcdef")
            .unwrap()
            .keep_git_dir()
            .skip_submodules()
            .auth_token_secret("token")
            .build(),
        &[message(
            3,
            &[
                text(1, "git://example.test/a/b.git#v1:c/d"),
                entry(2, "git.authtokensecret", "token"),
                entry(2, "git.checksum", "0123456789abcdef"),
                entry(2, "git.fullurl", "https://user@example.test/a/b.git"),
                entry(2, "git.keepgitdir", "true"),
                entry(2, "git.skipsubmodules", "true"),
            ],
        )],
    );
    assert_op(
        &Git::new("git@example.test:a/b.git")
            .unwrap()
            .known_ssh_hosts("example.test key\n")
            .build(),
        &[message(
            3,
            &[
                text(1, "git://example.test/a/b.git"),
                entry(2, "git.fullurl", "git@example.test:a/b.git"),
                entry(2, "git.knownsshhosts", "example.test key\n"),
                entry(2, "git.mountsshsock", "default"),
            ],
        )],
    );
}

#[test]
fn exec_writes_its_kind_behind_its_platform_and_all_lists_in_order() {
    let (base, tool, part) = (tree("/base"), tree("/tool"), tree("/part"));
    let run = Exec::new(linux(), Root::writable(base.clone()), ["cc", "-c"])
        .cwd("/work/")
        .user("1:2")
        .hostname("h")
        .cgroup_parent("group")
        .env("B", "2")
        .env("A", "1")
        .secret_env("Z", "z-id", false)
        .secret_env("Y", "y-id", true)
        .host("b.test", [10, 0, 0, 2].into())
        .host("a.test", [10, 0, 0, 1].into())
        .ulimit("nproc", 3, 4)
        .ulimit("nofile", 1, 2)
        .valid_exit_codes([3, 0])
        .network(Network::Host)
        .security(Security::Insecure)
        .proxy(Proxy {
            http: "p1".to_owned(),
            https: "p2".to_owned(),
            ftp: "p3".to_owned(),
            no: "p4".to_owned(),
            all: "p5".to_owned(),
        })
        .mount("/z", Bind::scratch())
        .mount(
            "/tool/",
            Bind::read_only(tool.clone()).selector("/tool").unwrap(),
        )
        .mount(
            "/part",
            Bind::sealed(part.clone()).content(ContentCache::Off),
        )
        .mount("/cache", Cache::new("id", Sharing::Locked).unwrap())
        .mount("/drop", Bind::discard(tool.clone()))
        .mount("/mem", Tmpfs::new().size(64.try_into().unwrap()))
        .mount(
            "/secret",
            Secret::new("s")
                .unwrap()
                .owner(1, 2)
                .mode(0o440)
                .optional(true),
        )
        .mount("/agent", Ssh::new("a").unwrap())
        .build()
        .unwrap();
    let none = -1;
    assert_op(
        &run.root().unwrap(),
        &[
            edge(&base),
            edge(&tool),
            edge(&part),
            platform(),
            message(
                2,
                &[
                    message(
                        1,
                        &[
                            text(1, "cc"),
                            text(1, "-c"),
                            text(2, "A=1"),
                            text(2, "B=2"),
                            text(3, "/work"),
                            text(4, "1:2"),
                            message(
                                5,
                                &[
                                    text(1, "p1"),
                                    text(2, "p2"),
                                    text(3, "p3"),
                                    text(4, "p4"),
                                    text(5, "p5"),
                                ],
                            ),
                            message(6, &[text(1, "a.test"), text(2, "10.0.0.1")]),
                            message(6, &[text(1, "b.test"), text(2, "10.0.0.2")]),
                            text(7, "h"),
                            message(9, &[text(1, "nofile"), int(2, 1), int(3, 2)]),
                            message(9, &[text(1, "nproc"), int(2, 3), int(3, 4)]),
                            text(10, "group"),
                            int(11, 1),
                            bytes(12, &[0, 3]),
                        ],
                    ),
                    // The root: input 0, output 0.
                    message(2, &[text(3, "/")]),
                    message(
                        2,
                        &[
                            int(1, none),
                            text(3, "/agent"),
                            int(4, none),
                            int(6, 2),
                            message(22, &[text(1, "a"), int(4, 0o600)]),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, none),
                            text(3, "/cache"),
                            int(4, none),
                            int(6, 3),
                            message(20, &[text(1, "id"), int(2, 2)]),
                        ],
                    ),
                    message(2, &[int(1, 1), text(3, "/drop"), int(4, none)]),
                    message(
                        2,
                        &[
                            int(1, none),
                            text(3, "/mem"),
                            int(4, none),
                            int(6, 4),
                            message(19, &[int(1, 64)]),
                        ],
                    ),
                    // Sealed: read-only, and yet an output.
                    message(
                        2,
                        &[
                            int(1, 2),
                            text(3, "/part"),
                            int(4, 1),
                            int(5, 1),
                            int(24, 2),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, none),
                            text(3, "/secret"),
                            int(4, none),
                            int(6, 1),
                            message(
                                21,
                                &[text(1, "s"), int(2, 1), int(3, 2), int(4, 0o440), int(5, 1)],
                            ),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 1),
                            text(2, "/tool"),
                            text(3, "/tool"),
                            int(4, none),
                            int(5, 1),
                        ],
                    ),
                    message(2, &[int(1, none), text(3, "/z"), int(4, 2)]),
                    int(3, 1),
                    int(4, 1),
                    message(5, &[text(1, "y-id"), text(2, "Y"), int(3, 1)]),
                    message(5, &[text(1, "z-id"), text(2, "Z")]),
                ],
            ),
        ],
    );
    assert_eq!(run.output("/part").unwrap().index(), 1);
    assert_eq!(run.output("/z").unwrap().index(), 2);
}

#[test]
fn an_exec_on_scratch_has_a_writable_root_with_output_0() {
    let run = Exec::new(linux(), Root::scratch(), ["/lanegate"])
        .mount("/product", Bind::sealed(tree("/p")))
        .build()
        .unwrap();
    assert_op(
        &run.output("/product").unwrap(),
        &[
            edge(&tree("/p")),
            platform(),
            message(
                2,
                &[
                    message(1, &[text(1, "/lanegate"), text(3, "/"), int(11, 1)]),
                    message(2, &[int(1, -1), text(3, "/")]),
                    message(2, &[text(3, "/product"), int(4, 1), int(5, 1)]),
                ],
            ),
        ],
    );
}

#[test]
fn file_actions_are_chained_by_index_and_only_the_last_has_the_output() {
    let (base, from) = (tree("/base"), tree("/from"));
    let output = FileOp::new(base.clone())
        .mkdir(MkDir::new("/d/e", 0o755).make_parents().time(5))
        .mkfile(MkFile::new("/d/f", 0o644, "x").owner(Owner {
            user: Some(Id::Name("root".to_owned())),
            group: Some(Id::Number(0)),
        }))
        .copy(
            Copy::new(from.clone(), "/a/./b", "/c/")
                .follow_symlink()
                .contents()
                .make_parents()
                .wildcard(true)
                .include(["i"])
                .exclude(["e"])
                .required(["r"])
                .mode(0o755)
                .owner(Owner::ids(1, 2))
                .time(7)
                .always_replace(),
        )
        .copy(Copy::new(base.clone(), "/x", "/y"))
        .symlink(Symlink::new("../t", "/l"))
        .rm(Rm::new("/r").may_be_missing().wildcard())
        .build()
        .unwrap();
    let none = -1;
    assert_op(
        &output,
        &[
            edge(&base),
            edge(&from),
            message(
                4,
                &[
                    message(
                        2,
                        &[
                            int(2, none),
                            int(3, none),
                            message(6, &[text(1, "/d/e"), int(2, 0o755), int(3, 1), int(5, 5)]),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 2),
                            int(2, none),
                            int(3, none),
                            message(
                                5,
                                &[
                                    text(1, "/d/f"),
                                    int(2, 0o644),
                                    text(3, "x"),
                                    message(
                                        4,
                                        &[
                                            message(1, &[message(1, &[text(1, "root")])]),
                                            message(2, &[int(2, 0)]),
                                        ],
                                    ),
                                    int(5, none),
                                ],
                            ),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 3),
                            int(2, 1),
                            int(3, none),
                            message(
                                4,
                                &[
                                    text(1, "/a/b"),
                                    text(2, "/c/"),
                                    message(
                                        3,
                                        &[message(1, &[int(2, 1)]), message(2, &[int(2, 2)])],
                                    ),
                                    int(4, 0o755),
                                    int(5, 1),
                                    int(6, 1),
                                    int(8, 1),
                                    int(9, 1),
                                    int(10, 1),
                                    int(11, 7),
                                    text(12, "i"),
                                    text(13, "e"),
                                    int(14, 1),
                                    text(16, "r"),
                                ],
                            ),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 4),
                            int(3, none),
                            message(
                                4,
                                &[text(1, "/x"), text(2, "/y"), int(4, none), int(11, none)],
                            ),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 5),
                            int(2, none),
                            int(3, none),
                            message(8, &[text(1, "../t"), text(2, "/l"), int(4, none)]),
                        ],
                    ),
                    message(
                        2,
                        &[
                            int(1, 6),
                            int(2, none),
                            message(7, &[text(1, "/r"), int(2, 1), int(3, 1)]),
                        ],
                    ),
                ],
            ),
        ],
    );
}

#[test]
fn a_file_op_on_scratch_has_input_minus_1() {
    assert_op(
        &tree("/a"),
        &[message(
            4,
            &[message(
                2,
                &[
                    int(1, -1),
                    int(2, -1),
                    message(6, &[text(1, "/a"), int(2, 0o755), int(5, -1)]),
                ],
            )],
        )],
    );
}

#[test]
fn merge_keeps_order_and_repetition() {
    let (a, b) = (tree("/a"), tree("/b"));
    assert_op(
        &Merge::new([b.clone(), a.clone(), b.clone()])
            .build()
            .unwrap(),
        &[
            edge(&b),
            edge(&a),
            edge(&b),
            message(
                6,
                &[
                    message(1, &[]),
                    message(1, &[int(1, 1)]),
                    message(1, &[int(1, 2)]),
                ],
            ),
        ],
    );
}

#[test]
fn diff_is_lower_then_upper() {
    let (a, b) = (tree("/a"), tree("/b"));
    assert_op(
        &Diff::new(a.clone(), b.clone()).build(),
        &[
            edge(&a),
            edge(&b),
            message(7, &[message(1, &[]), message(2, &[int(1, 1)])]),
        ],
    );
}

#[test]
fn the_last_op_is_just_the_input_that_is_the_result() {
    let run = Exec::new(linux(), Root::scratch(), ["/x"])
        .mount("/o", Bind::scratch())
        .build()
        .unwrap();
    let output = run.output("/o").unwrap();
    let definition = Definition::new(&output);
    assert_eq!(definition.as_pb().def.last(), Some(&edge(&output)));
    assert_eq!(definition.head(), output.digest());
}

#[test]
fn the_kind_comes_last_where_the_generated_encoder_would_not_put_it() {
    use prost::Message as _;
    let output = Image::new("a".parse().unwrap(), linux()).build();
    let bytes = op(&output);
    let same = pb::Op::decode(bytes.as_slice()).unwrap().encode_to_vec();
    assert_ne!(same, bytes);
    assert_eq!(same.len(), bytes.len());
}
