//! Why a build failed, as an engine wants to hear it: a `google.rpc.Status` whose details are JSON.
//!
//! Our own failures say which lines of which file they are about. Failures that the engine reported to us go
//! back to it whole: their details hold the failing vertex, its exit code and the lines of the lane file.

use std::fmt;

use base64::Engine as _;
use llb::proto::{pb, rpc};
use llb::{Range, SourceFile};
use prost::Message as _;
use serde::Deserialize;
use serde_json::{Value, json};

/// A user's error: clients print its text without the name of a code.
const UNKNOWN: i32 = 2;
/// Something that this frontend does not do.
const UNIMPLEMENTED: i32 = 12;

/// Details of lines in a file; the name under which engines look for them (`solver/errdefs/source.go`).
const SOURCE: &str = "github.com/moby/buildkit/errdefs.Source+json";
/// Details of the vertex that failed (`solver/errdefs/vertex.go`).
const VERTEX: &str = "github.com/moby/buildkit/errdefs.Vertex+json";
/// Details of a refused sub-request (`solver/errdefs/subrequest.go`).
const SUBREQUEST: &str = "github.com/moby/buildkit/errdefs.Subrequest+json";

/// Why a build failed. Its code is never 0, which engines take for neither success nor failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(rpc::Status);

impl Failure {
    /// A failure of our own, with a text for the user.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(rpc::Status {
            code: UNKNOWN,
            message: message.into(),
            details: Vec::new(),
        })
    }

    /// A sub-request that this frontend does not answer. Clients know it by its detail and by its words.
    #[must_use]
    pub fn unsupported_request(name: &str) -> Self {
        let message = format!("unsupported request {name}");
        let failure = Self(rpc::Status {
            code: UNIMPLEMENTED,
            message,
            details: Vec::new(),
        });
        failure.with_detail(SUBREQUEST, &json!({ "name": name }))
    }

    /// A failure that the engine reported, with all its details.
    #[must_use]
    pub fn received(status: &tonic::Status) -> Self {
        let plain = || rpc::Status {
            code: i32::from(status.code()),
            message: status.message().to_owned(),
            details: Vec::new(),
        };
        let mut whole = match rpc::Status::decode(status.details()) {
            Ok(whole) if !whole.message.is_empty() || !whole.details.is_empty() => whole,
            _ => plain(),
        };
        if whole.code == 0 {
            whole.code = UNKNOWN;
        }
        Self(whole)
    }

    /// The same failure, also about these lines. Those said first are shown first.
    #[must_use]
    pub fn with_source(self, file: &SourceFile, ranges: &[Range]) -> Self {
        let info = file.to_pb();
        let position = |place: Option<pb::Position>| {
            let pb::Position { line, character } = place.unwrap_or_default();
            json!({ "line": line, "character": character })
        };
        let range = |range: &Range| {
            let pb::Range { start, end } = range.to_pb();
            json!({ "start": position(start), "end": position(end) })
        };
        let value = json!({
            "info": {
                "filename": info.filename,
                "data": base64::engine::general_purpose::STANDARD.encode(&info.data),
                "language": info.language,
            },
            "ranges": ranges.iter().map(range).collect::<Vec<_>>(),
        });
        self.with_detail(SOURCE, &value)
    }

    /// Several failures as one, with the details of all; nothing when there is none.
    #[must_use]
    pub fn all(failures: Vec<Self>) -> Option<Self> {
        failures.into_iter().reduce(|mut all, next| {
            all.0.message = format!("{}\n{}", all.0.message, next.0.message);
            all.0.details.extend(next.0.details);
            all
        })
    }

    /// Digest of the vertex that failed, where the engine said so.
    #[must_use]
    pub fn vertex(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Vertex {
            digest: String,
        }
        let detail = self
            .0
            .details
            .iter()
            .find(|detail| detail.type_url == VERTEX)?;
        Some(serde_json::from_slice::<Vertex>(&detail.value).ok()?.digest)
    }

    /// The same failure, with what we were doing in front of its text.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.0.message = format!("{doing}: {}", self.0.message);
        self
    }

    /// The same failure, after a text that says more.
    #[must_use]
    pub fn after(mut self, text: &str) -> Self {
        self.0.message = format!("{text}\n{}", self.0.message);
        self
    }

    /// The text for the user.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether there are lines of a file to show.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.0
            .details
            .iter()
            .any(|detail| detail.type_url == SOURCE)
    }

    /// What goes over the wire. An answer without lines gets a source without any: else the engine's own frontend,
    /// which forwarded the file to us, would show its `# syntax=` line and send the whole file along.
    #[must_use]
    pub fn into_status(self) -> rpc::Status {
        if self.has_source() {
            return self.0;
        }
        self.with_source(&SourceFile::new("", "", ""), &[]).0
    }

    fn with_detail(mut self, kind: &str, value: &Value) -> Self {
        let value = value.to_string().into_bytes();
        self.0.details.push(prost_types::Any {
            type_url: kind.to_owned(),
            value,
        });
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Failure {}

impl From<tonic::Status> for Failure {
    fn from(status: tonic::Status) -> Self {
        Self::received(&status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_file_are_json_under_the_name_that_engines_look_for() {
        let file = SourceFile::new("lanes.toml", "TOML", *b"a = 1\n");
        let status = Failure::new("no")
            .with_source(&file, &[Range::lines(1, 2)])
            .into_status();
        assert_eq!((status.code, status.message.as_str()), (2, "no"));
        assert_eq!(
            status.details[0].type_url,
            "github.com/moby/buildkit/errdefs.Source+json"
        );
        insta::assert_snapshot!(
            String::from_utf8_lossy(&status.details[0].value),
            @r#"{"info":{"data":"YSA9IDEK","filename":"lanes.toml","language":"TOML"},"ranges":[{"end":{"character":1,"line":2},"start":{"character":1,"line":1}}]}"#
        );
    }

    #[test]
    fn a_refused_sub_request_is_known_by_code_words_and_detail() {
        let status = Failure::unsupported_request("frontend.nope").into_status();
        assert_eq!(
            (status.code, status.message.as_str()),
            (12, "unsupported request frontend.nope")
        );
        assert_eq!(
            status.details[0].type_url,
            "github.com/moby/buildkit/errdefs.Subrequest+json"
        );
        assert_eq!(status.details[0].value, br#"{"name":"frontend.nope"}"#);
    }

    #[test]
    fn a_received_failure_keeps_code_text_and_details() {
        let sent = rpc::Status {
            code: 3,
            message: "exit code: 4".to_owned(),
            details: vec![prost_types::Any {
                type_url: "x/Vertex+json".to_owned(),
                value: b"{}".to_vec(),
            }],
        };
        let status = tonic::Status::with_details(
            tonic::Code::InvalidArgument,
            "exit code: 4",
            sent.encode_to_vec().into(),
        );
        let passed = Failure::received(&status).into_status();
        assert_eq!((passed.code, &passed.message), (sent.code, &sent.message));
        assert_eq!(passed.details[..1], sent.details);
        let told = Failure::received(&status).context("build").into_status();
        assert_eq!(told.message, "build: exit code: 4");
        assert_eq!(told.details[..1], sent.details);
    }

    #[test]
    fn a_failure_without_lines_gets_a_source_without_lines() {
        let plain = Failure::new("x").into_status();
        assert_eq!(plain.details.len(), 1);
        assert_eq!(plain.details[0].type_url, SOURCE);
        let file = SourceFile::new("lanes.toml", "TOML", *b"a");
        let with = Failure::new("x").with_source(&file, &[Range::lines(1, 1)]);
        assert_eq!(
            with.clone().into_status(),
            with.0,
            "one that has lines is left alone"
        );
    }

    #[test]
    fn the_vertex_that_failed_is_in_the_details() {
        let vertex = prost_types::Any {
            type_url: VERTEX.to_owned(),
            value: br#"{"digest":"sha256:12"}"#.to_vec(),
        };
        let status = rpc::Status {
            code: 2,
            message: "x".to_owned(),
            details: vec![vertex],
        };
        assert_eq!(Failure(status).vertex().as_deref(), Some("sha256:12"));
        assert_eq!(Failure::new("x").vertex(), None);
    }

    #[test]
    fn several_failures_are_one_with_all_their_details() {
        let file = SourceFile::new("lanes.toml", "TOML", *b"a");
        let one = |text: &str| Failure::new(text).with_source(&file, &[Range::lines(1, 1)]);
        let all = Failure::all(vec![one("a"), one("b")])
            .unwrap()
            .into_status();
        assert_eq!((all.message.as_str(), all.details.len()), ("a\nb", 2));
        assert_eq!(Failure::all(Vec::new()), None);
    }

    #[test]
    fn details_that_are_none_leave_the_plain_failure() {
        let status = tonic::Status::with_details(
            tonic::Code::Internal,
            "broken",
            b"\xff\xff".to_vec().into(),
        );
        let failure = Failure::received(&status).into_status();
        assert_eq!((failure.code, failure.message.as_str()), (13, "broken"));
    }

    #[test]
    fn no_failure_has_code_zero() {
        let zero = rpc::Status {
            code: 0,
            message: "odd".to_owned(),
            details: Vec::new(),
        };
        let status =
            tonic::Status::with_details(tonic::Code::Ok, "odd", zero.encode_to_vec().into());
        assert_ne!(Failure::received(&status).into_status().code, 0);
    }
}
