//! `--check`: every lane, as `lanekit check` looks at it.
//!
//! What is wrong is a build error, as a Dockerfile's is: a build would end with it. What is only doubtful is a warning.
//! Either way the client's exit code is 1.

use serde::Serialize;
use stages::diag::{Diagnostic, Report, Sources};
use stages::ignore;
use stages::plan::{self, Plan, Request};

use super::super::context::Main;
use super::super::files::{Read, Unread};
use super::super::{Given, asked};
use super::answered;
use super::context::looked_into;
use super::wire::{Files, Info, Location};
use crate::gateway::bridge::Outcome;
use crate::lanefile::{Loaded, Wrong};
use crate::{policies, rules};

#[derive(Debug, Serialize)]
struct Results {
    warnings: Vec<Warning>,
    sources: Vec<Info>,
    #[serde(rename = "buildError", skip_serializing_if = "Option::is_none")]
    error: Option<BuildError>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Warning {
    rule_name: String,
    description: String,
    url: String,
    detail: String,
    location: Location,
}

#[derive(Debug, Serialize)]
struct BuildError {
    message: String,
    location: Location,
}

/// Answers with everything that is wrong. A file that could not be read at all is the request's failure.
pub(super) async fn answer(given: &Given<'_>, main: &Main, read: Result<Read, Unread>) -> Outcome {
    // What comes from elsewhere than the client is there whole.
    let ignore = match &read {
        Ok(read) if main.files.is_none() => {
            given.build(&read.loaded.sources).ignore(&read.made).await?
        }
        _ => None,
    };
    let seen = match read {
        Ok(read) => looked_into(given, main, read, ignore.as_ref().map(|(_, ignore)| ignore)).await,
        unread => unread,
    };
    let (sources, wrong, warnings) = match seen {
        Ok(Read { loaded, .. }) => {
            let build = given.build(&loaded.sources);
            let files = main.files.as_ref();
            let sent = |plan: &Plan| match &ignore {
                Some((name, ignore)) => ignore::check(plan, ignore, name),
                None => Ok(()),
            };
            let mut report = wrong(&loaded, &asked(given.opts, &loaded), sent);
            report.extend(build.check_payloads(&loaded.graph, files).await);
            report.extend(loaded.warnings);
            let (wrong, warnings) = sorted(report).split();
            (loaded.sources, wrong, warnings)
        }
        Err(Unread::Wrong(Wrong { sources, report })) => {
            let (wrong, warnings) = report.split();
            (sources, wrong, warnings)
        }
        Err(Unread::Failed(failure)) => return Err(failure),
    };
    let results = Results::new(&sources, &wrong, warnings.diagnostics());
    let text = results.text(&sources, &wrong);
    let mut built = answered("frontend.lint", &results, text);
    let found = results.error.is_some() || !results.warnings.is_empty();
    let code = if found { "1" } else { "0" };
    let code = ("result.statuscode".to_owned(), code.into());
    built.metadata.extend([code]);
    Ok(built)
}

/// What is wrong or doubtful with any lane, and with what was asked for by name.
fn wrong(loaded: &Loaded, request: &Request, sent: impl Fn(&Plan) -> Result<(), Report>) -> Report {
    let mut report = plan::rehearse(&loaded.graph, |plan| {
        Report::of_all([policies::check(plan), sent(plan)])
    });
    let asked =
        request.target.is_some() || !request.args.is_empty() || !request.platforms.is_empty();
    if asked {
        let planned =
            plan::select(&loaded.graph, request).and_then(|selection| plan::assume(&selection));
        report.extend(planned.err().unwrap_or_default());
    }
    report
}

/// Sorted by place, each once.
fn sorted(report: Report) -> Report {
    report.into_result(()).err().unwrap_or_default()
}

impl Results {
    fn new(sources: &Sources, wrong: &Report, warnings: &[Diagnostic]) -> Self {
        let mut files = Files::new(sources);
        let warnings = warnings.iter().map(|warning| Warning {
            rule_name: warning.rule.to_string(),
            description: rules::find(warning.rule.0)
                .map(|rule| rule.title.to_owned())
                .unwrap_or_default(),
            url: rules::url(warning.rule.0),
            detail: match &warning.help {
                Some(help) => format!("{} ({help})", warning.message),
                None => warning.message.clone(),
            },
            location: files.location(warning.at.as_ref().map(|(span, _)| span)),
        });
        let warnings = warnings.collect();
        // A client shows one error: its text has all of them, and its lines are the first one's.
        let first = wrong.diagnostics().first();
        let error = first.map(|first| BuildError {
            message: wrong.render(sources, false).trim_end().to_owned(),
            location: files.location(first.at.as_ref().map(|(span, _)| span)),
        });
        Self {
            warnings,
            sources: files.infos(),
            error,
        }
    }

    /// For clients that print a text as it comes.
    fn text(&self, sources: &Sources, wrong: &Report) -> String {
        let mut text = String::new();
        for warning in &self.warnings {
            text.push_str(&format!(
                "\nWARNING: {} - {}\n{}\n",
                warning.rule_name, warning.url, warning.detail
            ));
        }
        if self.error.is_some() {
            text.push_str(&wrong.render(sources, false));
        }
        text
    }
}
