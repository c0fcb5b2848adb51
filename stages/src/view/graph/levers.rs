//! What could be changed in a lane, and what each change would move: the answers of `impact`, all at once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, Lane, Lever, LeverKind};
use crate::file::Form;
use crate::graph::Graph;
use crate::impact::{Fate, Known, fates};
use crate::keys::{self, Contents, Manifest, draft};
use crate::lower::ExecOptions;
use crate::plan::{Facts, Request, assume_with, select};

/// What levers are found with.
pub struct Levers<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// What is built.
    pub request: &'a Request,
    /// What an engine once said of images.
    pub facts: &'a Facts,
    /// The files of the context.
    pub contents: &'a Contents<'a>,
    /// The keys as they are.
    pub manifest: &'a Manifest,
    /// How many nodes are looked at for all pins and files together: [`MOST_NODES`].
    pub most: usize,
}

/// For each pin and file the lane is planned anew, and what it moves is a list in the page. A lane of 400 steps has all of
/// its levers; one of 5,000 has some hundred of 3,000, in seconds and a page of 4 MB, where all would be minutes and 14 MB.
pub const MOST_NODES: usize = 1_000_000;

/// Everything that can be changed in a lane, and how many pins and files more there are than it has room for: those
/// `lanekit impact` can be asked for. A value is changed to another one of its form; one that has no other value
/// with which the lane can be planned is left out.
#[must_use]
pub fn levers(lane: &Lane, with: &Levers<'_>) -> (Vec<Lever>, usize) {
    let finder = Finder {
        with,
        known: Known::of(with.manifest),
        index: index(lane),
    };
    let mut found = Vec::new();
    found.extend(finder.args());
    found.extend(finder.switches());
    let (pins, files) = (finder.pins(), finder.files());
    let room = with.most / with.manifest.nodes.len().max(1);
    // Each kind has half of the room, and what the other one leaves.
    let half = |other: usize| (room / 2).max(room.saturating_sub(other));
    let (some_pins, some_files) = (half(files.len()), half(pins.len()));
    found.extend(
        pins.iter()
            .take(some_pins)
            .filter_map(|name| finder.pin(name)),
    );
    found.extend(files.iter().take(some_files).map(|path| finder.file(path)));
    found.extend(finder.hosts());
    let left = pins.len().saturating_sub(some_pins) + files.len().saturating_sub(some_files);
    (found, left)
}

/// The nodes by the ids of the manifest; a gate goes by what it inspects with and by what it asserts.
fn index(lane: &Lane) -> BTreeMap<String, usize> {
    let mut index = BTreeMap::new();
    for (number, node) in lane.nodes.iter().enumerate() {
        match node.kind {
            Kind::Gate => {
                index.insert(format!("{}/inspect", node.id), number);
                index.insert(format!("{}/assert", node.id), number);
            }
            _ => {
                index.insert(node.id.clone(), number);
            }
        }
    }
    index
}

struct Finder<'a> {
    with: &'a Levers<'a>,
    known: Known,
    index: BTreeMap<String, usize>,
}

impl Finder<'_> {
    fn args(&self) -> impl Iterator<Item = Lever> {
        self.with.graph.args.iter().filter_map(|(name, arg)| {
            let given = self.with.request.args.get(name).cloned();
            let now = given.or_else(|| arg.default.as_ref().map(|text| text.value.clone()));
            let others = others(&arg.form, now.as_deref().unwrap_or_default());
            let changed = others.iter().find_map(|value| self.with_arg(name, value))?;
            Some(self.lever(LeverKind::Arg, name, now, &changed))
        })
    }

    fn switches(&self) -> impl Iterator<Item = Lever> {
        self.with
            .graph
            .switches
            .iter()
            .filter_map(|(name, switch)| {
                let given = self.with.request.args.get(name).map(String::as_str);
                let on = match given {
                    Some("true" | "1") => true,
                    Some(_) => false,
                    None => switch.default,
                };
                let changed = self.with_arg(name, if on { "false" } else { "true" })?;
                Some(self.lever(LeverKind::Switch, name, Some(on.to_string()), &changed))
            })
    }

    fn pins(&self) -> Vec<&str> {
        let names = self.with.graph.pins.keys();
        let names = names.filter(|name| !self.with.graph.derived.contains_key(*name));
        names.map(String::as_str).collect()
    }

    fn pin(&self, name: &str) -> Option<Lever> {
        let now = &self.with.graph.pins.get(name)?.value;
        let others = others(&Form::Text, now);
        let changed = others.iter().find_map(|value| {
            let graph = self.with.graph.with_pin(name, value)?;
            self.plan(&graph, self.with.request)
        })?;
        let lever = self.lever(LeverKind::Pin, name, Some(now.clone()), &changed);
        moves(&lever).then_some(lever)
    }

    fn files(&self) -> BTreeSet<&str> {
        let nodes = self.with.manifest.nodes.iter();
        let files = nodes.flat_map(|node| node.files.values());
        let paths = files.map(|file| file.path.as_str());
        paths.filter(|path| !path.is_empty()).collect()
    }

    fn file(&self, path: &str) -> Lever {
        let changed = self.with.manifest.with_changed_file(path);
        self.lever(LeverKind::File, path, None, &changed)
    }

    fn hosts(&self) -> impl Iterator<Item = Lever> {
        self.with.graph.hosts.keys().filter_map(|name| {
            let component = format!("host.{name}");
            let sees = |node: &&keys::Node| node.components.get(&component).is_some();
            let nodes = self.with.manifest.nodes.iter().filter(sees);
            let seen: Vec<usize> = nodes
                .filter_map(|node| self.index.get(&node.id).copied())
                .collect();
            (!seen.is_empty()).then(|| Lever {
                kind: LeverKind::Host,
                name: name.clone(),
                value: None,
                must: Vec::new(),
                may: Vec::new(),
                seen,
                more: Vec::new(),
            })
        })
    }

    fn with_arg(&self, name: &str, value: &str) -> Option<Manifest> {
        let mut request = self.with.request.clone();
        request.args.insert(name.to_owned(), value.to_owned());
        self.plan(self.with.graph, &request)
    }

    fn plan(&self, graph: &Graph, request: &Request) -> Option<Manifest> {
        let selection = select(graph, request).ok()?;
        let plan = assume_with(&selection, self.with.facts).ok()?;
        let draft = draft(
            &self.with.manifest.graph,
            request,
            &plan,
            self.with.facts,
            &ExecOptions::default(),
            self.with.contents,
        );
        Some(draft.seal_beside(self.with.manifest))
    }

    fn lever(
        &self,
        kind: LeverKind,
        name: &str,
        value: Option<String>,
        changed: &Manifest,
    ) -> Lever {
        let (mut must, mut may) = (BTreeSet::new(), BTreeSet::new());
        let mut more = Vec::new();
        let fates = fates(changed, &self.known, &BTreeMap::new());
        for node in &changed.nodes {
            let fate = fates[node.id.as_str()];
            match (fate, self.index.get(&node.id)) {
                (Fate::Must, Some(&node)) => {
                    must.insert(node);
                }
                (Fate::May, Some(&node)) => {
                    may.insert(node);
                }
                (Fate::Must | Fate::May, None) if node.kind == keys::Kind::Step => {
                    more.push(node.id.clone());
                }
                _ => {}
            }
        }
        Lever {
            kind,
            name: name.to_owned(),
            value,
            may: may.difference(&must).copied().collect(),
            must: must.into_iter().collect(),
            seen: Vec::new(),
            more,
        }
    }
}

fn moves(lever: &Lever) -> bool {
    !(lever.must.is_empty() && lever.may.is_empty() && lever.more.is_empty())
}

/// Values of a form that are not the one of now, the likeliest to be possible first.
fn others(form: &Form, now: &str) -> Vec<String> {
    match form {
        Form::Bool => vec![(now != "true").to_string()],
        Form::Int => vec![
            now.parse::<i64>()
                .map_or(1, |n| n.wrapping_add(1))
                .to_string(),
        ],
        Form::Choice(choices) => choices.iter().filter(|c| *c != now).cloned().collect(),
        Form::Text => vec![like(now), format!("{now}x")],
    }
}

/// A text that looks like another: a version stays a version, and a digest a digest.
fn like(text: &str) -> String {
    let Some((at, last)) = text
        .char_indices()
        .rfind(|(_, c)| c.is_ascii_alphanumeric())
    else {
        return format!("{text}1");
    };
    let other = match last {
        '9' => '8',
        'f' | 'z' => 'e',
        'F' | 'Z' => 'E',
        c => char::from(c as u8 + 1),
    };
    format!("{}{other}{}", &text[..at], &text[at + last.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_has_the_form_of_the_one_of_now() {
        assert_eq!(like("1.2.9"), "1.2.8");
        assert_eq!(like("1.26.0"), "1.26.1");
        assert_eq!(like("sha256:ab3f"), "sha256:ab3e");
        assert_eq!(like("v1-"), "v2-");
        assert_eq!(like(""), "1");
        assert_eq!(others(&Form::Bool, "true"), ["false"]);
        assert_eq!(others(&Form::Int, "-1"), ["0"]);
        let levels = Form::Choice(vec!["0".into(), "2".into()]);
        assert_eq!(others(&levels, "2"), ["0"]);
    }
}
