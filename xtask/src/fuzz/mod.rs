//! `cargo xtask fuzz`: every reader against inputs that are nearly right.
//!
//! Each reader runs in processes of its own with a bound on memory and on the time of one input.
//! An input is a function of seed, reader and turn, so a crash that took the process with it can
//! be made again from the turn that it wrote down. docs/decisions/0110-fuzzing.md says why so.

mod mutate;
mod readers;
mod seeds;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::repo;
use mutate::Random;
use readers::{READERS, Reader};

/// The most memory that a process may have, its code and threads included.
const MEMORY: u64 = 2 << 30;
/// How long one input may take.
const INPUT: Duration = Duration::from_secs(10);
/// A reader with this many different crashes is broken: enough is known.
const CRASHES: usize = 20;
/// How a process ends that found crashes, and one that hung.
const FOUND: i32 = 1;
const HUNG: i32 = 3;

/// What the caller wants.
pub(crate) struct Wish {
    pub(crate) minutes: f64,
    pub(crate) readers: Vec<String>,
    pub(crate) seed: u64,
}

/// Where the committed seeds are: `READER/NAME`.
pub(crate) fn seeds_dir() -> PathBuf {
    repo::root().join("xtask/fuzz-seeds")
}

/// Where inputs that broke a reader go.
fn crashes_dir() -> PathBuf {
    repo::root().join("target/fuzz/crashes")
}

/// Writes the seeds that tests hold against the committed ones.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write_seeds() -> Result<()> {
    for reader in READERS {
        let dir = seeds_dir().join(reader.name);
        fs::create_dir_all(&dir)?;
        for (name, bytes) in (reader.seeds)() {
            fs::write(dir.join(name), bytes)?;
        }
    }
    Ok(())
}

/// Fuzzes for so long in all; hands back whether nothing broke.
///
/// # Errors
/// An unknown reader, or a process that cannot be started.
pub(crate) fn run(wish: &Wish) -> Result<bool> {
    let chosen: Vec<&Reader> = match wish.readers.is_empty() {
        true => READERS.iter().collect(),
        false => wish
            .readers
            .iter()
            .map(|name| named(name))
            .collect::<Result<_>>()?,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let each = wish.minutes * 60.0 * cores.min(chosen.len()) as f64 / chosen.len() as f64;
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(reader) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let line = fuzz(reader, wish.seed, Duration::from_secs_f64(each));
                    if let Ok(told) = &line {
                        println!("{}", told.text);
                    }
                    if let Ok(mut lines) = lines.lock() {
                        lines.push(line);
                    }
                }
            });
        }
    });
    let lines = lines.into_inner().unwrap_or_default();
    let mut broken = lines.len() < chosen.len();
    for line in lines {
        broken |= line?.broken;
    }
    if broken {
        println!("inputs that broke something: {}", crashes_dir().display());
    }
    Ok(!broken)
}

/// How the turns of a reader ended.
struct Told {
    text: String,
    broken: bool,
}

fn named(name: &str) -> Result<&'static Reader> {
    READERS
        .iter()
        .find(|reader| reader.name == name)
        .with_context(|| {
            let known: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
            format!("no reader is called {name}; there are {}", known.join(", "))
        })
}

/// Where a process writes down its turn.
fn turn_file(reader: &str) -> PathBuf {
    repo::root()
        .join("target/fuzz")
        .join(format!("{reader}.turn"))
}

fn turn_of(reader: &str) -> u64 {
    let bytes = fs::read(turn_file(reader)).unwrap_or_default();
    bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Runs a reader's processes until its time is over: one after the other, where one dies.
fn fuzz(reader: &Reader, seed: u64, time: Duration) -> Result<Told> {
    fs::create_dir_all(crashes_dir())?;
    let start = Instant::now();
    let (mut turn, mut broken) = (0_u64, 0_usize);
    while start.elapsed() < time && broken < CRASHES {
        let left = time.saturating_sub(start.elapsed()).as_secs_f64();
        fs::write(turn_file(reader.name), turn.to_le_bytes())?;
        let status = Command::new(std::env::current_exe()?)
            .args(["fuzz-worker", reader.name])
            .args([seed.to_string(), turn.to_string(), left.to_string()])
            .stdin(Stdio::null())
            .status()?;
        turn = turn_of(reader.name) + 1;
        match status.code() {
            Some(0) => {}
            Some(FOUND) => broken += 1,
            Some(HUNG) => {
                broken += 1;
                keep(reader, seed, turn - 1, "hung")?;
            }
            _ => {
                broken += 1;
                keep(reader, seed, turn - 1, &ended(status))?;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let what = match broken {
        0 => "fine".to_owned(),
        count => format!("BROKEN {count} times"),
    };
    Ok(Told {
        text: format!(
            "{:<9} {turn:>10} inputs {seconds:>7.1} s  {what}",
            reader.name
        ),
        broken: broken > 0,
    })
}

fn ended(status: ExitStatus) -> String {
    status
        .to_string()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// Makes the input of a turn again and keeps it.
fn keep(reader: &Reader, seed: u64, turn: u64, why: &str) -> Result<()> {
    let bytes = made(reader, &committed(reader)?, seed, turn);
    let path = crashes_dir().join(format!("{}-{seed}-{turn}-{why}", reader.name));
    fs::write(&path, bytes)?;
    eprintln!("{}: {why}: {}", reader.name, path.display());
    Ok(())
}

fn made(reader: &Reader, seeds: &[Vec<u8>], seed: u64, turn: u64) -> Vec<u8> {
    mutate::input(&mut Random::new(seed, reader.name, turn), seeds)
}

fn committed(reader: &Reader) -> Result<Vec<Vec<u8>>> {
    let dir = seeds_dir().join(reader.name);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("seeds of {}", reader.name))? {
        paths.push(entry?.path());
    }
    paths.sort();
    ensure!(!paths.is_empty(), "{} has no seeds", reader.name);
    paths.iter().map(|path| Ok(fs::read(path)?)).collect()
}

/// Runs one input that broke something, in this process.
///
/// # Errors
/// An unknown reader or no such file; a panic is the reader's.
pub(crate) fn again(reader: &str, input: &Path) -> Result<()> {
    let scratch = repo::root()
        .join("target/fuzz")
        .join(format!("{reader}.again"));
    fs::create_dir_all(scratch.parent().unwrap_or(&scratch))?;
    (named(reader)?.read)(&fs::read(input)?, &scratch);
    Ok(())
}

/// A process that reads inputs from `turn` on for `seconds`. Never returns when something broke.
///
/// # Errors
/// When it cannot set itself up.
pub(crate) fn worker(name: &str, seed: u64, mut turn: u64, seconds: f64) -> Result<()> {
    let reader = named(name)?;
    let seeds = committed(reader)?;
    let limit = Rlimit {
        current: Some(MEMORY),
        maximum: Some(MEMORY),
    };
    setrlimit(Resource::As, limit).context("the bound on memory")?;
    let scratch = repo::root()
        .join("target/fuzz")
        .join(format!("{name}.input"));
    let file = File::options().write(true).open(turn_file(name))?;
    let began = Instant::now();
    let tick = AtomicU64::new(0);
    let now = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut seen = BTreeSet::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let since = tick.load(Ordering::Relaxed);
                if since == u64::MAX {
                    return;
                }
                if Duration::from_millis(now().saturating_sub(since)) > INPUT {
                    std::process::exit(HUNG);
                }
            }
        });
        let hook = panic::take_hook();
        panic::set_hook(Box::new(|info| {
            if let Ok(mut panic) = PANIC.lock() {
                *panic = info.to_string();
            }
        }));
        let mut failed = None;
        while began.elapsed().as_secs_f64() < seconds {
            tick.store(now(), Ordering::Relaxed);
            if let Err(error) = file.write_all_at(&turn.to_le_bytes(), 0) {
                failed = Some(error);
                break;
            }
            let bytes = made(reader, &seeds, seed, turn);
            let read = AssertUnwindSafe(|| (reader.read)(&bytes, &scratch));
            if panic::catch_unwind(read).is_err() {
                let text = PANIC.lock().map(|text| text.clone()).unwrap_or_default();
                let place = text.lines().next().unwrap_or_default().to_owned();
                if seen.insert(place) {
                    if let Err(error) = keep(reader, seed, turn, "panicked") {
                        eprintln!("{error:#}");
                    }
                    eprintln!("{text}");
                }
                if seen.len() >= CRASHES {
                    break;
                }
            }
            turn += 1;
        }
        tick.store(u64::MAX, Ordering::Relaxed);
        panic::set_hook(hook);
        match failed {
            Some(error) => Err(error).context("cannot write the turn down"),
            None => Ok(()),
        }
    })?;
    if !seen.is_empty() {
        std::process::exit(FOUND);
    }
    Ok(())
}

/// What the last panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What `minutes` may be.
///
/// # Errors
/// It is no time.
pub(crate) fn checked(minutes: f64) -> Result<f64> {
    if minutes.is_finite() && minutes > 0.0 {
        Ok(minutes)
    } else {
        bail!("--minutes wants a number above 0")
    }
}
