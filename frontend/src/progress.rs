//! What an engine says of a build while it runs: the lines of `docker buildx build --progress=rawjson`.
//!
//! What its flags mean (BuildKit `solver/jobs.go`, `solver/progress.go`): a vertex without inputs shows as started and
//! not cached also where only its key was made; of two vertices with equal keys one runs and the other one shows as
//! cached; one that was cancelled is completed, with an error; what another build started shows up while ours joins it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A build as far as it has got.
#[derive(Debug, Default)]
pub struct Progress {
    /// By digest.
    pub vertices: BTreeMap<String, Vertex>,
    since: Option<Timestamp>,
}

/// One vertex.
#[derive(Debug, Clone, Default)]
pub struct Vertex {
    /// Its name.
    pub name: String,
    /// Whether it came from the cache.
    pub cached: bool,
    /// Why it failed; empty when it did not.
    pub error: String,
    /// When it started, whoever wanted it.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub completed: Option<Timestamp>,
    /// How many bytes were transferred for it, by what: a layer, the context, an export.
    transfers: BTreeMap<String, u64>,
}

/// How a vertex ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Nothing asked for it, or it never began.
    Unseen,
    /// It came from the cache.
    Cached,
    /// Another step failed, or somebody stopped the build.
    Cancelled,
    /// It failed.
    Failed,
    /// It ran to its end.
    Ran,
}

impl Vertex {
    /// How it ended.
    #[must_use]
    pub fn end(&self) -> End {
        match (self.started, self.completed) {
            _ if self.cached => End::Cached,
            (None, _) => End::Unseen,
            _ if self.error.contains("context canceled") => End::Cancelled,
            _ if !self.error.is_empty() => End::Failed,
            (_, None) => End::Cancelled,
            (_, Some(_)) => End::Ran,
        }
    }

    /// How many bytes the engine says were transferred for it; it says nothing of what a step wrote.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.transfers.values().sum()
    }

    /// How long it took, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        match (self.started, self.completed) {
            (Some(started), Some(completed)) => {
                (completed.as_microsecond() - started.as_microsecond()).max(0) as f64 / 1e6
            }
            _ => 0.0,
        }
    }
}

/// What a line says that a person wants to see.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A vertex began.
    Started(String),
    /// A vertex ended, with its name.
    Ended(String),
    /// What a step printed.
    Log(Vec<u8>),
    /// A line that is no message: what buildx itself says.
    Text(String),
}

impl Progress {
    /// Of a build that begins at `since`; without it, of one that was recorded.
    #[must_use]
    pub fn new(since: Option<Timestamp>) -> Self {
        Self {
            since,
            ..Self::default()
        }
    }

    /// Takes one line, and hands back what is new in it. `Started` and `Ended` name digests.
    pub fn line(&mut self, line: &str) -> Vec<Said> {
        let Ok(Value::Object(status)) = serde_json::from_str::<Value>(line) else {
            return vec![Said::Text(line.to_owned())];
        };
        let list = |key: &str| status.get(key).and_then(Value::as_array);
        let mut said = Vec::new();
        for vertex in list("vertexes").into_iter().flatten() {
            said.extend(self.vertex(vertex));
        }
        for transfer in list("statuses").into_iter().flatten() {
            self.transfer(transfer);
        }
        for log in list("logs").into_iter().flatten() {
            let data = BASE64_STANDARD.decode(text(&log["data"]));
            said.extend(data.ok().map(Said::Log));
        }
        said
    }

    /// Counts of what is no transfer are no bytes: they have no total.
    fn transfer(&mut self, transfer: &Value) {
        let vertex = self.vertices.get_mut(&text(&transfer["vertex"]));
        let bytes = transfer["total"].as_u64().filter(|total| *total > 0);
        if let (Some(vertex), Some(_)) = (vertex, bytes) {
            let so_far = transfer["current"].as_u64().unwrap_or_default();
            let known = vertex.transfers.entry(text(&transfer["id"])).or_default();
            *known = so_far.max(*known);
        }
    }

    fn vertex(&mut self, vertex: &Value) -> Option<Said> {
        let time = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
        let started = time(&vertex["started"]);
        // It is another build's: the engine shows it while ours joins it.
        if let (Some(since), Some(started)) = (self.since, started)
            && started < since
        {
            return None;
        }
        let digest = text(&vertex["digest"]);
        let known = self.vertices.entry(digest.clone()).or_default();
        let before = (known.started.is_some(), known.completed.is_some());
        known.name = text(&vertex["name"]);
        known.started = known.started.or(started);
        known.completed = time(&vertex["completed"]).or(known.completed);
        known.cached |= vertex["cached"].as_bool().unwrap_or_default();
        let error = text(&vertex["error"]);
        if !error.is_empty() {
            known.error = error;
        }
        match (before, known.started, known.completed) {
            ((_, false), _, Some(_)) => Some(Said::Ended(digest)),
            ((false, _), Some(_), None) => Some(Said::Started(digest)),
            _ => None,
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(line: &str) -> End {
        let mut progress = Progress::new(None);
        progress.line(line);
        progress.vertices["d"].end()
    }

    #[test]
    fn the_error_counts_before_the_flags() {
        let with = |rest: &str| {
            end(&format!(
                r#"{{"vertexes":[{{"digest":"d","name":"n",{rest}}}]}}"#
            ))
        };
        let times = r#""started":"2026-01-01T00:00:00Z","completed":"2026-01-01T00:00:01Z""#;
        assert_eq!(with(times), End::Ran);
        assert_eq!(with(&format!(r#"{times},"cached":true"#)), End::Cached);
        let cancelled = r#""error":"process: context canceled""#;
        assert_eq!(with(&format!("{times},{cancelled}")), End::Cancelled);
        assert_eq!(
            with(&format!(r#"{times},"error":"exit code: 1""#)),
            End::Failed
        );
        assert_eq!(with(r#""started":null"#), End::Unseen);
    }

    #[test]
    fn bytes_are_those_of_the_last_word_on_each_transfer() {
        let mut progress = Progress::new(None);
        progress.line(r#"{"vertexes":[{"digest":"d","name":"n"}]}"#);
        for (id, current, total) in [("a", 10, 100), ("a", 100, 100), ("b", 7, 7), ("c", 3, 0)] {
            progress.line(&format!(
                r#"{{"statuses":[{{"id":"{id}","vertex":"d","current":{current},"total":{total}}}]}}"#
            ));
        }
        assert_eq!(progress.vertices["d"].bytes(), 107);
    }

    #[test]
    fn what_began_before_the_build_is_not_of_it() {
        let since = "2026-01-01T00:00:10Z".parse().unwrap();
        let mut progress = Progress::new(Some(since));
        progress
            .line(r#"{"vertexes":[{"digest":"d","name":"n","started":"2026-01-01T00:00:09Z"}]}"#);
        assert!(progress.vertices.is_empty());
        let log = r#"{"logs":[{"vertex":"d","data":"aGVsbG8K"}]}"#;
        assert_eq!(progress.line(log), [Said::Log(b"hello\n".to_vec())]);
        assert_eq!(progress.line("ERROR: no"), [Said::Text("ERROR: no".into())]);
    }
}
