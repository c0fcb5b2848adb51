use super::Attrs;
use crate::error::{Error, filled};
use crate::reference::Reference;
use crate::{Metadata, Output, Platform, caps};

/// An image in an OCI layout directory of the client.
#[derive(Clone, Debug)]
pub struct OciLayout {
    reference: Reference,
    platform: Platform,
    attrs: Attrs,
    metadata: Metadata,
}

impl OciLayout {
    /// An image by reference and digest, in the `store` of a `session`.
    ///
    /// # Errors
    /// The reference has no digest; session or store is empty.
    pub fn new(
        reference: Reference,
        session: &str,
        store: &str,
        platform: Platform,
    ) -> Result<Self, Error> {
        if reference.digest().is_none() {
            return Err(Error::Invalid {
                what: "OCI layout reference",
                value: reference.to_string(),
                expected: "pinned to a digest",
            });
        }
        filled("OCI layout session", session)?;
        filled("OCI layout store", store)?;
        let mut attrs = Attrs::default();
        attrs.need(caps::SOURCE_OCI_LAYOUT);
        attrs.set("oci.session", session);
        attrs.set("oci.store", store);
        Ok(Self {
            reference,
            platform,
            attrs,
            metadata: Metadata::default(),
        })
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
        let identifier = format!("oci-layout://{}", self.reference);
        self.attrs
            .build(identifier, Some(&self.platform), self.metadata)
    }
}
