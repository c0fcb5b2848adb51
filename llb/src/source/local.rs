use serde_json::Value;

use super::Attrs;
use crate::error::{Error, filled};
use crate::{Metadata, Output, caps};

/// A directory of the client.
///
/// Its key is random: what is behind it is found again only by content, so copy
/// from it or mount it read-only, and never build on it.
///
/// Session or unique id are mandatory. Without one, two builds at the same time
/// share a vertex, and one of them gets the files of the other's client.
#[derive(Clone, Debug)]
pub struct Local {
    name: String,
    attrs: Attrs,
    metadata: Metadata,
}

impl Local {
    /// The directory that the client of `session` calls `name`: for a frontend,
    /// which knows its session.
    ///
    /// # Errors
    /// Name or session is empty; the session has a colon, which BuildKit takes
    /// as part of the name.
    pub fn of_session(name: &str, session: &str) -> Result<Self, Error> {
        filled("session", session)?;
        if session.contains(':') {
            return Err(Error::Invalid {
                what: "session",
                value: session.to_owned(),
                expected: "an id without colons",
            });
        }
        let mut local = Self::new(name)?;
        local.attrs.set("local.session", session);
        local.attrs.need(caps::SOURCE_LOCAL_SESSION);
        Ok(local)
    }

    /// The directory that the client calls `name`, in a graph with an `id` of
    /// its own: for graphs made before their session exists. The id has to be
    /// another one for each build.
    ///
    /// # Errors
    /// Name or id is empty.
    pub fn unique(name: &str, id: &str) -> Result<Self, Error> {
        filled("unique id", id)?;
        let mut local = Self::new(name)?;
        local.attrs.set("local.unique", id);
        local.attrs.need(caps::SOURCE_LOCAL_UNIQUE);
        Ok(local)
    }

    fn new(name: &str) -> Result<Self, Error> {
        filled("local name", name)?;
        let mut attrs = Attrs::default();
        attrs.need(caps::SOURCE_LOCAL);
        Ok(Self {
            name: name.to_owned(),
            attrs,
            metadata: Metadata::default(),
        })
    }

    /// Send only what one of these patterns matches.
    #[must_use]
    pub fn include<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.list("local.includepattern", patterns, caps::SOURCE_LOCAL_INCLUDE);
        self
    }

    /// Do not send what one of these patterns matches; the last one that
    /// matches counts, and `!` turns it round. Their order is kept.
    #[must_use]
    pub fn exclude<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.list(
            "local.excludepatterns",
            patterns,
            caps::SOURCE_LOCAL_EXCLUDE,
        );
        self
    }

    /// Send only these paths, and what links in them point to. A path that is
    /// not there is left out.
    #[must_use]
    pub fn follow<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        let mut paths: Vec<String> = paths.into_iter().map(Into::into).collect();
        paths.sort();
        paths.dedup();
        self.list("local.followpaths", paths, caps::SOURCE_LOCAL_FOLLOW);
        self
    }

    /// Which earlier transfer this one starts from. Sources with different
    /// patterns should have different hints.
    #[must_use]
    pub fn shared_key_hint(mut self, hint: &str) -> Self {
        if !hint.is_empty() {
            self.attrs.set("local.sharedkeyhint", hint);
            self.attrs.need(caps::SOURCE_LOCAL_SHARED_KEY);
        }
        self
    }

    /// Send every file, whatever an earlier transfer had: for few small files.
    /// An engine that does not know this compares, so it is not required.
    #[must_use]
    pub fn differ_none(mut self) -> Self {
        self.attrs.set("local.differ", "none");
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The directory.
    #[must_use]
    pub fn build(self) -> Output {
        let identifier = format!("local://{}", self.name);
        self.attrs.build(identifier, None, self.metadata)
    }

    /// A list is JSON in one attribute; an empty one says nothing.
    fn list<S: Into<String>>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = S>,
        cap: caps::Cap,
    ) {
        let values: Vec<Value> = values
            .into_iter()
            .map(|v| Value::String(v.into()))
            .collect();
        if !values.is_empty() {
            self.attrs.set(key, Value::Array(values).to_string());
            self.attrs.need(cap);
        }
    }
}
