//! `cargo xtask bench`: how fast lanegate is, against other readers of the same files.
//!
//! The tree is of real files that nobody here made: every DLL, Python module and program of some
//! wheels for Windows, each once, nothing repeated or padded. In one run lanegate's `arch` and
//! `imports` read it, `llvm-readobj --coff-imports` with all files in one process, and pefile in
//! its fast mode with nothing but the import tables. The readers' counts must agree, so that none
//! of them does less than it should.

mod keys;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::corpora::{self, Wheel, wheel};
use crate::{repo, run};

pub(crate) use keys::keys;

/// What lanegate must reach.
const LEAST_FILES: usize = 1_200;
const LEAST_BYTES: u64 = 1_000_000_000;
const OVER_READOBJ: f64 = 3.0;
const OVER_PEFILE: f64 = 15.0;
const MOST_KILOBYTES: u64 = 150_000;

/// How often each of the quick readers runs; the best run of each counts.
const ROUNDS: usize = 5;
const LIMIT: Duration = Duration::from_secs(600);

/// Runs a command and says how long it took and how much memory it had at most.
const MEASURE: &str = include_str!("measure.py");
/// Reads the import tables of all files.
const PEFILE: &str = include_str!("pefile_imports.py");

const TREE: &[Wheel] = &[
    win(
        "numpy==2.5.5",
        "numpy-2.5.5-cp313-cp313-win_amd64.whl",
        "e0608d1585557b68dcb6a70a41654f7536567960afad79d91752d2863b242b68",
    ),
    win(
        "opencv-python-headless==5.1.0.95",
        "opencv_python_headless-5.1.0.95-cp37-abi3-win_amd64.whl",
        "2fd11ce2e88feb28869ad5762a31546ce0062e7c55c130c425ccd3918a19e4fa",
    ),
    win(
        "pandas==3.1.1",
        "pandas-3.1.1-cp313-cp313-win_amd64.whl",
        "6d84760cc1bd799440a66b4df2ceb7a508870f3b8b4d8dda21befd62779cd3b4",
    ),
    win(
        "pyarrow==26.0.1",
        "pyarrow-26.0.1-cp313-cp313-win_amd64.whl",
        "8196f36a2f4cb8d2d6ef3651941b80e5ccf125d7653657d99af5bb298e7a7026",
    ),
    win(
        "PyQt6==6.12.0",
        "pyqt6-6.12.0-cp310-abi3-win_amd64.whl",
        "c764f22d101ea9885533ee8452752b929e2ad1d3d77a5c1c12ac82e5f30c99ae",
    ),
    win(
        "PyQt6-Qt6==6.11.2",
        "pyqt6_qt6-6.11.2-py3-none-win_amd64.whl",
        "4b424ed1babbef07133eb2a4174c56c848d518767bca8e759aca2c8c9c313636",
    ),
    win(
        "PySide6-Addons==6.12.0",
        "pyside6_addons-6.12.0-cp310-abi3-win_amd64.whl",
        "98d8d62010da6605344cee83e5c96fb846170a1f2d924523f10f5d92078b02b0",
    ),
    win(
        "PySide6-Essentials==6.12.0",
        "pyside6_essentials-6.12.0-cp310-abi3-win_amd64.whl",
        "c9a95102aa23c1f86516a30d5a9be37552d324eee7e567eb7508973f1218cb42",
    ),
    win(
        "pywin32==312",
        "pywin32-312-cp313-cp313-win_amd64.whl",
        "c53e878d15a1c44788082bfe712a905433473aa38f86375b7cf8b45e3acbaaf9",
    ),
    win(
        "scikit-image==0.26.0",
        "scikit_image-0.26.0-cp313-cp313-win_amd64.whl",
        "ac529eb9dbd5954f9aaa2e3fe9a3fd9661bfe24e134c688587d811a0233127f1",
    ),
    win(
        "scikit-learn==1.9.1",
        "scikit_learn-1.9.1-cp313-cp313-win_amd64.whl",
        "2070f271e5375dc42c6bb93b461ab1c0aa5841d4009267e0cfd95a39dca94a43",
    ),
    win(
        "scipy==1.18.1",
        "scipy-1.18.1-cp313-cp313-win_amd64.whl",
        "559ed65f60c1af5a03f3912605a1b5114f522c7c32fb23c3376ae8f03219fe28",
    ),
    win(
        "shiboken6==6.12.0",
        "shiboken6-6.12.0-cp310-abi3-win_amd64.whl",
        "a1906cb8116869178c64b6bab52623bbc8b4ceed7b30bfc3c9aa0f6e67f6438e",
    ),
    win(
        "vtk==9.7.2",
        "vtk-9.7.2-cp313-cp313-win_amd64.whl",
        "6e5b3b8aa24fc09f5e7bc981fb7ef7858f860d169f7182c8d5eb272863b9009f",
    ),
];

const fn win(requirement: &'static str, file: &'static str, sha256: &'static str) -> Wheel {
    wheel(requirement, "win_amd64", file, sha256)
}

/// How a command ran.
#[derive(Debug, Clone, Copy)]
struct Run {
    seconds: f64,
    kilobytes: u64,
}

impl Run {
    /// The better of two runs of one command, and the worse of their memory.
    fn best(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.min(other.seconds),
            kilobytes: self.kilobytes.max(other.kilobytes),
        }
    }
}

/// Measures and prints; hands back whether every limit was kept.
///
/// # Errors
/// When files or tools cannot be had, or the readers do not see the same.
pub(crate) fn run() -> Result<bool> {
    let dir = repo::root().join("target/bench");
    let suite = corpora::suite()?;
    corpora::tools(&suite, &repo::root().join("target/corpora"))?;
    corpora::wheels(&suite, &dir, TREE)?;
    corpora::wheels(&suite, &dir, &[corpora::PEFILE])?;
    let bench = Bench {
        python: corpora::python(&suite, &dir)?,
        lanegate: lanegate()?,
        readobj: repo::root().join("target/corpora/tools/llvm-readobj"),
        files: unpack(&dir)?,
        dir,
    };
    bench.run()
}

/// lanegate as it is released.
fn lanegate() -> Result<PathBuf> {
    let mut build = repo::cargo();
    build.args(["build", "--release", "--locked", "--package", "gates"]);
    run::attached(&mut build, LIMIT)?;
    Ok(repo::root().join("target/release/lanegate"))
}

/// Unpacks the wheels' binaries into `tree/WHEEL/` and lists them.
fn unpack(dir: &Path) -> Result<Vec<PathBuf>> {
    let tree = dir.join("tree");
    for wheel in TREE {
        let name = wheel.file.split('-').next().unwrap_or(wheel.file);
        let to = tree.join(name);
        if to.exists() {
            continue;
        }
        let part = tree.join(format!("{name}.part"));
        let _ = fs::remove_dir_all(&part);
        let mut zip = zip::ZipArchive::new(File::open(dir.join("wheels").join(wheel.file))?)?;
        for index in 0..zip.len() {
            let mut member = zip.by_index(index)?;
            let Some(path) = member.enclosed_name().filter(|path| is_binary(path)) else {
                continue;
            };
            let path = part.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&part))?;
            io::copy(&mut member, &mut File::create(path)?)?;
        }
        fs::rename(&part, &to)?;
    }
    let mut files = Vec::new();
    let mut open = vec![tree];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => open.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    files.sort();
    Ok(files)
}

fn is_binary(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    ["dll", "exe", "pyd"]
        .iter()
        .any(|known| extension == *known)
}

struct Bench {
    dir: PathBuf,
    python: Vec<String>,
    lanegate: PathBuf,
    readobj: PathBuf,
    files: Vec<PathBuf>,
}

impl Bench {
    fn run(&self) -> Result<bool> {
        let bytes = self.warm()?;
        println!(
            "tree: {} PE files for windows/amd64, {} MB, of {} wheels; each file once",
            self.files.len(),
            bytes / 1_000_000,
            TREE.len()
        );
        for wheel in TREE {
            println!("  {}", wheel.file);
        }
        ensure!(
            self.files.len() >= LEAST_FILES,
            "fewer than {LEAST_FILES} files"
        );
        ensure!(bytes >= LEAST_BYTES, "fewer than {LEAST_BYTES} bytes");
        let mut readobj = vec![self.readobj.display().to_string(), "--coff-imports".into()];
        readobj.extend(self.files.iter().map(|file| file.display().to_string()));
        let mut best: BTreeMap<&str, Run> = BTreeMap::new();
        for _ in 0..ROUNDS {
            for (name, command) in [
                ("arch", self.gate("arch")),
                ("imports", self.gate("imports")),
                ("llvm-readobj", readobj.clone()),
            ] {
                let run = self.measure(&command, &self.dir.join("out").join(name))?;
                let before = best.get(name).copied().unwrap_or(run);
                best.insert(name, before.best(run));
            }
        }
        let list = self.dir.join("files.txt");
        let names: Vec<String> = self.files.iter().map(|f| f.display().to_string()).collect();
        fs::write(&list, names.join("\n"))?;
        let script = self.dir.join("pefile_imports.py");
        fs::write(&script, PEFILE)?;
        let mut pefile = self.python.clone();
        pefile.extend(
            [
                script,
                self.dir.join("wheels").join(corpora::PEFILE.file),
                list,
            ]
            .map(|path| path.display().to_string()),
        );
        let slow = self.measure(&pefile, &self.dir.join("out/pefile"))?;
        best.insert("pefile", slow);
        self.agree()?;
        Ok(told(&best))
    }

    /// Reads every file once, so that no reader waits for the disk; hands back their bytes.
    fn warm(&self) -> Result<u64> {
        let mut bytes = 0;
        for file in &self.files {
            bytes += io::copy(&mut File::open(file)?, &mut io::sink())?;
        }
        Ok(bytes)
    }

    fn report(&self, gate: &str) -> PathBuf {
        self.dir.join(format!("{gate}.json"))
    }

    fn gate(&self, gate: &str) -> Vec<String> {
        let mut words = vec![self.lanegate.display().to_string()];
        words.extend([gate, "--target", "windows/amd64", "--least"].map(str::to_owned));
        words.push(self.files.len().to_string());
        words.push("--root".to_owned());
        words.push(format!("{}=", self.dir.join("tree").display()));
        words.push("--report".to_owned());
        words.push(self.report(gate).display().to_string());
        words
    }

    /// Runs a command with its output in a file.
    fn measure(&self, command: &[String], out: &Path) -> Result<Run> {
        fs::create_dir_all(out.parent().unwrap_or(out))?;
        let mut measure = Command::new(&self.python[0]);
        measure
            .args(&self.python[1..])
            .args(["-c", MEASURE])
            .arg(out)
            .args(command);
        let said = run::output(&mut measure, LIMIT)?;
        let told: Value = serde_json::from_str(&said.out).context("what measure.py said")?;
        let number = |key: &str| told.get(key).and_then(Value::as_f64);
        // lanegate says 1 for findings: the wheels are not one product and lack each other's files.
        let (Some(exit), Some(seconds), Some(kilobytes)) = (
            number("exit"),
            number("seconds"),
            told.get("kilobytes").and_then(Value::as_u64),
        ) else {
            bail!("measure.py said {}", said.out);
        };
        ensure!(
            exit == 0.0 || exit == 1.0,
            "{} ended with {exit}",
            command[0]
        );
        Ok(Run { seconds, kilobytes })
    }

    /// Whether all three saw the same imports.
    fn agree(&self) -> Result<()> {
        let inspected = |gate: &str| {
            let report: Value = serde_json::from_slice(&fs::read(self.report(gate))?)?;
            let counts = &report["counts"];
            let number = |value: &Value| value.as_u64().unwrap_or(0);
            let edges = number(&counts["by-class"]["edges"]);
            anyhow::Ok((number(&counts["inspected"]), edges))
        };
        let (arch, _) = inspected("arch")?;
        let (imports, edges) = inspected("imports")?;
        let files = self.files.len() as u64;
        ensure!(
            (arch, imports) == (files, files),
            "of {files} files arch inspected {arch}, imports {imports}"
        );
        let mut text = String::new();
        File::open(self.dir.join("out/llvm-readobj"))?.read_to_string(&mut text)?;
        let lines = text.lines();
        let readobj = lines
            .filter(|line| matches!(*line, "Import {" | "DelayImport {"))
            .count() as u64;
        let pefile = fs::read_to_string(self.dir.join("out/pefile"))?;
        let pefile: u64 = pefile.trim().parse().context("what pefile counted")?;
        println!("\nimported libraries: lanegate {edges}, llvm-readobj {readobj}, pefile {pefile}");
        // pefile leaves out some that the two others have, under one in a hundred.
        let near = (edges - edges / 100..=edges).contains(&pefile);
        ensure!(
            edges == readobj && near,
            "the readers do not agree on what is imported"
        );
        Ok(())
    }
}

/// Prints the table; hands back whether every limit was kept.
fn told(best: &BTreeMap<&str, Run>) -> bool {
    println!("\n{:<14}{:>10}{:>14}", "", "seconds", "peak memory");
    for (name, run) in best {
        let megabytes = run.kilobytes / 1_000;
        println!("{name:<14}{:>10.3}{megabytes:>11} MB", run.seconds);
    }
    let seconds = |name: &str| best.get(name).map_or(f64::NAN, |run| run.seconds);
    let own = seconds("arch") + seconds("imports");
    let peak = ["arch", "imports"]
        .iter()
        .filter_map(|name| best.get(name))
        .map(|run| run.kilobytes)
        .max()
        .unwrap_or(u64::MAX);
    println!("\narch + imports: {own:.3} s");
    let mut kept = true;
    for (name, least) in [("llvm-readobj", OVER_READOBJ), ("pefile", OVER_PEFILE)] {
        let ratio = seconds(name) / own;
        let fine = ratio >= least;
        let mark = if fine { "" } else { "  TOO SLOW" };
        println!("{ratio:.1} times as fast as {name} (at least {least}){mark}");
        kept &= fine;
    }
    let fine = peak < MOST_KILOBYTES;
    let mark = if fine { "" } else { "  TOO MUCH" };
    println!("peak memory {} MB (below 150){mark}", peak / 1_000);
    kept & fine
}
