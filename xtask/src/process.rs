//! Processes that outlive the command which started them, and how to tell
//! that a process id still means the same process.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::run;

/// One process, for ever: an id is used again, an id with its start time in
/// one boot of the machine is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pid: i32,
    /// Field 22 of `/proc/PID/stat`: clock ticks since boot (proc(5)).
    started: u64,
    boot: String,
}

impl Process {
    /// The process that has this id now; `None` when there is none, or when it
    /// has ended and only waits to be reaped.
    pub(crate) fn of(pid: u32) -> Option<Process> {
        let pid = i32::try_from(pid).ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let stat = Stat::parse(&stat)?;
        (stat.state != 'Z' && stat.state != 'X').then(|| Process {
            pid,
            started: stat.started,
            boot: boot_id(),
        })
    }

    /// The process that a pid file names, if it is still that process.
    pub(crate) fn from_file(file: &Path) -> Option<Process> {
        let noted = Process::parse(&fs::read_to_string(file).ok()?)?;
        noted.is_running().then_some(noted)
    }

    /// All processes of the machine.
    pub(crate) fn all() -> impl Iterator<Item = Process> {
        ids().filter_map(Process::of)
    }

    /// Its command line, word by word.
    pub(crate) fn words(&self) -> Vec<String> {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        line.strip_suffix(b"\0")
            .unwrap_or(&line)
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect()
    }

    /// Whether it runs in the control group of this name, or in one below it.
    pub(crate) fn is_in_group(&self, name: &str) -> bool {
        fs::read_to_string(format!("/proc/{}/cgroup", self.pid))
            .is_ok_and(|groups| in_group(&groups, name))
    }

    /// Notes the process in a pid file.
    pub(crate) fn save(&self, file: &Path) -> Result<()> {
        fs::write(file, self.to_text()).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Whether this very process still runs.
    pub(crate) fn is_running(&self) -> bool {
        u32::try_from(self.pid)
            .ok()
            .and_then(Process::of)
            .is_some_and(|now| now == *self)
    }

    /// Ends the process and all that it started, at once.
    pub(crate) fn kill(&self) {
        if self.is_running() {
            kill_tree(self.pid.unsigned_abs());
        }
    }

    /// Asks the process to end, waits up to `patience`, then ends it and all
    /// that it started. Touches nothing when the id is another process by now.
    pub(crate) fn stop(&self, patience: Duration) -> Result<()> {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return Ok(());
        };
        if !self.is_running() {
            return Ok(());
        }
        // Between the check and the signal it may have ended: that is fine.
        let _ = kill_process(pid, Signal::TERM);
        if run::until(patience, || Ok(!self.is_running()))? {
            return Ok(());
        }
        self.kill();
        if run::until(Duration::from_secs(5), || Ok(!self.is_running()))? {
            return Ok(());
        }
        bail!("process {} does not end", self.pid)
    }

    fn to_text(&self) -> String {
        format!("{} {} {}\n", self.pid, self.started, self.boot)
    }

    fn parse(text: &str) -> Option<Process> {
        let mut words = text.split_whitespace();
        let process = Process {
            pid: words.next()?.parse().ok().filter(|pid| *pid > 1)?,
            started: words.next()?.parse().ok()?,
            boot: words.next()?.to_owned(),
        };
        words.next().is_none().then_some(process)
    }
}

/// Ends a process and everything that descends from it; the descendants are
/// looked up first, since the children of an ended process get another parent.
pub(crate) fn kill_tree(root: u32) {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(children(parent));
        next += 1;
    }
    for pid in found {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // It may be gone already.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn children(parent: u32) -> Vec<u32> {
    ids()
        .filter(|pid| {
            fs::read_to_string(format!("/proc/{pid}/stat"))
                .ok()
                .and_then(|stat| Stat::parse(&stat))
                .is_some_and(|stat| stat.parent == parent)
        })
        .collect()
}

/// The ids of all processes.
fn ids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether one of the paths in `/proc/PID/cgroup` (cgroups(7)) has a part of
/// this name.
fn in_group(groups: &str, name: &str) -> bool {
    groups
        .lines()
        .filter_map(|line| line.splitn(3, ':').nth(2))
        .any(|path| path.split('/').any(|part| part == name))
}

/// What is needed of `/proc/PID/stat`.
struct Stat {
    state: char,
    parent: u32,
    started: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Stat> {
        // The name, field 2, is in parentheses and may hold both ')' and ' '.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Stat {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_else(|_| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn sleeper() -> (std::process::Child, Process) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();
        (child, process)
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = "42 (a) R 1) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 0";
        let stat = Stat::parse(stat).unwrap();
        assert_eq!((stat.state, stat.parent, stat.started), ('S', 7, 9876));
    }

    #[test]
    fn a_pid_file_of_another_process_with_the_same_id_is_not_believed() {
        let (mut child, process) = sleeper();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");

        let other = Process {
            started: process.started + 1,
            ..process.clone()
        };
        other.save(&file).unwrap();
        assert_eq!(Process::from_file(&file), None);
        other.stop(Duration::from_millis(50)).unwrap();
        assert!(process.is_running(), "a stranger was stopped");

        let last_boot = Process {
            boot: "another-boot".into(),
            ..process.clone()
        };
        last_boot.save(&file).unwrap();
        assert_eq!(Process::from_file(&file), None);

        process.save(&file).unwrap();
        assert_eq!(Process::from_file(&file), Some(process));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Process::from_file(&file), None);
    }

    #[test]
    fn a_group_is_known_by_its_whole_name() {
        let groups = "4:cpu:/lk-1/step\n1:name=systemd:/user.slice\n0::/\n";
        assert!(in_group(groups, "lk-1"));
        assert!(!in_group(groups, "lk"));
        assert!(!in_group(groups, "cpu"));
    }

    #[test]
    fn garbage_in_a_pid_file_names_no_process() {
        for text in [
            "",
            "x",
            "1 1 b",
            "0 0 b",
            "-5 0 b",
            "12",
            "12 13",
            "12 13 b extra",
        ] {
            assert_eq!(Process::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_process_that_ignores_the_request_is_ended_with_its_children() {
        let mut child = Command::new("sh")
            .args(["-c", "trap '' TERM; sleep 61 & while :; do sleep 0.1; done"])
            .spawn()
            .unwrap();
        let process = Process::of(child.id()).unwrap();
        let mut inner = Vec::new();
        run::until(Duration::from_secs(5), || {
            inner = children(child.id());
            Ok(!inner.is_empty())
        })
        .unwrap();
        let inner: Vec<Process> = inner.into_iter().filter_map(Process::of).collect();
        process.stop(Duration::from_millis(200)).unwrap();
        child.wait().unwrap();
        assert!(!inner.is_empty());
        assert!(
            run::until(Duration::from_secs(5), || Ok(!inner
                .iter()
                .any(Process::is_running)))
            .unwrap()
        );
    }
}
