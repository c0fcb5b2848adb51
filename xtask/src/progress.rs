//! What the plain progress of `docker buildx build` says of the steps of a lane file.
//!
//! Lines are `#12 [stage/step] command`, then `#12 CACHED` or `#12 DONE 3.4s` or `#12 ERROR: …`.

use std::collections::{BTreeMap, BTreeSet};

/// A build, by what its progress showed.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The step of each vertex number.
    steps: BTreeMap<String, String>,
    /// Steps that started or were cached, however they ended.
    shown: BTreeSet<String>,
    cached: BTreeSet<String>,
    done: BTreeSet<String>,
    /// Lines of the gates and of the error at the end.
    pub(crate) lines: Vec<String>,
}

impl Progress {
    /// Takes one line.
    pub(crate) fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
        let Some((number, rest)) = line.strip_prefix('#').and_then(|l| l.split_once(' ')) else {
            return;
        };
        if let Some(step) = step(rest) {
            self.steps.insert(number.to_owned(), step.to_owned());
            self.shown.insert(step.to_owned());
        }
        let Some(step) = self.steps.get(number) else {
            return;
        };
        if rest == "CACHED" {
            self.cached.insert(step.clone());
        } else if rest.starts_with("DONE") {
            self.done.insert(step.clone());
        }
    }

    /// How many steps ran. The engine may show a vertex of an earlier build beside the one of
    /// this build that it joined to it; a step that was cached anywhere did not run.
    pub(crate) fn run(&self) -> usize {
        self.done.difference(&self.cached).count()
    }

    /// How many steps came from the cache.
    pub(crate) fn cached(&self) -> usize {
        self.cached.len()
    }

    /// Whether a step shows up: it started to run, or its result came from the cache.
    pub(crate) fn has(&self, step: &str) -> bool {
        self.shown.contains(step)
    }
}

/// `stage/step` of `[stage/step] command`.
fn step(rest: &str) -> Option<&str> {
    let (name, _) = rest.strip_prefix('[')?.split_once(']')?;
    (name.contains('/') && !name.contains(' ')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_and_other_vertices_are_not() {
        let mut progress = Progress::default();
        let text = "\
#1 [internal] load build definition from lanes.toml
#1 DONE 0.0s
#5 [onnx/build] build-component onnx /runtime
#5 ...
#6 [tvm/build] build-component tvm /runtime
#6 CACHED
#5 [onnx/build] build-component onnx /runtime
#5 0.123 a line of the step
#5 DONE 5.1s
#7 [gate arch] inspect media
#7 DONE 0.2s
#8 [image/index] /bin/sh
#8 ERROR: process did not complete
#9 [tvm/build] of an earlier build
#9 DONE 9.0s";
        text.lines().for_each(|line| progress.line(line));
        assert_eq!((progress.run(), progress.cached()), (1, 1));
        assert!(progress.has("image/index") && progress.has("tvm/build"));
        assert!(!progress.has("final/x"));
    }
}
