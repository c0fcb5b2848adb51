//! The example as texts, which a test may change, and what is made of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ::llb::Digest;
use stages::diag::{Report, Sources};
use stages::file;
use stages::graph::{self, Graph};
use stages::keys::{self, Manifest};
use stages::lower::ExecOptions;

use crate::common::{Loaded, plan, request};

/// What is built of every lane, in the order of the tables here.
pub(crate) const LANES: [&str; 6] = [
    "winamd64",
    "winamd64-nvidia",
    "winamd64-rocm",
    "winarm64",
    "winarm64-nvidia",
    "llama-winarm64-cuda/release",
];

/// The directory of the example.
pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/windows-media")
}

/// The lane file, what it includes and its pins, by path.
#[derive(Clone)]
pub(crate) struct Example(BTreeMap<String, String>);

impl Example {
    /// As it is.
    pub(crate) fn read() -> Self {
        Self::named("windows-media")
    }

    /// Another example that is split in the same way.
    pub(crate) fn named(name: &str) -> Self {
        let directory = directory().with_file_name(name);
        let mut texts = BTreeMap::new();
        for name in ["lanes.toml", "versions.env"] {
            texts.insert(name.to_owned(), text(&directory.join(name)));
        }
        for part in ["stages", "gates"] {
            let entries = fs::read_dir(directory.join(part)).expect("a directory");
            for entry in entries {
                let path = entry.expect("an entry").path();
                let name = path.file_name().and_then(|name| name.to_str());
                let name = name.expect("a name").to_owned();
                texts.insert(format!("{part}/{name}"), text(&path));
            }
        }
        Self(texts)
    }

    /// With one place of one file changed.
    pub(crate) fn with(mut self, file: &str, from: &str, to: &str) -> Self {
        let text = self.0.get_mut(file).expect(file);
        assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
        *text = text.replace(from, to);
        self
    }

    /// With every such line of one file taken away.
    pub(crate) fn without_lines(mut self, file: &str, what: &str) -> Self {
        let text = self.0.get_mut(file).expect(file);
        assert!(text.contains(what), "{file}: {what}");
        let kept = text.lines().filter(|line| !line.contains(what));
        *text = kept.map(|line| format!("{line}\n")).collect();
        self
    }

    /// With a table and all behind it, up to the next heading that is `until`, taken away.
    pub(crate) fn without(mut self, file: &str, heading: &str, until: &str) -> Self {
        let text = self.0.get_mut(file).expect(file);
        let start = text.find(heading).expect(heading);
        let end = text[start..].find(until).expect(until) + start;
        text.replace_range(start..end, "");
        self
    }

    /// With another value of a pin.
    pub(crate) fn pinned(mut self, name: &str, value: &str) -> Self {
        let text = self.0.get_mut("versions.env").expect("pins");
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name}=")));
        let line = line.expect(name).to_owned();
        *text = text.replace(&format!("{line}\n"), &format!("{name}={value}\n"));
        self
    }

    /// With the hashes of payloads whose bytes are their names.
    pub(crate) fn with_payloads(self) -> Self {
        let hash = |name: &str| Digest::of(name.as_bytes()).hex();
        self.pinned("QNN_SDK_ZIP_SHA256", &hash("qnn"))
            .pinned("TENSORRT_ZIP_SHA256", &hash("tensorrt"))
    }

    /// The texts, by path.
    pub(crate) fn texts(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// The graph, or what is wrong.
    pub(crate) fn load(&self) -> Loaded {
        let mut sources = Sources::default();
        let mut report = Report::default();
        let lanes = sources.add("lanes.toml", &self.0["lanes.toml"]);
        let graph = file::parse(&sources, lanes).and_then(|mut document| {
            let included = self.0.iter().filter(|(name, _)| name.contains('/'));
            for (name, text) in included {
                let id = sources.add(name, text);
                match file::parse_included(&sources, id, &document.graph) {
                    Ok(other) => document.include(other, &mut report),
                    Err(more) => report.extend(more),
                }
            }
            let pins = sources.add("versions.env", &self.0["versions.env"]);
            let pins = file::parse_pins(&sources, pins, &mut report);
            let graph = graph::resolve(document, pins)
                .and_then(|graph| stages::view::check_tags(&graph).map(|()| graph));
            report.into_result(()).and(graph)
        });
        Loaded { sources, graph }
    }

    /// The graph.
    pub(crate) fn graph(&self) -> Graph {
        let loaded = self.load();
        match loaded.graph {
            Ok(graph) => graph,
            Err(report) => panic!("{}", report.render(&loaded.sources, false)),
        }
    }

    /// The rules that say what is wrong or doubtful in any lane.
    pub(crate) fn wrong(&self) -> Vec<String> {
        let loaded = self.load();
        match &loaded.graph {
            Err(report) => rules(report),
            Ok(graph) => {
                let mut report = stages::plan::rehearse(graph, |_| Ok(()));
                report.extend(graph::lint::lint(graph, &loaded.sources, None));
                rules(&report)
            }
        }
    }

    /// The rules that say what is wrong with a request.
    pub(crate) fn asked(&self, target: &str, args: &[(&str, &str)]) -> Vec<String> {
        let wrong = plan(&self.graph(), &request(target, args)).err();
        wrong.as_ref().map(rules).unwrap_or_default()
    }

    /// What makes the keys of a target.
    pub(crate) fn manifest(&self, target: &str, args: &[(&str, &str)]) -> Manifest {
        let graph = self.graph();
        let request = request(target, args);
        let (plan, facts) = plan(&graph, &request).expect("a plan");
        let contents = |path: &str| Some(format!("digest of {path}"));
        let options = ExecOptions::default();
        keys::make(
            "windows-media",
            &request,
            &plan,
            &facts,
            &options,
            &contents,
        )
    }
}

fn rules(report: &Report) -> Vec<String> {
    let rules = report.diagnostics().iter().map(|one| one.rule.0.to_owned());
    rules.collect()
}

/// A file of the example.
pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
