//! Small right files for every reader. Each is the start of many wrong ones, so it has what a reader
//! looks for; `cargo xtask fuzz --write-seeds` writes them down.

use std::fs;

use gates::name::Name;
use gates::{arch_table, fixture, gate, policy, report, verdict, walk};

/// A seed: the name of its file, and what is in it.
pub(super) type Seeds = Vec<(&'static str, Vec<u8>)>;

/// What wheels say of themselves.
pub(super) fn wheels() -> Seeds {
    vec![
                ("METADATA", b"Metadata-Version: 2.4\r\nName: demo\nVersion: 1.0\nRequires-Python: >=3.9\nRequires-Dist: numpy[x,y]>=2,!=2.1.*; python_version < '3.14' and extra == \"fast\"\nRequires-Dist: a @ https://example.org/a.whl ; sys_platform == 'win32'\n  folded\n\nbody\n".to_vec()),
                ("RECORD", b"demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\"a,b.py\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,12\ndemo-1.0.dist-info/RECORD,,\n".to_vec()),
                ("names", b"demo-1.0-cp314-cp314t-win_arm64.whl\ndemo-1.0-1local-py2.py3-none-any.whl\ncp313-abi3.abi3t-manylinux_2_28_x86_64.musllinux_1_2_x86_64\n".to_vec()),
            ]
}

/// Environment markers.
pub(super) fn marker() -> Seeds {
    vec![
                ("and", b"python_version < '3.14' and (extra == \"fast\" or sys_platform != 'win32')".to_vec()),
                ("in", b"'arm' in platform_machine or os_name not in 'nt posix' and python_full_version ~= '3.14.0'".to_vec()),
            ]
}

/// The output of test runs, one of each kind.
pub(super) fn counts() -> Seeds {
    vec![
                ("ctest", b"Test project /b\n    Start 1: a\n1/2 Test #1: a ....   Passed    0.01 sec\n    Start 2: b\n2/2 Test #2: b ....***Failed    0.02 sec\n\n50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.03 sec\n\nThe following tests FAILED:\n\t  2 - b (Failed)\n".to_vec()),
                ("gtest", b"[==========] Running 2 tests from 1 test suite.\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[  SKIPPED ] A.c (0 ms)\n[==========] 2 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.c\n".to_vec()),
                ("junit", b"<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"><testcase name=\"a\"/><testcase name=\"b\"><failure message=\"x\">y</failure></testcase></testsuite></testsuites>".to_vec()),
                ("libtest", b"\nrunning 2 tests\ntest a ... ok\ntest b ... ignored\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n".to_vec()),
                ("lines", b"SECTION a: passed=1 failed=0 skipped=0\nTESTS: passed=1 failed=0 skipped=0\n".to_vec()),
                ("nextest", b"    Starting 2 tests across 1 binary\n        PASS [   0.004s] a::b c\n        FAIL [   0.004s] a::b d\n------------\n     Summary [   0.005s] 2 tests run: 1 passed, 1 failed, 3 skipped\n".to_vec()),
                ("pytest", b"\x1b[1m============ test session starts ============\x1b[0m\ncollected 2 items\n\nt.py .F [100%]\n\nFAILED t.py::b - x\n========= 1 failed, 1 passed in 0.01s =========\n".to_vec()),
            ]
}

/// A product's own list.
pub(super) fn manifest() -> Seeds {
    vec![("MANIFEST.json", b"{\"schema\":\"manifest/1\",\"target\":\"windows/arm64\",\"files\":[{\"path\":\"a.dll\",\"sha256\":\"00\",\"size\":1}],\"env\":{\"A\":\"b\"}}\n".to_vec())]
}

/// Lane files and pins. media-mini.toml lies there too: a copy of the example as it once was.
pub(super) fn lanes() -> Seeds {
    vec![
                ("pins.env", b"# a pin\nCMAKE_VERSION=4.1.2\nexport X_SHA256='00' # why\n".to_vec()),
                ("small.toml", b"[graph]\nname = \"g\"\n[lane.a]\nplatform = \"linux/amd64\"\ntarget = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n[stage.s]\nfrom = { image = \"x:1\" }\nsteps = [{ run = \"true\", when = { target = \"linux/*\" } }]\n".to_vec()),
            ]
}

/// A contract of plugins.
pub(super) fn contract() -> Seeds {
    let text = "[[plugins]]\nfile = \"a.dll\"\nexports = [\"run\"]\nwhy = \"the host loads it\"\nabsent-on = { \"windows/arm64\" = \"no driver\" }\n";
    vec![("plugins.toml", text.as_bytes().to_vec())]
}

/// An index of digests, as sha256sum writes it.
pub(super) fn index() -> Seeds {
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let text = format!("{digest}  ./a.whl\r\n{digest} *b.zip\n");
    vec![("SHA256SUMS", text.into_bytes())]
}

/// The environment of a process, as `lanegate run` writes it down.
pub(super) fn environment() -> Seeds {
    let text = br#"{"HOME":"/root","PATH":"/usr/bin:/opt/bin","TOKEN":"\u0061b","URL":"http://10.0.0.1/"}"#;
    vec![("process.json", text.to_vec())]
}

/// A policy.
pub(super) fn policies() -> Seeds {
    vec![("arch.json", POLICY.as_bytes().to_vec())]
}

/// Binaries that say who built them.
pub(super) fn traced() -> Seeds {
    let dll = fixture::traced_dll(
        fixture::ARM64,
        &[(261, 33808), (1, 0)],
        Some("D:\\a\\b.pdb"),
    );
    let so = fixture::traced_elf(
        62,
        &["GCC: (Debian 12.2.0-14) 12.2.0", "rustc 1.94"],
        &[7; 20],
    );
    let go = [
        &so[..],
        b"\xff Go buildinf:\x08\x02\0\0\0\0\0\0\x08go1.22.1",
    ]
    .concat();
    vec![("go.so", go), ("traced.dll", dll), ("traced.so", so)]
}

/// Signed images, and the DER of a signature. The tests of the gate `signed` make them.
pub(super) fn signed() -> Seeds {
    macro_rules! seed {
        ($name:literal) => {
            (
                $name,
                include_bytes!(concat!("../../fuzz-seeds/signed/", $name)).to_vec(),
            )
        };
    }
    vec![seed!("dual.dll"), seed!("ecdsa.der"), seed!("pss.dll")]
}

/// Objects.
pub(super) fn objects() -> Seeds {
    vec![
        ("arm64.obj", fixture::coff(fixture::ARM64)),
        ("bigobj.obj", fixture::bigobj(fixture::AMD64)),
        ("import.obj", fixture::import(fixture::ARM64, "f", "a.dll")),
    ]
}

/// LLVM bitcode.
pub(super) fn bitcode() -> Seeds {
    let triple = "aarch64-pc-windows-msvc";
    vec![
        ("plain.bc", fixture::bitcode(triple, false)),
        ("wrapped.bc", fixture::bitcode(triple, true)),
    ]
}

/// PE images.
pub(super) fn images() -> Seeds {
    let linked = fixture::Pe {
        imports: vec![("a.dll", vec!["f", "#7"]), ("b.dll", vec!["g"])],
        delayed: vec![("c.dll", vec!["h"])],
        delayed_v1: Vec::new(),
        exports: vec![
            ("code", fixture::Export::Code),
            ("data", fixture::Export::Data(vec![1, 2, 3, 4])),
            ("away", fixture::Export::Forward("d.far")),
        ],
    };
    let old = fixture::Pe {
        delayed_v1: vec![("old.dll", vec!["o", "#3"])],
        ..fixture::Pe::default()
    };
    vec![
        ("plain.dll", fixture::dll(fixture::AMD64)),
        ("hybrid.dll", fixture::hybrid_dll(fixture::ARM64)),
        ("linked.dll", linked.dll(fixture::ARM64)),
        ("old.dll", old.dll(fixture::I386)),
    ]
}

/// ELF files.
pub(super) fn elves() -> Seeds {
    let linked = fixture::Elf {
        needed: vec!["libc.so.6", "libz.so.1"],
        soname: Some("libx.so.1"),
        runpath: Some("$ORIGIN/../lib:/opt/lib"),
        interpreter: Some("/lib64/ld-linux-x86-64.so.2"),
        needs: vec![("libc.so.6", vec!["GLIBC_2.17", "GLIBC_2.34"])],
        defines: vec!["libx.so.1", "X_1.0"],
        stack: Some(7),
        data: vec![("table", vec![1, 2, 3])],
        code: vec!["run"],
        ..fixture::Elf::default()
    };
    vec![
        ("linked.so", linked.shared(62)),
        ("plain32be.so", fixture::elf(32, true, 20)),
        ("plain64.so", fixture::elf(64, false, 183)),
    ]
}

/// Code for GPUs: bundles, plain and compressed, and fat binaries.
pub(super) fn device() -> Seeds {
    let code = fixture::code_object(0x41, 3);
    let bundle = fixture::bundle(&[
        ("host-x86_64-unknown-linux--", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", &code),
    ]);
    let packed =
        |version, method| fixture::compressed(version, method, &bundle).unwrap_or_default();
    let fat = fixture::fat_binary(&[(2, 90, b"code"), (1, 90, b"text")]);
    vec![
        ("code.co", code.clone()),
        (
            "fat.dll",
            fixture::dll_with(fixture::AMD64, ".nv_fatb", &fat),
        ),
        ("plain.so", fixture::elf_with(62, 3, ".hip_fatbin", &bundle)),
        ("zlib.hipfb", packed(1, 0)),
        ("zstd.hipfb", packed(3, 1)),
    ]
}

/// Static and import libraries.
pub(super) fn archives() -> Seeds {
    let (arm, big) = (
        fixture::coff(fixture::ARM64),
        fixture::bigobj(fixture::ARM64),
    );
    let long = "a-name-of-more-than-fifteen-characters.obj";
    let members = fixture::archive(&[("a.obj", &arm), (long, &big)]);
    let import = fixture::import_library(fixture::ARM64, fixture::ARM64, &["f", "g"]);
    vec![("import.lib", import), ("members.lib", members)]
}

/// Zips: a wheel, and one in another.
pub(super) fn zips() -> Seeds {
    let dll = fixture::dll(fixture::ARM64);
    let zip = |members: &[(&str, &[u8])]| fixture::zip(members).unwrap_or_default();
    let inner = zip(&[("m.pyd", &dll)]);
    let wheel = zip(&[
        ("m.cp314-win_arm64.pyd", &dll),
        (
            "m-1.dist-info/METADATA",
            b"Metadata-Version: 2.4\nName: m\nVersion: 1\n",
        ),
        (
            "m-1.dist-info/WHEEL",
            b"Wheel-Version: 1.0\nTag: cp314-cp314-win_arm64\n",
        ),
        ("m-1.dist-info/RECORD", b"m.cp314-win_arm64.pyd,,\n"),
    ]);
    vec![
        ("nested.zip", zip(&[("in.zip", &inner)])),
        ("wheel.whl", wheel),
    ]
}

/// What `arch` makes of a small tree, inspected and asserted.
pub(super) fn reports() -> Seeds {
    let make = || {
        let dir = std::env::temp_dir().join(format!("lanekit-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).ok()?;
        fs::write(dir.join("a.dll"), fixture::dll(fixture::ARM64)).ok()?;
        fs::write(dir.join("b.dll"), fixture::dll(fixture::AMD64)).ok()?;
        let root = walk::Root {
            path: dir.clone(),
            label: Name::from("t"),
        };
        let row = arch_table::row("windows/arm64").ok()?;
        let gate = gate::Gate::named("arch").ok()?;
        let seen = gate.inspect(&row, &[root], &gate::Object::new()).ok();
        let _ = fs::remove_dir_all(dir);
        let seen = seen?;
        let loaded = policy::Loaded::of(serde_json::from_str(POLICY).ok()?).ok()?;
        let asserted = verdict::judge(&seen, &loaded).ok()?;
        Some(vec![
            ("asserted.json", report::canonical(&asserted).ok()?),
            ("inspected.json", report::canonical(&seen).ok()?),
        ])
    };
    make().unwrap_or_default()
}

/// A policy of the gate `arch`.
pub(super) const POLICY: &str = r#"{"allow":[{"path":"a/**","why":"w"}],"ask":{},"check":"arch","demand":{},"effect":"block","floors":{"inspected":{"broken":1,"least":2,"measured":3,"on":"2026-12-01"}},"gate":"g","schema":"gate-policy/1","target":"windows/arm64"}"#;
