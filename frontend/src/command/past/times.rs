//! Seconds of steps that somebody wrote down: what `lanekit impact --seconds FILE` takes for those that no build measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use stages::graph::Graph;

use super::Stop;

/// A file of such seconds. What else stands in it is for people: where a number comes from.
#[derive(Deserialize)]
struct Times {
    /// By `STAGE/STEP`.
    steps: BTreeMap<String, Time>,
}

#[derive(Deserialize)]
struct Time {
    /// Seconds; null is what nobody knows.
    seconds: Option<f64>,
}

/// The seconds that a file knows, by step.
///
/// # Errors
/// When it cannot be read, has another form, or names steps that the graph does not have: all of those at once.
pub(super) fn read(path: &Path, graph: &Graph) -> Result<BTreeMap<String, f64>, Stop> {
    let unable = |why: String| Stop::Unable(format!("--seconds {}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| unable(error.to_string()))?;
    let times: Times = serde_json::from_str(&text).map_err(|error| {
        let form = r#"{ "steps": { "STAGE/STEP": { "seconds": 12.5 } } }"#;
        unable(format!(
            "{error}; expected {form}, or null for what is not known"
        ))
    })?;
    let mut wrong = Vec::new();
    for (step, time) in &times.steps {
        if !has(graph, step) {
            wrong.push(format!("the graph has no step `{step}`"));
        } else if time.seconds.is_some_and(|seconds| seconds < 0.0) {
            wrong.push(format!("`{step}` takes less than no time"));
        }
    }
    match wrong.is_empty() {
        true => Ok(times
            .steps
            .into_iter()
            .filter_map(|(step, time)| Some((step, time.seconds?)))
            .collect()),
        false => Err(unable(wrong.join("; "))),
    }
}

fn has(graph: &Graph, step: &str) -> bool {
    let Some((stage, step)) = step.split_once('/') else {
        return false;
    };
    let stage = graph.stages.get(stage);
    stage.is_some_and(|stage| stage.steps.iter().any(|one| one.name.value == step))
}
