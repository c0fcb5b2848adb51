//! What only the config of an image carries: no step sees it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ImageConfig;
use super::build::{Inherited, Planner};
use crate::diag::{Diagnostic, rule};
use crate::file::{HealthTest, HealthTimes, Healthcheck, LaneText, Stage, When};
use crate::text::{Template, ValueRef};

impl Planner<'_, '_> {
    /// Edits the config after the steps, so that none of them sees it.
    pub(super) fn image(&mut self, stage: &Stage, inherited: &mut Inherited) {
        let env = inherited.env.clone();
        let mut texts = Texts {
            planner: self,
            env: &env,
        };
        let Inherited {
            config,
            annotations,
            ..
        } = inherited;
        let image = &stage.image;
        for (name, entry) in &image.env {
            if let Some(value) = texts.stamped(entry) {
                config.set_env(name, &value);
            }
        }
        for (names, to) in [
            (&image.labels, &mut config.labels),
            (&image.annotations, annotations),
        ] {
            for (name, entry) in names {
                if let Some(value) = texts.stamped(entry) {
                    to.insert(name.clone(), value);
                }
            }
        }
        if let Some(user) = texts.one(image.user.as_ref()) {
            config.user = user;
        }
        if let Some(workdir) = texts.path(image.workdir.as_ref()) {
            config.working_dir = workdir;
        }
        if let Some(entrypoint) = &image.entrypoint {
            config.entrypoint = texts.list(entrypoint);
            // As in a Dockerfile: a base image's command was meant for its own entrypoint.
            config.cmd.clear();
        }
        if let Some(cmd) = &image.cmd {
            config.cmd = texts.list(cmd);
        }
        if let Some(shell) = &image.shell {
            config.put("Shell", texts.list(shell).into());
        }
        if let Some(signal) = texts.signal(image.stop_signal.as_ref()) {
            config.put("StopSignal", signal.into());
        }
        for entry in &image.volumes {
            if texts.here(entry.when.as_ref())
                && let Some(volume) = texts.path(Some(&entry.text))
            {
                config.member("Volumes", volume);
            }
        }
        for port in &image.ports {
            if texts.here(port.when.as_ref()) {
                config.member("ExposedPorts", port.port.clone());
            }
        }
        if let Some(health) = &image.healthcheck {
            config.put("Healthcheck", texts.health(health));
        }
    }
}

/// Fills the texts of one config in.
struct Texts<'p, 's, 'g> {
    planner: &'p mut Planner<'s, 'g>,
    env: &'p BTreeMap<String, String>,
}

impl Texts<'_, '_, '_> {
    fn one(&mut self, template: Option<&Template>) -> Option<String> {
        let report = &mut self.planner.report;
        self.planner.selection.fill(template?, self.env, report)
    }

    /// A text that is a path of the lane's system, as it was written: nobody reads a config but that system.
    fn path(&mut self, template: Option<&Template>) -> Option<String> {
        let text = self.one(template)?;
        let Planner {
            spelling, report, ..
        } = &mut *self.planner;
        spelling.absolute(&text, &template?.span, report)?;
        Some(text)
    }

    fn signal(&mut self, template: Option<&Template>) -> Option<String> {
        let text = self.one(template)?;
        if is_signal(&text) {
            return Some(text);
        }
        let message = format!("`{text}` is not a signal");
        self.planner
            .report
            .push(Diagnostic::new(rule::VALUE, message).at(
                &template?.span,
                "expected a name or a number: SIGTERM, INT, 9",
            ));
        None
    }

    fn list(&mut self, templates: &[Template]) -> Vec<String> {
        templates.iter().filter_map(|t| self.one(Some(t))).collect()
    }

    fn here(&self, when: Option<&When>) -> bool {
        self.planner.selection.setting.holds(when)
    }

    /// A text that is left out in lanes without it, and where one of its stamps is not given.
    fn stamped(&mut self, entry: &LaneText) -> Option<String> {
        let selection = self.planner.selection;
        let template = &entry.text;
        let missing = |value: &ValueRef| match value {
            ValueRef::Arg(name) | ValueRef::Named(name) => {
                let stamp = selection.graph.args.get(name).is_some_and(|arg| arg.stamp);
                stamp && !selection.args.contains_key(name.as_str())
            }
            _ => false,
        };
        if !self.here(entry.when.as_ref()) || template.values().any(missing) {
            return None;
        }
        self.one(Some(template))
    }

    fn health(&mut self, health: &Healthcheck) -> Value {
        let Healthcheck::Test {
            test,
            times,
            retries,
        } = health
        else {
            return json!({ "Test": ["NONE"] });
        };
        let mut words = match test {
            HealthTest::Cmd(words) => self.list(words),
            HealthTest::Script(script) => self.one(Some(script)).into_iter().collect(),
        };
        let how = match test {
            HealthTest::Cmd(_) => "CMD",
            HealthTest::Script(_) => "CMD-SHELL",
        };
        words.insert(0, how.to_owned());
        let HealthTimes {
            interval,
            timeout,
            start_period,
            start_interval,
        } = times;
        let numbers = [
            ("Interval", interval),
            ("Timeout", timeout),
            ("StartPeriod", start_period),
            ("StartInterval", start_interval),
            ("Retries", retries),
        ];
        let mut made = json!({ "Test": words });
        for (name, number) in numbers {
            if let Some(number) = number {
                made[name] = (*number).into();
            }
        }
        made
    }
}

/// What an engine that runs the image takes for a signal; others would be found when a container ends.
fn is_signal(text: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 36] = [
        "ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL", "PIPE", "POLL", "PROF",
        "PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM",
        "WINCH", "XCPU", "XFSZ", "RTMIN", "RTMAX",
    ];
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let number = |text: &str, most: u8| {
        text.bytes().all(|b| b.is_ascii_digit())
            && text.parse().is_ok_and(|n: u8| (1..=most).contains(&n))
    };
    let real_time = || match (name.strip_prefix("RTMIN+"), name.strip_prefix("RTMAX-")) {
        (Some(up), _) => number(up, 15),
        (_, Some(down)) => number(down, 14),
        _ => false,
    };
    NAMES.contains(&name) || number(text, 64) || real_time()
}

impl ImageConfig {
    /// Sets a field that lanekit knows by name alone.
    fn put(&mut self, name: &str, value: Value) {
        self.rest.insert(name.to_owned(), value);
    }

    /// Adds a member to a set, which configs write as a table of empty tables.
    fn member(&mut self, set: &str, member: String) {
        let set = self.rest.entry(set).or_insert_with(|| json!({}));
        // A base image may have `null` there.
        if !set.is_object() {
            *set = json!({});
        }
        set[member] = json!({});
    }
}
