//! What is said about a vertex outside its digest and its cache key.

use std::collections::{BTreeMap, BTreeSet};

use crate::Location;
use crate::caps::{self, Cap};
use crate::proto::pb;

/// The description key that progress shows as the name.
pub(crate) const NAME: &str = "llb.customname";

/// Name, texts, progress group and source lines of a vertex: nothing of it is
/// in a digest or a cache key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    pub(crate) ignore_cache: bool,
    pub(crate) export_cache: Option<bool>,
    pub(crate) description: BTreeMap<String, String>,
    pub(crate) group: Option<pb::ProgressGroup>,
    pub(crate) resources: Option<pb::LinuxResources>,
    pub(crate) locations: Vec<Location>,
    /// What a vertex from elsewhere says that it needs.
    pub(crate) caps: BTreeSet<String>,
}

impl Metadata {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Just a name, as progress shows it.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self::new().describe(NAME, name)
    }

    /// A text by its key; BuildKit hands it on to whoever shows progress.
    #[must_use]
    pub fn describe(mut self, key: impl Into<String>, text: impl Into<String>) -> Self {
        self.description.insert(key.into(), text.into());
        self
    }

    /// Progress shows all vertices of one group `id` as one line, `name`. A
    /// `weak` group gives way to another group of the same vertex.
    #[must_use]
    pub fn group(mut self, id: impl Into<String>, name: impl Into<String>, weak: bool) -> Self {
        self.group = Some(pb::ProgressGroup {
            id: id.into(),
            name: name.into(),
            weak,
        });
        self
    }

    /// Run even when the result is cached. On an exec this also empties its
    /// cache mounts, once per Solve.
    #[must_use]
    pub fn ignore_cache(mut self, ignore: bool) -> Self {
        self.ignore_cache = ignore;
        self
    }

    /// Whether exported caches hold the result, where that is not the
    /// exporter's choice.
    #[must_use]
    pub fn export_cache(mut self, export: bool) -> Self {
        self.export_cache = Some(export);
        self
    }

    /// Limits of the container of an exec.
    #[must_use]
    pub fn resources(mut self, resources: pb::LinuxResources) -> Self {
        self.resources = Some(resources);
        self
    }

    /// One more place that the vertex comes from.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.locations.push(location);
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.description.get(NAME).map(String::as_str)
    }

    /// What an engine must know for this metadata.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &str> {
        let own: [(bool, Cap); 4] = [
            (self.ignore_cache, caps::META_IGNORE_CACHE),
            (!self.description.is_empty(), caps::META_DESCRIPTION),
            (self.export_cache.is_some(), caps::META_EXPORT_CACHE),
            (self.resources.is_some(), caps::EXEC_META_LINUX_RESOURCES),
        ];
        own.into_iter()
            .filter(|(used, _)| *used)
            .map(|(_, cap)| cap.name())
            .chain(self.caps.iter().map(String::as_str))
    }

    /// Takes over what `other` says of the same vertex: all places and needs,
    /// a wish to ignore the cache, and whatever is not said here.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.ignore_cache |= other.ignore_cache;
        self.export_cache = self.export_cache.or(other.export_cache);
        for (key, text) in &other.description {
            self.description
                .entry(key.clone())
                .or_insert_with(|| text.clone());
        }
        if self.group.as_ref().is_none_or(|group| group.weak) && other.group.is_some() {
            self.group.clone_from(&other.group);
        }
        if self.resources.is_none() {
            self.resources.clone_from(&other.resources);
        }
        for location in &other.locations {
            if !self.locations.contains(location) {
                self.locations.push(location.clone());
            }
        }
        self.caps.extend(other.caps.iter().cloned());
    }
}
