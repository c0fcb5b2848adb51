//! Where a tree's links lead to, as the target will see them: the root of a tree is its `/`.

use std::collections::BTreeMap;

use crate::loader::{dir, joined};
use crate::walk::Link;

/// How many links one path may lead over: Linux's `MAXSYMLINKS` (`include/linux/namei.h`).
const HOPS: usize = 40;

/// The links of one or several trees.
pub struct Links {
    targets: BTreeMap<Vec<u8>, Vec<u8>>,
    labels: Vec<Vec<u8>>,
}

impl Links {
    /// The links that a walk found below roots with these labels.
    #[must_use]
    pub fn new(links: &[Link], labels: Vec<Vec<u8>>) -> Self {
        let target = |link: &Link| (joined(link.name.bytes(), b""), link.target.clone());
        Self {
            targets: links.iter().map(target).collect(),
            labels,
        }
    }

    /// What the names of each root begin with.
    #[must_use]
    pub fn labels(&self) -> &[Vec<u8>] {
        &self.labels
    }

    /// Where in the trees a path leads to from a directory, before any link is followed: absolute
    /// ones are below some root.
    #[must_use]
    pub fn places(&self, from: &[u8], path: &[u8]) -> Vec<Vec<u8>> {
        match path.strip_prefix(b"/") {
            None => vec![joined(from, path)],
            Some(path) => {
                let below = |label: &Vec<u8>| joined(label, path);
                self.labels.iter().map(below).collect()
            }
        }
    }

    /// What a resolved path names when the links on its way, and at its end, are followed. Links
    /// that lead in a circle name nothing.
    #[must_use]
    pub fn real(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let mut real = Vec::new();
        let mut open = vec![path.to_vec()];
        for _ in 0..=HOPS * self.labels.len().max(1) {
            let Some(path) = open.pop() else { break };
            match self.first(&path) {
                None => real.push(path),
                Some((at, target)) => {
                    let (link, rest) = path.split_at(at);
                    let places = self.places(dir(link), target);
                    open.extend(places.iter().rev().map(|place| joined(place, rest)));
                }
            }
        }
        real
    }

    /// The first link on a path: where its name ends, and what it says.
    fn first(&self, path: &[u8]) -> Option<(usize, &[u8])> {
        if self.targets.is_empty() {
            return None;
        }
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut ends = ends.map(|(at, _)| at).chain([path.len()]);
        ends.find_map(|at| Some((at, self.targets.get(&path[..at])?.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    fn links(links: &[(&str, &str)], labels: &[&str]) -> Links {
        let link = |(name, target): &(&str, &str)| Link {
            name: Name::from(*name),
            target: target.as_bytes().to_vec(),
        };
        let links: Vec<Link> = links.iter().map(link).collect();
        let labels = labels.iter().map(|label| label.as_bytes().to_vec());
        Links::new(&links, labels.collect())
    }

    fn real(links: &Links, path: &str) -> Vec<String> {
        let real = links.real(path.as_bytes()).into_iter();
        real.map(|path| String::from_utf8(path).unwrap()).collect()
    }

    #[test]
    fn links_are_followed_on_the_way_and_at_the_end() {
        let links = links(
            &[
                ("lib", "usr/lib"),
                ("opt/app/current", "1.2"),
                ("opt/app/1.2/lib/a.so", "../../shared/a.so.1"),
                ("opt/app/shared", "/lib/app"),
            ],
            &[""],
        );
        assert_eq!(real(&links, "lib"), ["usr/lib"]);
        assert_eq!(real(&links, "library/x"), ["library/x"]);
        assert_eq!(real(&links, "lib/x/y"), ["usr/lib/x/y"]);
        assert_eq!(
            real(&links, "opt/app/current/lib/a.so"),
            ["usr/lib/app/a.so.1"]
        );
    }

    #[test]
    fn an_absolute_link_is_below_each_root_and_what_leads_out_keeps_its_dots() {
        let links = links(&[("a/way", "/b/c"), ("a/out", "../../x")], &["a", "z"]);
        assert_eq!(real(&links, "a/way/d"), ["a/b/c/d", "z/b/c/d"]);
        assert_eq!(real(&links, "a/out/d"), ["../x/d"]);
    }

    #[test]
    fn a_circle_leads_nowhere_and_ends() {
        let labels: Vec<String> = (0..50).map(|n| format!("r{n}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let circle = [
            ("r0/a", "b"),
            ("r0/b", "/a"),
            ("r1/a", "/a/a"),
            ("r0/c", "c/c"),
        ];
        let links = links(&circle, &labels);
        assert!(real(&links, "r0/c").is_empty());
        assert!(real(&links, "r0/a").iter().all(|path| path != "r0/a"));
    }
}
