//! What may change in a graph, generated from the graph itself.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use engine_tests::{Example, nonce};
use stages::keys::Manifest;

/// One change to an example or to what its caller says.
pub(crate) struct Change {
    /// The kind of thing that changes.
    pub(crate) what: &'static str,
    /// Which one.
    pub(crate) which: String,
    /// How.
    pub(crate) how: How,
}

/// How something changes.
pub(crate) enum How {
    /// A file of the example gets this text.
    Write(String, String),
    /// A file gets another mode.
    Mode(String, u32),
    /// A file gets another time.
    Touch(String),
    /// The caller gives an argument.
    Arg(String),
    /// The caller gives a host setting.
    Secret(String),
    /// The caller gives a label.
    Label(String),
    /// The caller builds something else.
    Target(String),
}

impl Change {
    /// Makes it.
    pub(crate) fn make(&self, example: &Example) {
        match &self.how {
            How::Write(file, text) => example.write(file, text),
            How::Mode(file, mode) => {
                let mode = fs::Permissions::from_mode(*mode);
                fs::set_permissions(example.file(file), mode).expect("a mode");
            }
            How::Touch(file) => {
                let file = fs::File::options().append(true).open(example.file(file));
                let past = SystemTime::now() - Duration::from_secs(86_400);
                file.and_then(|file| file.set_modified(past))
                    .expect("a time");
            }
            How::Arg(_) | How::Secret(_) | How::Label(_) | How::Target(_) => {}
        }
    }
}

/// How many changes of a kind that can have hundreds.
const FEW: usize = 3;

/// Every change to an example, as its lane file and its manifest have it. Each writes a text that nothing had before, so
/// that what it makes is no product of an earlier change.
pub(crate) fn all(example: &Example, manifest: &Manifest) -> Vec<Change> {
    let text = example.read("lanes.toml");
    let pins = example.read("versions.env");
    let mut changes = Changes {
        list: Vec::new(),
        text: &text,
    };
    changes.settings();
    changes.pins(&pins);
    changes.files(manifest, example);
    changes.lines();
    changes.tables();
    changes.list
}

struct Changes<'a> {
    list: Vec<Change>,
    text: &'a str,
}

impl Changes<'_> {
    fn push(&mut self, what: &'static str, which: impl Into<String>, how: How) {
        let which = which.into();
        self.list.push(Change { what, which, how });
    }

    fn lanes(&mut self, what: &'static str, which: impl Into<String>, text: String) {
        assert_ne!(text, self.text, "{what} changes nothing");
        self.push(what, which, How::Write("lanes.toml".into(), text));
    }

    /// Names of the tables `[KIND.NAME]`.
    fn tables_of(&self, kind: &str) -> Vec<String> {
        let open = format!("[{kind}.");
        let names = self.text.lines().filter_map(|line| {
            let name = line.strip_prefix(&open)?.split([']', '.']).next()?;
            Some(name.to_owned())
        });
        let mut seen = BTreeSet::new();
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    /// What the caller says.
    fn settings(&mut self) {
        for arg in self.tables_of("arg") {
            // The one argument that is no text is a level of optimisation.
            let value = match arg.as_str() {
                "OPTIMIZE" => "3".to_owned(),
                _ => nonce(),
            };
            self.push("arg", &arg, How::Arg(format!("{arg}={value}")));
        }
        for switch in self.tables_of("switch") {
            self.push("switch", &switch, How::Arg(format!("{switch}=false")));
        }
        for host in self.tables_of("host") {
            self.push("host setting", &host, How::Secret(host.clone()));
        }
        self.push("label", "--label", How::Label(format!("l={}", nonce())));
        for lane in self.tables_of("lane") {
            self.push("lane", &lane, How::Target(lane.clone()));
        }
    }

    fn pins(&mut self, pins: &str) {
        let file = || "versions.env".to_owned();
        for line in pins.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, _)) = line.split_once('=') else {
                continue;
            };
            let text = pins.replace(line, &format!("{line}.{}", nonce()));
            self.push("pin", name, How::Write(file(), text));
        }
        let lines: Vec<&str> = pins.lines().rev().collect();
        let text = lines.join("\n") + "\n";
        self.push("order of pins", "versions.env", How::Write(file(), text));
        let text = format!("# A comment.\n{pins}");
        self.push("comment", "versions.env", How::Write(file(), text));
    }

    fn files(&mut self, manifest: &Manifest, example: &Example) {
        let named = manifest.nodes.iter().flat_map(|node| node.files.values());
        let named: BTreeSet<&str> = named
            .map(|file| file.path.as_str())
            .filter(|path| !path.is_empty())
            .collect();
        let mut files = BTreeSet::new();
        for path in named {
            if example.file(path).is_dir() {
                let entries = fs::read_dir(example.file(path)).expect("a directory");
                let names = entries.map(|entry| entry.expect("an entry").file_name());
                files.extend(names.map(|name| format!("{path}/{}", name.to_string_lossy())));
                let new = How::Write(format!("{path}/new"), nonce());
                self.push("new file in a listed directory", path, new);
            } else {
                files.insert(path.to_owned());
            }
        }
        for (number, file) in files.iter().enumerate() {
            let text = example.read(file);
            // Nothing that makes C another program; the bytes of a debug-free object stay the same.
            let more = match file.ends_with(".c") || file.ends_with(".h") {
                true => format!("{text}/* {} */\n", nonce()),
                false => format!("{text}# {}\n", nonce()),
            };
            self.push("file content", file, How::Write(file.clone(), more));
            if number < FEW {
                self.push("file mode", file, How::Mode(file.clone(), 0o700));
                self.push("file time", file, How::Touch(file.clone()));
            }
        }
        for file in ["unlisted.txt", "README.md"] {
            let how = How::Write(file.into(), nonce());
            self.push("unlisted file", file, how);
        }
    }

    /// Changes of one line.
    fn lines(&mut self) {
        let lines: Vec<&str> = self.text.lines().collect();
        let mut table = "";
        let mut few = BTreeSet::new();
        for (number, line) in lines.iter().enumerate() {
            if line.starts_with('[') {
                table = line.trim_matches(['[', ']']);
            }
            let with = |new: String| {
                let mut lines = lines.clone();
                lines[number] = &new;
                lines.join("\n") + "\n"
            };
            let which = format!("{table}, line {}", number + 1);
            let Some((what, new)) = self.line(line, table) else {
                continue;
            };
            // One of each kind for each table.
            if few.insert((what, table.to_owned(), number / 40)) {
                self.lanes(what, which, with(new));
            }
        }
    }

    /// Another line in place of one, and what kind of thing changed by it.
    fn line(&self, line: &str, table: &str) -> Option<(&'static str, String)> {
        let key = line.split(['=', ' ']).next().unwrap_or_default();
        let other = |from: &str, to: &str| line.replacen(from, to, 1);
        let step = table.ends_with(".step");
        // What a list says, the other way round.
        let reversed = || {
            let (head, list) = line.split_once('[')?;
            let list = list.strip_suffix(']')?;
            let mut words: Vec<&str> = list.split(", ").collect();
            words.reverse();
            let plain = !list.contains('{') && words.len() > 1;
            plain.then(|| format!("{head}[{}]", words.join(", ")))
        };
        let changed = match key {
            "name" if step => ("step name", other(" \"", " \"re-")),
            "name" => ("graph name", other(" \"", " \"re-")),
            "about" => ("documentation", other(" \"", " \"re-")),
            "network" => ("network", other("none", "default")),
            "args" => ("order of args", reversed()?),
            "files" => ("order of files", reversed()?),
            "cache" if step || table.starts_with("kit.") => {
                ("cache id", other("id = \"", "id = \"re-"))
            }
            "'''" => ("script", format!(": {}\n'''", nonce())),
            "env.LANG" => ("chain env", other(" \"", " \"POSIX.")),
            "labels" | "image.labels" => ("label", other("= \"", "= \"re-")),
            "env" | "image.env" if !table.starts_with("kit.") => {
                ("image env", other("= \"", "= \"re-"))
            }
            "env" => ("kit env", line.replace(" }", ", MORE = \"1\" }")),
            "cmd" | "image.cmd" => ("image command", other("[\"", "[\"re-")),
            "output.image" => (
                "tag",
                line.contains("tag = ")
                    .then(|| other("tag = \"", "tag = \"re-"))?,
            ),
            "target" => (
                "lane target",
                match line.contains("arm64") {
                    true => other("arm64", "amd64"),
                    false => other("amd64", "arm64"),
                },
            ),
            "inspected" => ("floor", raised(line)?),
            "empty-ok" => ("gate policy", other("= \"", "= \"indeed, ")),
            "hold" => ("gate hold", format!("# {line}")),
            "write" => ("file step", other("target ", "the target ")),
            "link" => ("file step", other("/oracle", "/oracle-link")),
            _ => return None,
        };
        Some(changed)
    }

    /// Changes of whole tables.
    fn tables(&mut self) {
        let starts: Vec<usize> = self
            .text
            .match_indices("\n[stage.")
            .map(|(at, _)| at + 1)
            .filter(|at| {
                let line = self.text[*at..].lines().next().unwrap_or_default();
                line.matches('.').count() == 1
            })
            .collect();
        let gate = self
            .text
            .find("\n[gate.")
            .map_or(self.text.len(), |at| at + 1);
        for (number, &at) in starts.iter().enumerate().take(FEW) {
            let end = starts.get(number + 1).copied().unwrap_or(gate);
            let (before, table, after) = (&self.text[..at], &self.text[at..end], &self.text[end..]);
            let name = table.lines().next().unwrap_or_default();
            if !after.is_empty() {
                self.lanes("order of tables", name, format!("{before}{after}\n{table}"));
            }
            self.lanes(
                "comment",
                name,
                format!("{before}# A comment.\n{table}{after}"),
            );
        }
        if gate < self.text.len() {
            self.lanes("gate removed", "all", self.text[..gate].to_owned());
        }
    }
}

/// A floor that asks for as much as was measured: the lane file takes none below what a broken tree had.
fn raised(line: &str) -> Option<String> {
    let number = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name} = "))?;
        rest.split([',', ' ', '}']).next()
    };
    let (least, measured) = (number("least")?, number("measured")?);
    let raised = line.replacen(
        &format!("least = {least}"),
        &format!("least = {measured}"),
        1,
    );
    (raised != line).then_some(raised)
}
