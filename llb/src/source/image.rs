use super::Attrs;
use crate::reference::Reference;
use crate::{Digest, Metadata, Output, Platform, caps};

/// An image of a registry or of the engine's own store.
#[derive(Clone, Debug)]
pub struct Image {
    reference: Reference,
    platform: Platform,
    attrs: Attrs,
    metadata: Metadata,
}

/// Where an image is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolveMode {
    /// The engine's choice.
    #[default]
    Default,
    /// Always ask the registry.
    Pull,
    /// What is there already is preferred.
    PreferLocal,
}

impl ResolveMode {
    /// The name on the wire: `default`, `pull` or `local`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Pull => "pull",
            Self::PreferLocal => "local",
        }
    }
}

impl Image {
    /// An image for a platform.
    #[must_use]
    pub fn new(reference: Reference, platform: Platform) -> Self {
        let mut attrs = Attrs::default();
        attrs.need(caps::SOURCE_IMAGE);
        Self {
            reference,
            platform,
            attrs,
            metadata: Metadata::default(),
        }
    }

    /// Where to look for it. Only [`ResolveMode::Pull`] has to be obeyed.
    #[must_use]
    pub fn resolve_mode(mut self, mode: ResolveMode) -> Self {
        if mode != ResolveMode::Default {
            self.attrs.set("image.resolvemode", mode.as_str());
        }
        if mode == ResolveMode::Pull {
            self.attrs.need(caps::SOURCE_IMAGE_RESOLVE_MODE);
        }
        self
    }

    /// What the engine's disk usage calls it, such as `internal`.
    #[must_use]
    pub fn record_type(mut self, record: &str) -> Self {
        self.attrs.set("image.recordtype", record);
        self
    }

    /// The digest that the image must have.
    #[must_use]
    pub fn checksum(mut self, digest: Digest) -> Self {
        self.attrs.set("image.checksum", digest.to_string());
        self.attrs.need(caps::SOURCE_IMAGE_CHECKSUM);
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The image's file system.
    #[must_use]
    pub fn build(self) -> Output {
        let identifier = format!("docker-image://{}", self.reference);
        self.attrs
            .build(identifier, Some(&self.platform), self.metadata)
    }
}
