//! Host settings of a step, and what happens where one is not given. The engine hands over one
//! that nobody passed as set and empty, and programs take that for a value: so what starts the
//! step settles that first.

use crate::file::{Host, Need};

/// Names of host settings that a caller does without in one run, with commas between; itself a
/// secret, so that it is in no key.
pub const WAIVED: &str = "LANEKIT_WITHOUT";

/// A host setting of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSetting {
    /// Its name: variable and secret id.
    pub name: String,
    /// What happens where it is not given, or empty.
    pub without: Without,
}

/// What happens where a host setting is not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Without {
    /// The engine refuses to run the step.
    Fail,
    /// The step does not see the variable.
    Unset,
    /// The step fails, unless the caller does without in this run; then it does not see the
    /// variable.
    Waived,
    /// The step sees this.
    Default(String),
}

impl HostSetting {
    /// The setting as it is declared.
    pub(super) fn of(name: &str, host: Option<&Host>) -> Self {
        let without = match host {
            None => Without::Unset,
            Some(host) => match (&host.default, host.need) {
                (Some(default), _) => Without::Default(default.value.clone()),
                (None, Need::Required) => Without::Fail,
                (None, Need::Optional) => Without::Unset,
                (None, Need::Waivable) => Without::Waived,
            },
        };
        Self {
            name: name.to_owned(),
            without,
        }
    }

    /// Whether the engine itself refuses to run a step without it.
    pub fn required(&self) -> bool {
        self.without == Without::Fail
    }

    /// What happens without it, as part of a step's key: all of it is in the command.
    pub(crate) fn shown(&self) -> String {
        match &self.without {
            Without::Fail => "required".to_owned(),
            Without::Unset => "optional".to_owned(),
            Without::Waived => "waivable".to_owned(),
            Without::Default(default) => format!("default {default}"),
        }
    }

    fn missing(&self) -> String {
        let name = &self.name;
        format!(
            "lanekit: host setting {name} is not given: pass --secret id={name},env={name}; to do without in one run, pass --secret id={WAIVED},env={WAIVED} with {WAIVED}={name}"
        )
    }
}

/// Whether something has to be settled before a step starts.
pub(crate) fn unsettled(host: &[HostSetting]) -> bool {
    host.iter().any(|setting| !setting.required())
}

/// Whether a caller may do without one of them.
pub(crate) fn waivable(host: &[HostSetting]) -> bool {
    host.iter()
        .any(|setting| setting.without == Without::Waived)
}

/// Lines of a shell that settle them and end with the command `"$@"`.
pub(crate) fn shell(host: &[HostSetting]) -> String {
    let mut text = String::new();
    for setting in host {
        let name = &setting.name;
        text.push_str(&match &setting.without {
            Without::Fail => continue,
            Without::Unset => format!("[ -n \"${name}\" ] || unset {name}; "),
            Without::Default(default) => {
                let value = default.replace('\'', r"'\''");
                format!("[ -n \"${name}\" ] || export {name}='{value}'; ")
            }
            Without::Waived => format!(
                "[ -n \"${name}\" ] || case \",${WAIVED},\" in *,{name},*) unset {name};; *) echo '{}' >&2; exit 1;; esac; ",
                setting.missing()
            ),
        });
    }
    if waivable(host) {
        text.push_str(&format!("unset {WAIVED}; "));
    }
    text.push_str("exec \"$@\"");
    text
}

/// The same as lines of a batch file, without the command.
///
/// # Errors
/// A default that no batch file can hold, as the end of a sentence.
pub(super) fn batch(host: &[HostSetting]) -> Result<String, &'static str> {
    let mut text = String::new();
    let list = "LANEKIT_LIST";
    if waivable(host) {
        text.push_str(&format!("set \"{list}=,%{WAIVED}%,\"\r\n"));
    }
    for setting in host {
        let name = &setting.name;
        match &setting.without {
            Without::Fail => {}
            Without::Unset => {
                text.push_str(&format!("if not defined {name} set \"{name}=\"\r\n"));
            }
            Without::Default(default) if default.contains(['"', '\n', '\r', '!']) => {
                return Err("has a host setting whose default has a quote, a `!` or a line break");
            }
            Without::Default(default) => {
                let value = default.replace('%', "%%");
                text.push_str(&format!("if not defined {name} set \"{name}={value}\"\r\n"));
            }
            Without::Waived => {
                // Without the name in it, the list is as it was: it is not there.
                text.push_str(&format!(
                    "if not defined {name} if \"%{list}:,{name},=%\"==\"%{list}%\" (echo {}>&2& exit /b 1)\r\n",
                    setting.missing()
                ));
                text.push_str(&format!("if not defined {name} set \"{name}=\"\r\n"));
            }
        }
    }
    if waivable(host) {
        text.push_str(&format!("set \"{list}=\"\r\nset \"{WAIVED}=\"\r\n"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, without: Without) -> HostSetting {
        HostSetting {
            name: name.to_owned(),
            without,
        }
    }

    /// What a shell makes of settings: its exit code, what it prints, and its errors.
    #[cfg(unix)]
    fn run(host: &[HostSetting], env: &[(&str, &str)]) -> (Option<i32>, String, String) {
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &shell(host), "lanekit", "/bin/sh", "-c"]);
        command.arg("echo \"[${A-unset}] [${LANEKIT_WITHOUT-unset}]\"");
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.envs(env.iter().copied());
        let output = command.output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_settles_what_is_not_given() {
        let done = |out: &str| (Some(0), out.to_owned(), String::new());
        let unset = [setting("A", Without::Unset)];
        assert_eq!(run(&unset, &[("A", "")]), done("[unset] [unset]"));
        assert_eq!(run(&unset, &[("A", "v")]), done("[v] [unset]"));
        let default = [setting("A", Without::Default("it's $B".into()))];
        assert_eq!(run(&default, &[("A", "")]), done("[it's $B] [unset]"));
        assert_eq!(run(&default, &[]), done("[it's $B] [unset]"));
        assert_eq!(run(&default, &[("A", "v")]), done("[v] [unset]"));
        let waived = [setting("A", Without::Waived)];
        assert_eq!(
            run(&waived, &[("A", ""), (WAIVED, "B,A")]),
            done("[unset] [unset]")
        );
        assert_eq!(
            run(&waived, &[("A", "v"), (WAIVED, "")]),
            done("[v] [unset]")
        );
        for list in ["", "AA", "B", "a"] {
            let (code, out, errors) = run(&waived, &[("A", ""), (WAIVED, list)]);
            assert_eq!((code, out.as_str()), (Some(1), ""), "{list}");
            assert!(errors.contains("host setting A is not given"), "{errors}");
        }
    }

    #[test]
    fn a_batch_file_settles_what_is_not_given() {
        let host = [
            setting("A", Without::Unset),
            setting("B", Without::Default("50%".into())),
            setting("C", Without::Waived),
            setting("D", Without::Fail),
        ];
        let text = batch(&host).unwrap();
        for line in [
            "set \"LANEKIT_LIST=,%LANEKIT_WITHOUT%,\"",
            "if not defined A set \"A=\"",
            "if not defined B set \"B=50%%\"",
            "if not defined C set \"C=\"",
            "set \"LANEKIT_WITHOUT=\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.contains("if not defined C if \"%LANEKIT_LIST:,C,=%\"==\"%LANEKIT_LIST%\" (echo lanekit: host setting C"));
        assert!(batch(&[setting("A", Without::Default("a\"b".into()))]).is_err());
    }
}
