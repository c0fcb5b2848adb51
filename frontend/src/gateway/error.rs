//! Why a build failed, as an engine wants to hear it: a `google.rpc.Status` whose details are JSON.
//!
//! Our own failures say which lines of which file they are about. Failures that the engine reported to us go
//! back to it whole: their details hold the failing vertex, its exit code and the lines of the lane file.

use std::fmt;

use base64::Engine as _;
use llb::proto::rpc;
use prost::Message as _;
use serde::Serialize;

/// A user's error: clients print its text without the name of a code.
const UNKNOWN: i32 = 2;
/// Something that this frontend does not do.
const UNIMPLEMENTED: i32 = 12;

/// Details of lines in a file; the name under which engines look for them (`solver/errdefs/source.go`).
const SOURCE: &str = "github.com/moby/buildkit/errdefs.Source+json";
/// Details of a refused sub-request (`solver/errdefs/subrequest.go`).
const SUBREQUEST: &str = "github.com/moby/buildkit/errdefs.Subrequest+json";

/// Why a build failed. Its code is never 0, which engines take for neither success nor failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(rpc::Status);

/// Lines of a file that a failure is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLines {
    /// The file's name, as the user knows it.
    pub filename: String,
    /// The whole file: clients print the lines from it.
    pub data: Vec<u8>,
    /// Which of them.
    pub ranges: Vec<Range>,
}

/// A range in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Its first character.
    pub start: Position,
    /// Behind its last character.
    pub end: Position,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 0.
    pub character: u32,
}

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
        failure.with_detail(SUBREQUEST, &serde_json::json!({ "name": name }))
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
    pub fn with_source(self, lines: &SourceLines) -> Self {
        #[derive(Serialize)]
        struct Source<'a> {
            info: Info<'a>,
            ranges: &'a [Range],
        }
        #[derive(Serialize)]
        struct Info<'a> {
            filename: &'a str,
            data: String,
        }
        let data = base64::engine::general_purpose::STANDARD.encode(&lines.data);
        self.with_detail(
            SOURCE,
            &Source {
                info: Info {
                    filename: &lines.filename,
                    data,
                },
                ranges: &lines.ranges,
            },
        )
    }

    /// The same failure, with what we were doing in front of its text.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.0.message = format!("{doing}: {}", self.0.message);
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

    /// What goes over the wire.
    #[must_use]
    pub fn into_status(self) -> rpc::Status {
        self.0
    }

    fn with_detail(mut self, kind: &str, value: &impl Serialize) -> Self {
        // Text, numbers and lists always have a JSON form; without one the failure itself still counts.
        if let Ok(value) = serde_json::to_vec(value) {
            self.0.details.push(prost_types::Any {
                type_url: kind.to_owned(),
                value,
            });
        }
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
        let lines = SourceLines {
            filename: "lanes.toml".to_owned(),
            data: b"a = 1\n".to_vec(),
            ranges: vec![Range {
                start: Position {
                    line: 1,
                    character: 0,
                },
                end: Position {
                    line: 1,
                    character: 5,
                },
            }],
        };
        let status = Failure::new("no").with_source(&lines).into_status();
        assert_eq!((status.code, status.message.as_str()), (2, "no"));
        assert_eq!(
            status.details[0].type_url,
            "github.com/moby/buildkit/errdefs.Source+json"
        );
        assert_eq!(
            String::from_utf8_lossy(&status.details[0].value),
            r#"{"info":{"filename":"lanes.toml","data":"YSA9IDEK"},"ranges":[{"start":{"line":1,"character":0},"end":{"line":1,"character":5}}]}"#
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
        assert_eq!(Failure::received(&status).into_status(), sent);
        let told = Failure::received(&status).context("build").into_status();
        assert_eq!(
            (told.message.as_str(), told.details),
            ("build: exit code: 4", sent.details)
        );
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
