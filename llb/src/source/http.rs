use super::Attrs;
use crate::error::Error;
use crate::proto::pb;
use crate::vertex::Vertex;
use crate::{Digest, Metadata, Output, caps};

/// A file to download.
#[derive(Clone, Debug)]
pub struct Http {
    url: String,
    upload: bool,
    attrs: Attrs,
    metadata: Metadata,
}

impl Http {
    /// The file at `url`.
    ///
    /// # Errors
    /// The URL is not `http://` or `https://` and something.
    pub fn new(url: &str) -> Result<Self, Error> {
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        if rest.is_none_or(|rest| rest.is_empty() || rest.contains(char::is_whitespace)) {
            return Err(Error::Invalid {
                what: "URL",
                value: url.to_owned(),
                expected: "http:// or https:// and a place",
            });
        }
        let mut attrs = Attrs::default();
        attrs.need(caps::SOURCE_HTTP);
        Ok(Self {
            url: url.to_owned(),
            upload: false,
            attrs,
            metadata: Metadata::default(),
        })
    }

    /// The digest that the bytes must have.
    #[must_use]
    pub fn checksum(mut self, digest: Digest) -> Self {
        self.attrs.set("http.checksum", digest.to_string());
        self.attrs.need(caps::SOURCE_HTTP_CHECKSUM);
        self
    }

    /// The name of the file in the output; by default the URL's last part.
    ///
    /// # Errors
    /// The name is empty or has a slash.
    pub fn filename(mut self, name: &str) -> Result<Self, Error> {
        if name.is_empty() || name.contains('/') {
            return Err(Error::Invalid {
                what: "file name",
                value: name.to_owned(),
                expected: "a name without slashes",
            });
        }
        self.attrs.set("http.filename", name);
        Ok(self)
    }

    /// The file's permission bits; by default 0600.
    #[must_use]
    pub fn mode(mut self, mode: u16) -> Self {
        self.attrs.set("http.perm", format!("0{:o}", mode & 0o777));
        self.attrs.need(caps::SOURCE_HTTP_PERM);
        self
    }

    /// The file's owner; by default 0 and 0.
    #[must_use]
    pub fn owner(mut self, uid: u32, gid: u32) -> Self {
        for (key, id) in [("http.uid", uid), ("http.gid", gid)] {
            if id != 0 {
                self.attrs.set(key, id.to_string());
                self.attrs.need(caps::SOURCE_HTTP_UID_GID);
            }
        }
        self
    }

    /// A secret that becomes the `Authorization` header.
    #[must_use]
    pub fn auth_header_secret(mut self, secret: &str) -> Self {
        if !secret.is_empty() {
            self.attrs.set("http.authheadersecret", secret);
            self.attrs.need(caps::SOURCE_HTTP_AUTH);
        }
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// It is an upload of the client, which can be fetched once. The frontend that read the syntax line may have done
    /// so; then the vertex must be its vertex, so the op is written as BuildKit's own client writes it: with an empty
    /// list of constraints (`client/llb/marshal.go`).
    #[must_use]
    pub fn upload(mut self) -> Self {
        self.upload = true;
        self
    }

    /// A file system with just the file.
    #[must_use]
    pub fn build(self) -> Output {
        if !self.upload {
            return self.attrs.build(self.url, None, self.metadata);
        }
        let source = pb::SourceOp {
            identifier: self.url,
            attrs: self.attrs.attrs,
        };
        let op = pb::Op {
            op: Some(pb::op::Op::Source(source)),
            constraints: Some(pb::WorkerConstraints::default()),
            ..pb::Op::default()
        };
        Vertex::of(op, Vec::new(), self.attrs.needs, self.metadata).output(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_has_the_bytes_of_buildkits_own_client() {
        let url = "http://buildkit-session/x";
        let http = || Http::new(url).unwrap().filename("context").unwrap();
        // Field 11, empty; then field 3, the source.
        let upload = http().upload().build();
        assert_eq!(upload.vertex.bytes[..3], [0x5a, 0, 0x1a]);
        assert_eq!(upload.vertex.bytes[2..], http().build().vertex.bytes[..]);
    }
}
