//! Exit codes, and the two ways in which a run ends without a verdict.

use std::fmt;

/// How a run ended. When several hold, the order is `Usage`, `Unreadable`, `Findings`, `Coverage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything was checked and is as it must be.
    Pass,
    /// 1: at least one finding that no allow entry covers.
    Findings,
    /// 2: the command line, the policy or the target is wrong.
    Usage,
    /// 3: fewer things were inspected than a floor demands; nothing else is wrong.
    Coverage,
    /// 4: something could not be read, a report is missing or foreign, or lanegate has a bug.
    Unreadable,
}

impl Exit {
    /// The process exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Coverage => 3,
            Self::Unreadable => 4,
        }
    }

    /// The graver of two ends: 2 before 4 before 1 before 3 before 0.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if self.gravity() >= other.gravity() {
            self
        } else {
            other
        }
    }

    const fn gravity(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Coverage => 1,
            Self::Findings => 2,
            Self::Unreadable => 3,
            Self::Usage => 4,
        }
    }
}

/// Why a run ended without a verdict.
#[derive(Debug)]
pub enum Failure {
    /// The caller's mistake: arguments, policy, target.
    Usage(String),
    /// Not decided by the inspected bytes alone: an I/O error, a missing root or report, no memory,
    /// a bug. Never to be cached, so never exit code 0.
    Unreadable(String),
}

impl Failure {
    /// The exit that this failure makes.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Unreadable(_) => Exit::Unreadable,
        }
    }

    /// An I/O error on something named.
    #[must_use]
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        Self::Unreadable(format!("{what}: {error}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Unreadable(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

/// Runs `work`; a panic in it becomes [`Failure::Unreadable`].
///
/// # Errors
/// What `work` returns, or the panic's text.
pub fn guard<T>(what: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("no text");
            Err(Failure::Unreadable(format!(
                "a bug in lanegate, please report it: {what} panicked: {text}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_end_wins_in_the_documented_order() {
        let order = [
            Exit::Usage,
            Exit::Unreadable,
            Exit::Findings,
            Exit::Coverage,
            Exit::Pass,
        ];
        for (i, a) in order.iter().enumerate() {
            for b in &order[i..] {
                assert_eq!(a.worst(*b), *a);
                assert_eq!(b.worst(*a), *a);
            }
        }
        assert_eq!(order.map(Exit::code), [2, 4, 1, 3, 0]);
    }

    #[test]
    fn a_panic_is_exit_code_4() {
        let end = guard::<()>("the test", || panic!("boom {}", 7)).unwrap_err();
        assert_eq!(end.exit(), Exit::Unreadable);
        assert!(end.to_string().contains("the test panicked: boom 7"));
    }
}
