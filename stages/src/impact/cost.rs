//! How long a part of a graph takes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde::Serialize;

use crate::keys::Manifest;

/// Times of the nodes that run, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cost {
    /// One after the other.
    pub total: f64,
    /// As long as the slowest chain takes, however many run at once.
    pub critical: f64,
    /// The steps of that chain, in order.
    pub path: Vec<String>,
    /// With this many at a time.
    pub workers: usize,
    /// With that many at a time: the ready one with the longest rest first.
    pub scheduled: f64,
}

/// What the nodes of `runs` take, each as long as `seconds` says; one without a time takes none.
#[must_use]
pub fn cost(
    manifest: &Manifest,
    runs: &BTreeSet<&str>,
    seconds: &BTreeMap<String, f64>,
    workers: usize,
) -> Cost {
    let workers = workers.max(1);
    let jobs = Jobs::new(manifest, runs, seconds);
    let (critical, path) = jobs.critical();
    Cost {
        total: jobs.seconds.iter().sum(),
        critical,
        path,
        workers,
        scheduled: jobs.schedule(workers),
    }
}

/// The nodes that run, by their place in the manifest's order.
struct Jobs<'m> {
    ids: Vec<&'m str>,
    seconds: Vec<f64>,
    /// Who waits for a node.
    behind: Vec<Vec<usize>>,
    /// For how many others a node waits.
    waits: Vec<usize>,
    /// How long a node and all that must follow it takes.
    rest: Vec<f64>,
}

impl<'m> Jobs<'m> {
    fn new(manifest: &'m Manifest, runs: &BTreeSet<&str>, known: &BTreeMap<String, f64>) -> Self {
        let nodes: Vec<_> = manifest
            .nodes
            .iter()
            .filter(|node| runs.contains(node.id.as_str()))
            .collect();
        let ids: Vec<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
        let index: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        let mut behind = vec![Vec::new(); ids.len()];
        let mut waits = vec![0; ids.len()];
        for (i, node) in nodes.iter().enumerate() {
            let inputs: BTreeSet<usize> = node
                .inputs
                .values()
                .filter_map(|input| index.get(input.node.as_str()).copied())
                .collect();
            waits[i] = inputs.len();
            for input in inputs {
                behind[input].push(i);
            }
        }
        let seconds: Vec<f64> = ids
            .iter()
            .map(|id| known.get(*id).copied().unwrap_or_default().max(0.0))
            .collect();
        let mut rest = seconds.clone();
        // Each stands behind what it consumes, so from the end all that follows is known.
        for i in (0..ids.len()).rev() {
            let longest = behind[i].iter().map(|&next| rest[next]).fold(0.0, f64::max);
            rest[i] += longest;
        }
        Self {
            ids,
            seconds,
            behind,
            waits,
            rest,
        }
    }

    fn critical(&self) -> (f64, Vec<String>) {
        let longest = |of: &[usize]| {
            let mut best: Option<usize> = None;
            for &i in of {
                if best.is_none_or(|b| self.rest[i] > self.rest[b]) {
                    best = Some(i);
                }
            }
            best
        };
        let all: Vec<usize> = (0..self.ids.len()).collect();
        let first = longest(&all);
        let (mut path, mut at) = (Vec::new(), first);
        while let Some(i) = at {
            if self.seconds[i] > 0.0 {
                path.push(self.ids[i].to_owned());
            }
            at = longest(&self.behind[i]);
        }
        (first.map_or(0.0, |i| self.rest[i]), path)
    }

    fn schedule(&self, workers: usize) -> f64 {
        // Times as whole microseconds have an order.
        let micros = |seconds: f64| (seconds * 1e6) as u64;
        let mut waits = self.waits.clone();
        let ready = |i: usize| (micros(self.rest[i]), Reverse(i));
        let mut open: BinaryHeap<(u64, Reverse<usize>)> = (0..self.ids.len())
            .filter(|&i| waits[i] == 0)
            .map(ready)
            .collect();
        let mut running: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let mut now = 0;
        loop {
            while running.len() < workers
                && let Some((_, Reverse(i))) = open.pop()
            {
                running.push(Reverse((now + micros(self.seconds[i]), i)));
            }
            let Some(Reverse((end, i))) = running.pop() else {
                return now as f64 / 1e6;
            };
            now = end;
            for &next in &self.behind[i] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    open.push(ready(next));
                }
            }
        }
    }
}
