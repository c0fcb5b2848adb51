//! Real binaries for the tests of `gates`: files that nobody here made, and
//! the tools that read them independently.
//!
//! Wheels come through pip, whose own configuration says from where; Debian
//! packages through apt, unpacked and never installed. What is there already
//! is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::repo::whole;
use crate::{engine, run};

/// A wheel, by what pip needs to find it, and its digest.
pub(crate) struct Wheel {
    requirement: &'static str,
    platform: &'static str,
    python: &'static str,
    /// Where it is not the one that goes with `python`.
    abi: Option<&'static str>,
    pub(crate) file: &'static str,
    sha256: &'static str,
}

/// A wheel for Python 3.13.
pub(crate) const fn wheel(
    requirement: &'static str,
    platform: &'static str,
    file: &'static str,
    sha256: &'static str,
) -> Wheel {
    Wheel {
        requirement,
        platform,
        python: "313",
        abi: None,
        file,
        sha256,
    }
}

const fn free_threaded(mut wheel: Wheel) -> Wheel {
    wheel.python = "314";
    wheel.abi = Some("cp314t");
    wheel
}

/// Small wheels, each with something of its own; numpy's is the one small
/// source of a real ARM64X image.
const WHEELS: &[Wheel] = &[
    wheel(
        "markupsafe==3.0.4",
        "win_arm64",
        "markupsafe-3.0.4-cp313-cp313-win_arm64.whl",
        "06de8ef6331f6e822c28d577dc8bf43fe398800477c49498f38fc38b67ff33fc",
    ),
    wheel(
        "markupsafe==3.0.4",
        "win_amd64",
        "markupsafe-3.0.4-cp313-cp313-win_amd64.whl",
        "1f1f9477e174582b0a1b583d60b66e1f2cf5d3fe12cee985e4aedf44766600e5",
    ),
    free_threaded(wheel(
        "markupsafe==3.0.4",
        "win_arm64",
        "markupsafe-3.0.4-cp314-cp314t-win_arm64.whl",
        "eba154571c16e032112afac0dc2dfe9e63c2ceb7aedd07bb7eecf2ce26d4dd4c",
    )),
    free_threaded(wheel(
        "markupsafe==3.0.4",
        "win_amd64",
        "markupsafe-3.0.4-cp314-cp314t-win_amd64.whl",
        "a18f38cafc329bac5e3c2b96c765b4c96d3d103421ed22ab7988c1e3fce27464",
    )),
    wheel(
        "msgpack==1.2.4",
        "win32",
        "msgpack-1.2.4-cp313-cp313-win32.whl",
        "892d4f17d7962bfd2c2928b0a47542bf2948f074a7c04721b73d4138b70481e4",
    ),
    wheel(
        "psutil==7.2.2",
        "win_arm64",
        "psutil-7.2.2-cp37-abi3-win_arm64.whl",
        "8c233660f575a5a89e6d4cb65d9f938126312bca76d8fe087b947b3a1aaac9ee",
    ),
    wheel(
        "distlib==0.4.4",
        "any",
        "distlib-0.4.4-py2.py3-none-any.whl",
        "cf09d55b1e85a89576b036aeb71550bfd68320f3f21761ca329eadadad918638",
    ),
    // Delayed imports, and many by number.
    wheel(
        "pywin32==312",
        "win_amd64",
        "pywin32-312-cp313-cp313-win_amd64.whl",
        "c53e878d15a1c44788082bfe712a905433473aa38f86375b7cf8b45e3acbaaf9",
    ),
    wheel(
        "numpy==2.5.5",
        "win_arm64",
        "numpy-2.5.5-cp313-cp313-win_arm64.whl",
        "e0b87886bb45621d9279dad4ab9f2d154b5db0b019d378c107b8f71527b06a4a",
    ),
    wheel(
        "cffi==2.1.1",
        "musllinux_1_2_x86_64",
        "cffi-2.1.1-cp313-cp313-musllinux_1_2_x86_64.whl",
        "e0bcb7e0f677f543555d2adff3bf19c05f66cdb4796e5ff602442ab2fe3c4ef7",
    ),
    wheel(
        "markupsafe==3.0.4",
        "manylinux2014_x86_64",
        "markupsafe-3.0.4-cp313-cp313-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
        "434139499bb20b502ed3baa1f169e618f924a97e7a777fea1a49446d80106cf6",
    ),
    wheel(
        "markupsafe==3.0.4",
        "manylinux2014_aarch64",
        "markupsafe-3.0.4-cp313-cp313-manylinux2014_aarch64.manylinux_2_17_aarch64.manylinux_2_28_aarch64.whl",
        "7018d4af1cd272e847aa5917983ab5e83e4f6579f9dbfecd4a79c0ca80b144c2",
    ),
    wheel(
        "markupsafe==3.0.4",
        "musllinux_1_2_aarch64",
        "markupsafe-3.0.4-cp313-cp313-musllinux_1_2_aarch64.whl",
        "b8cd1f918b26fd7b1832ece557cc18f2d8747309ff8b3f0ef9d4250c5ad67a39",
    ),
    free_threaded(wheel(
        "markupsafe==3.0.4",
        "manylinux2014_x86_64",
        "markupsafe-3.0.4-cp314-cp314t-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
        "b4a635a0487774f841cb1fb62e907e7195cc95bc761e053184b8acc3ceb20733",
    )),
    wheel(
        "psutil==7.2.2",
        "win_amd64",
        "psutil-7.2.2-cp37-abi3-win_amd64.whl",
        "eb7e81434c8d223ec4a219b5fc1c47d0417b12be7ea866e24fb5ad6e84b3d988",
    ),
    wheel(
        "psutil==7.2.2",
        "manylinux2014_x86_64",
        "psutil-7.2.2-cp36-abi3-manylinux2010_x86_64.manylinux_2_12_x86_64.manylinux_2_28_x86_64.whl",
        "076a2d2f923fd4821644f5ba89f059523da90dc9014e85f8e45a5774ca5bc6f9",
    ),
];

/// Images with two signatures each, one in the other; in that of [`SIGNED`] they lie side by side.
const SIGNATURES: &[Wheel] = &[wheel(
    "msvc-runtime==14.51.36231",
    "win_amd64",
    "msvc_runtime-14.51.36231-cp313-cp313-win_amd64.whl",
    "f3c3ac4f733a774f6ae209567e533bfde6f72dc1c10977733bfe09ce01e5b624",
)];
const SIGNED: &str = "shim-signed";
/// What reads signatures and certificates.
const READERS: [&str; 2] = ["openssl", "osslsigncode"];

/// Small libraries with code for NVIDIA's GPUs: the same one for two systems, and one of another
/// maker.
const CUDA: &[Wheel] = &[
    wheel(
        "nvidia-nvjpeg==13.3.2.43",
        "manylinux2014_x86_64",
        "nvidia_nvjpeg-13.3.2.43-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        "27f9c4a25a73f1d1ad35c342c8d657c8ff43e23877f338ef15fb2602ac2e5aa8",
    ),
    wheel(
        "nvidia-nvjpeg==13.3.2.43",
        "win_amd64",
        "nvidia_nvjpeg-13.3.2.43-py3-none-win_amd64.whl",
        "5c6486662a9006535b86550c9b33d25f23ca912eb41e191d113cea04ba33faea",
    ),
    wheel(
        "colabfold-cuda-kernels==0.2.2",
        "manylinux_2_28_x86_64",
        "colabfold_cuda_kernels-0.2.2-py3-none-manylinux_2_28_x86_64.whl",
        "5c199c5b58574c5805cd3ab12f8d7dd997ba66beafff7cd7ebd6f26d62fa474a",
    ),
];

/// NVIDIA's reader of such code.
const CUOBJDUMP: Wheel = wheel(
    "nvidia-cuda-cuobjdump==13.5.37",
    "manylinux2014_x86_64",
    "nvidia_cuda_cuobjdump-13.5.37-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
    "38780fee50863252a0b8926357faa91615ca1c8346490563f33a06100cd73f58",
);

/// A reader of PE images in Python.
pub(crate) const PEFILE: Wheel = wheel(
    "pefile==2024.8.26",
    "any",
    "pefile-2024.8.26-py3-none-any.whl",
    "76f8b485dcd3b1bb8166f1128d395fa3d87af26360c2358fb75b80019b957c6f",
);

/// Packages whose content is looked at, each unpacked by itself: DLLs of two
/// machines, static and import libraries, EFI programs, ELF of the machine, and a
/// library with code for GPUs.
const PACKAGES: [&str; 6] = [
    "librocrand1",
    "libz-mingw-w64",
    "libz-mingw-w64-dev",
    "mingw-w64-x86-64-dev",
    "systemd-boot-efi",
    "zlib1g-dev",
];

/// Tools of LLVM that read the same files, and make a few that exist nowhere.
const TOOLS: [&str; 6] = [
    "llvm-ar",
    "llvm-as",
    "llvm-dlltool",
    "llvm-mc",
    "llvm-nm",
    "llvm-readobj",
];
const LLVM: &str = "llvm-19";
/// The suite that packages come from: one that no longer moves.
const SUITE: &str = "trixie";

const DOWNLOAD: Duration = Duration::from_secs(300);
const ASK: Duration = Duration::from_secs(60);

/// Debian's packages.
///
/// # Errors
/// When apt cannot list them.
pub(crate) fn suite() -> Result<engine::Suite> {
    engine::suite(&[SUITE])
}

/// Fills `dir` with `wheels/*.whl`, `debian/PACKAGE/` and `tools/`,
/// where `pefile` is Python that has it.
///
/// # Errors
/// When pip or apt cannot deliver, or a wheel is not the one that it was.
pub(crate) fn fetch(dir: &Path) -> Result<()> {
    let dir = std::path::absolute(dir)?;
    let suite = suite()?;
    for package in PACKAGES {
        let to = dir.join("debian").join(package);
        whole(&to, |to| {
            let files = suite.download(&[package], &dir.join("debs"))?;
            engine::unpack(&files, to)
        })
        .with_context(|| format!("package {package}"))?;
    }
    tools(&suite, &dir)?;
    wheels(&suite, &dir, WHEELS)?;
    cuda(&suite, &dir)?;
    signatures(&suite, &dir)?;
    pefile(&suite, &dir)
}

/// Fills `dir/signed/` with images that their makers signed, and writes the tools that read signatures.
fn signatures(suite: &engine::Suite, dir: &Path) -> Result<()> {
    let own = dir.join("signed");
    wheels(suite, &own, SIGNATURES)?;
    whole(&own.join("debian"), |to| {
        let files = suite.download(&[SIGNED], &dir.join("debs"))?;
        engine::unpack(&files, to)
    })
    .with_context(|| format!("package {SIGNED}"))?;
    let tree = dir.join("signatures");
    whole(&tree, |to| unpack_closure(suite, &READERS, dir, to)).context("readers of signatures")?;
    for tool in READERS {
        let program = tree.join("usr/bin").join(tool);
        wrapper(&tree, &program, &dir.join("tools").join(tool))?;
    }
    Ok(())
}

/// Fills `dir/cuda/` with libraries that have code for GPUs, and writes `dir/tools/cuobjdump`.
fn cuda(suite: &engine::Suite, dir: &Path) -> Result<()> {
    let own = dir.join("cuda");
    wheels(suite, &own, CUDA)?;
    let reader = dir.join("cuobjdump");
    wheels(suite, &reader, &[CUOBJDUMP])?;
    let file = fs::File::open(reader.join("wheels").join(CUOBJDUMP.file))?;
    let mut program = zip::ZipArchive::new(file)?;
    let mut program = program.by_name("nvidia/cu13/bin/cuobjdump")?;
    let to = dir.join("tools/cuobjdump");
    let mut out = fs::File::create(&to)?;
    std::io::copy(&mut program, &mut out)?;
    drop(out);
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Writes `dir/tools/pefile`: Python that has pefile.
fn pefile(suite: &engine::Suite, dir: &Path) -> Result<()> {
    let own = dir.join("pefile");
    wheels(suite, &own, &[PEFILE])?;
    let wheel = own.join("wheels").join(PEFILE.file);
    let words: Vec<String> = python(suite, dir)?
        .iter()
        .map(|word| format!("'{word}'"))
        .collect();
    let text = format!(
        "#!/bin/sh\nPYTHONPATH=\"{}:$PYTHONPATH\" exec {} \"$@\"\n",
        wheel.display(),
        words.join(" ")
    );
    let script = dir.join("tools/pefile");
    fs::write(&script, text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Fills `dir/tools/` with LLVM's.
///
/// # Errors
/// When apt cannot deliver.
pub(crate) fn tools(suite: &engine::Suite, dir: &Path) -> Result<()> {
    let llvm = dir.join("llvm");
    whole(&llvm, |to| unpack_closure(suite, &[LLVM], dir, to)).context("the tools of LLVM")?;
    for tool in TOOLS {
        let program = llvm.join("usr/lib").join(LLVM).join("bin").join(tool);
        wrapper(&llvm, &program, &dir.join("tools").join(tool))?;
    }
    Ok(())
}

/// Fills `dir/wheels/` with these.
///
/// # Errors
/// When pip cannot deliver, or a wheel is not the one that it was.
pub(crate) fn wheels(suite: &engine::Suite, dir: &Path, list: &[Wheel]) -> Result<()> {
    let wheels = dir.join("wheels");
    fs::create_dir_all(&wheels)?;
    let missing: Vec<&Wheel> = list
        .iter()
        .filter(|wheel| !is(&wheels.join(wheel.file), wheel.sha256))
        .collect();
    if !missing.is_empty() {
        let pip = pip(suite, dir)?;
        for wheel in missing {
            download(&pip, wheel, &wheels).with_context(|| format!("wheel {}", wheel.file))?;
        }
    }
    Ok(())
}

fn unpack_closure(suite: &engine::Suite, packages: &[&str], dir: &Path, to: &Path) -> Result<()> {
    let names = suite.closure(packages)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let files = suite.download(&names, &dir.join("debs"))?;
    engine::unpack(&files, to)
}

/// Writes a script that runs a program of an unpacked tree with that tree's
/// own loader and libraries, whatever the machine has.
fn wrapper(tree: &Path, program: &Path, script: &Path) -> Result<()> {
    ensure!(program.exists(), "there is no {}", program.display());
    let loader = loader(tree)?;
    let libraries = library_path(tree);
    fs::create_dir_all(script.parent().unwrap_or(tree))?;
    let text = format!(
        "#!/bin/sh\nexec '{}' --library-path '{libraries}' '{}' \"$@\"\n",
        loader.display(),
        program.display()
    );
    if fs::read_to_string(script).ok().as_deref() != Some(&text) {
        fs::write(script, text)?;
        fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// The dynamic loader of the tree's C library.
fn loader(tree: &Path) -> Result<PathBuf> {
    let dirs = ["usr/lib64", "lib64", "usr/lib", "lib"];
    dirs.iter()
        .filter_map(|dir| fs::read_dir(tree.join(dir)).ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.path())
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("ld-linux") && fs::metadata(path).is_ok()
        })
        .with_context(|| format!("no dynamic loader below {}", tree.display()))
}

fn library_path(tree: &Path) -> String {
    let arch = std::env::consts::ARCH;
    let dirs = [
        format!("usr/lib/{arch}-linux-gnu"),
        format!("lib/{arch}-linux-gnu"),
        format!("usr/lib/{LLVM}/lib"),
    ];
    dirs.map(|dir| tree.join(dir).display().to_string())
        .join(":")
}

/// The words that run pip: the machine's, or Debian's out of a tree.
fn pip(suite: &engine::Suite, dir: &Path) -> Result<Vec<String>> {
    for words in [vec!["pip"], vec!["pip3"], vec!["python3", "-m", "pip"]] {
        let mut ask = Command::new(words[0]);
        ask.args(&words[1..]).arg("--version");
        if run::output(&mut ask, ASK).is_ok() {
            return Ok(words.into_iter().map(str::to_owned).collect());
        }
    }
    let mut words = debian_python(suite, dir)?;
    words.extend(["-m", "pip"].map(str::to_owned));
    Ok(words)
}

/// The words that run Python: the machine's, or Debian's out of a tree.
///
/// # Errors
/// When the machine has none and apt cannot deliver.
pub(crate) fn python(suite: &engine::Suite, dir: &Path) -> Result<Vec<String>> {
    if run::output(Command::new("python3").arg("--version"), ASK).is_ok() {
        return Ok(vec!["python3".to_owned()]);
    }
    debian_python(suite, dir)
}

fn debian_python(suite: &engine::Suite, dir: &Path) -> Result<Vec<String>> {
    let tree = dir.join("pip");
    whole(&tree, |to| unpack_closure(suite, &["python3-pip"], dir, to)).context("pip")?;
    let script = dir.join("tools/python3");
    let python = fs::canonicalize(tree.join("usr/bin/python3"))?;
    wrapper(&tree, &python, &script)?;
    let home = format!("PYTHONHOME={}", tree.join("usr").display());
    let path = format!(
        "PYTHONPATH={}",
        tree.join("usr/lib/python3/dist-packages").display()
    );
    let script = script.display().to_string();
    let words = ["env", &home, &path, &script];
    Ok(words.map(str::to_owned).to_vec())
}

fn download(pip: &[String], wheel: &Wheel, into: &Path) -> Result<()> {
    let mut command = Command::new(&pip[0]);
    command
        .args(&pip[1..])
        .args(["download", "--quiet", "--disable-pip-version-check"])
        .args(["--no-deps", "--only-binary=:all:"])
        .args(["--platform", wheel.platform])
        .args(["--python-version", wheel.python])
        .args(wheel.abi.iter().flat_map(|abi| ["--abi", abi]))
        .arg("--dest")
        .arg(into)
        .arg(wheel.requirement);
    run::output(&mut command, DOWNLOAD)?;
    let file = into.join(wheel.file);
    ensure!(
        is(&file, wheel.sha256),
        "{} is missing or another one than it was",
        file.display()
    );
    Ok(())
}

/// Whether a file has this content.
fn is(file: &Path, sha256: &str) -> bool {
    fs::read(file).is_ok_and(|bytes| {
        let digest = Sha256::digest(bytes);
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            == sha256
    })
}
