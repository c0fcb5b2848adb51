//! Payloads: whether they are there, and what their bytes are. Each is looked at out of the very vertex that steps get
//! it from, so that what was measured is what they see.

use std::collections::BTreeMap;

use llb::{Definition, Hasher, Output};
use stages::diag::Report;
use stages::file::Payload;
use stages::graph::Graph;
use stages::lower;
use stages::plan::{self, Facts, PayloadFact, Selection, pick};

use super::files::given;
use super::{Build, remote};
use crate::gateway::bridge::Evaluate;
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;
use crate::gateway::opts::ContextSource;

/// What was found of one payload: nothing, or the file and what has it.
struct Found {
    fact: PayloadFact,
    files: Option<Output>,
    /// The key of the named context that it is of.
    context: Option<String>,
}

/// What a build knows of payloads.
#[derive(Default)]
pub(super) struct Payloads {
    /// The files of those that are there.
    pub(super) files: BTreeMap<String, Output>,
    /// The keys of the named contexts that have any.
    pub(super) contexts: Vec<String>,
}

impl Build<'_> {
    /// Looks for the payloads that a selection hangs on; whether one is there may decide which others it hangs on.
    pub(super) async fn payloads(
        &self,
        selection: &Selection<'_>,
        context: Option<&Output>,
        facts: &mut Facts,
    ) -> Result<Payloads, Failure> {
        let mut payloads = Payloads::default();
        loop {
            let mut wanted = selection.knowing(facts).payloads();
            wanted.retain(|name| !facts.payloads.contains_key(*name));
            if wanted.is_empty() {
                return Ok(payloads);
            }
            let declared = &selection.graph.payloads;
            let wanted: Vec<_> = wanted
                .into_iter()
                .filter_map(|name| declared.get_key_value(name))
                .collect();
            let looks = wanted
                .iter()
                .map(|(name, payload)| self.payload(name, payload, context));
            let mut failures = Vec::new();
            for ((name, payload), found) in wanted.iter().zip(join_all(looks).await) {
                match found {
                    Ok(found) => {
                        facts.payloads.insert((*name).clone(), found.fact);
                        payloads.contexts.extend(found.context);
                        let files = found.files.map(|files| ((*name).clone(), files));
                        payloads.files.extend(files);
                    }
                    Err(failure) => failures.push(
                        failure
                            .context(format!("payload {name}"))
                            .with_lines(self.sources, &payload.span),
                    ),
                }
            }
            if let Some(failure) = Failure::all(failures) {
                return Err(failure);
            }
        }
    }

    /// Holds the payloads of a graph that are there against their hashes.
    pub(super) async fn check_payloads(&self, graph: &Graph, context: Option<&Output>) -> Report {
        let all = &graph.payloads;
        let looks = all
            .iter()
            .map(|(name, payload)| self.payload(name, payload, context));
        let found = join_all(looks).await.into_iter();
        let found: BTreeMap<&str, _> = all.keys().map(String::as_str).zip(found).collect();
        plan::check_payloads(graph, |name, _| match &found[name] {
            Ok(found) => Ok(Some(found.fact.clone())),
            Err(failure) => Err(failure.message().to_owned()),
        })
    }

    async fn payload(
        &self,
        name: &str,
        payload: &Payload,
        context: Option<&Output>,
    ) -> Result<Found, Failure> {
        let mut found = Found {
            fact: PayloadFact::Absent,
            files: None,
            context: None,
        };
        let files = match (&payload.context, context) {
            (None, Some(files)) => files.clone(),
            (None, None) => self.of_client(name, payload, "context")?,
            (Some(context), _) => {
                let Some((key, files)) = self.named(name, payload, &context.value).await? else {
                    return Ok(found);
                };
                found.context = Some(key);
                files
            }
        };
        let definition = Definition::new(&files);
        let made = self
            .bridge
            .solve(definition.into(), Evaluate::Later, &[])
            .await?;
        let (below, _) = payload.place();
        let entries = self.bridge.read_dir(&made, below).await?;
        let names = entries.iter().map(|entry| entry.name.as_str());
        let Some(picked) = pick(payload, names) else {
            return Ok(found);
        };
        let path = match below {
            "" => picked.to_owned(),
            below => format!("{below}/{picked}"),
        };
        // It is there: whatever stands in the way of reading it is no absence.
        let mut hasher = Hasher::default();
        self.bridge
            .read_through(&made, &path, |bytes| hasher.update(bytes))
            .await?;
        let sha256 = hasher.finish().hex();
        found.fact = PayloadFact::Present { path, sha256 };
        found.files = Some(files);
        Ok(found)
    }

    fn of_client(&self, name: &str, payload: &Payload, local: &str) -> Result<Output, Failure> {
        let session = self.opts.session_of(local);
        lower::payload_of_client(name, &payload.path.value, local, session)
            .map_err(|error| Failure::new(error.to_string()))
    }

    /// The key of a named context and what is to be looked at in it; nothing when the caller gives no such context.
    async fn named(
        &self,
        name: &str,
        payload: &Payload,
        context: &str,
    ) -> Result<Option<(String, Output)>, Failure> {
        let named = self.opts.contexts.iter().find(|(key, _)| *key == context);
        let Some((key, named)) = named else {
            return Ok(None);
        };
        let files = match &named.source {
            ContextSource::Scratch => return Ok(None),
            ContextSource::Local(local) => self.of_client(name, payload, local)?,
            ContextSource::Input(input) => given(self.inputs, input)?
                .ok_or_else(|| Failure::new(format!("this build has no input `{input}`")))?,
            ContextSource::Remote(url) => {
                let shown = format!("[context {key}] {}", remote::shown(url));
                let keep = self.opts.keep_git_dir;
                remote::open(self.bridge, url, keep, shown).await?.files
            }
            ContextSource::Image(_) | ContextSource::OciLayout { .. } => {
                return Err(Failure::new(format!(
                    "context {key} is an image: payloads are taken from a directory, a repository, an archive or another build's result"
                )));
            }
        };
        Ok(Some((key.to_owned(), files)))
    }
}
