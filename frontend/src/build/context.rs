//! Where the build's own files come from: a directory of the client, the result of another build, or a URL.

use std::collections::BTreeMap;

use llb::proto::pb;
use llb::{Definition, Local, Metadata, Output};
use stages::ignore::{self, Ignore};
use stages::lower::{self, Context};
use stages::plan::Plan;

use super::Build;
use super::files::{given, optional_text, own_ignore};
use super::remote;
use crate::gateway::bridge::{Bridge, Evaluate, Ref};
use crate::gateway::error::Failure;
use crate::gateway::opts::{Context as Asked, Opts};

/// The file that says what of a directory is not sent.
const IGNORE: &str = ".dockerignore";

/// The build's files, and the directory that holds the lane file. Nothing stands for the client's directory.
#[derive(Debug, Default)]
pub(super) struct Main {
    /// What steps take files from.
    pub(super) files: Option<Output>,
    /// What the lane file is read from.
    pub(super) lane_file: Option<Output>,
    /// What the lane file is called there, where the caller did not name it.
    pub(super) name: Option<&'static str>,
}

/// Finds both.
pub(super) async fn main(
    bridge: &Bridge,
    opts: &Opts,
    inputs: &BTreeMap<String, pb::Definition>,
) -> Result<Main, Failure> {
    let mut main = match &opts.context {
        Asked::Local => Main {
            files: given(inputs, "context")?,
            lane_file: given(inputs, &opts.file.local)?,
            name: None,
        },
        Asked::Remote { url, subdir } => {
            let shown = format!("[internal] load build context {}", remote::shown(url));
            let opened = remote::open(bridge, url, opts.keep_git_dir, shown).await?;
            let files = match subdir {
                Some(subdir) => remote::within(&opened.files, subdir)?,
                None => opened.files.clone(),
            };
            Main {
                files: Some(files),
                lane_file: Some(opened.files),
                name: opened.single,
            }
        }
    };
    if opts.file.forced {
        (main.lane_file, main.name) = (None, None);
    }
    Ok(main)
}

impl Build<'_> {
    /// The context of a plan. What an ignore file takes out of the client's directory is not sent; it says nothing
    /// about files that come from elsewhere, as for a Dockerfile.
    pub(super) async fn context(
        &self,
        plan: &Plan,
        files: Option<&Output>,
        beside: &Ref,
    ) -> Result<Context, Failure> {
        let session = self.opts.session_of("context").to_owned();
        if let Some(files) = files {
            return Ok(Context::Output(files.clone()));
        }
        if plan.context.is_empty() {
            return Ok(Context::Session(session));
        }
        let Some((name, ignore)) = self.ignore(beside).await? else {
            return Ok(Context::Session(session));
        };
        ignore::check(plan, &ignore, &name).map_err(|report| self.wrong(report))?;
        lower::client_files(&plan.context, &session, Some(&ignore))
            .map(Context::Output)
            .map_err(|error| Failure::new(error.to_string()))
    }

    /// The ignore file that counts: the lane file's own, else that of the directory.
    pub(super) async fn ignore(&self, beside: &Ref) -> Result<Option<(String, Ignore)>, Failure> {
        let own = own_ignore(&self.opts.file.name);
        let (name, text) = match optional_text(self.bridge, beside, &own).await? {
            Some(text) => (own, Some(text)),
            None => (IGNORE.to_owned(), self.ignore_of("context", "").await?),
        };
        let ignore = Ignore::parse(&text.unwrap_or_default());
        Ok((!ignore.is_empty()).then_some((name, ignore)))
    }

    /// The ignore file of a directory of the client, if it has one. `shown` is the context that it is, if it has a name.
    pub(super) async fn ignore_of(
        &self,
        local: &str,
        shown: &str,
    ) -> Result<Option<String>, Failure> {
        let what = if shown.is_empty() { "internal" } else { shown };
        let file = Local::of_session(local, self.opts.session_of(local))
            .map_err(|error| Failure::new(error.to_string()))?
            .follow([IGNORE])
            .shared_key_hint(&format!("lanekit-{local}-{IGNORE}"))
            .differ_none()
            .metadata(Metadata::named(format!("[{what}] load {IGNORE}")))
            .build();
        let definition = Definition::new(&file);
        let made = self
            .bridge
            .solve(definition.into(), Evaluate::Later, &[])
            .await?;
        optional_text(self.bridge, &made, IGNORE).await
    }
}
