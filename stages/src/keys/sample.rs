//! Manifests for tests, made by hand.

use std::collections::BTreeMap;

use super::{By, Input, Kind, Manifest, Node};

/// A node with variables, and inputs by place: the node, and what of it counts.
pub(crate) fn node(
    id: &str,
    kind: Kind,
    components: &[(&str, &str)],
    inputs: &[(&str, &str, By)],
) -> Node {
    let component = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let input = |(at, node, by): &(&str, &str, By)| {
        let input = Input {
            node: (*node).to_owned(),
            by: *by,
            part: String::new(),
        };
        ((*at).to_owned(), input)
    };
    Node {
        id: id.to_owned(),
        kind,
        key: String::new(),
        own: String::new(),
        vertex: String::new(),
        components: components.iter().map(component).collect(),
        files: super::Named::default(),
        inputs: inputs.iter().map(input).collect(),
    }
}

/// The manifest of nodes, each behind what it consumes, with its keys.
pub(crate) fn manifest(nodes: Vec<Node>) -> Manifest {
    let mut manifest = Manifest {
        schema: String::new(),
        graph: String::new(),
        lane: String::new(),
        target: String::new(),
        args: BTreeMap::new(),
        images: BTreeMap::new(),
        gits: BTreeMap::new(),
        payloads: BTreeMap::new(),
        nodes,
    };
    manifest.seal();
    manifest
}
