//! What differs, for people and for machines.

use serde_json::{Value, json};

use super::{Bytes, Comparison, How};

/// Name and version of the form of the JSON.
pub const SCHEMA: &str = "lanekit-repro/1";
/// How many paths are shown.
const MOST: usize = 40;

impl Comparison {
    /// As text for a terminal.
    #[must_use]
    pub fn text(&self, step: &str) -> String {
        let (paths, differ) = (self.paths, self.differences.len());
        let mut text = match differ {
            0 => format!("{step} is reproducible: two runs made the same {paths} paths\n"),
            _ => format!("{step} is not reproducible: {differ} of {paths} paths differ\n"),
        };
        for difference in self.differences.iter().take(MOST) {
            text.push_str(&format!("  {}\n", difference.path));
            for how in &difference.how {
                text.push_str(&shown(how));
            }
        }
        if differ > MOST {
            text.push_str(&format!("  and {} more\n", differ - MOST));
        }
        if self.times > 0 {
            let times = self.times;
            text.push_str(&format!(
                "times differ in {times} files; they are in no key\n"
            ));
        }
        text
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self, step: &str) -> Value {
        json!({
            "schema": SCHEMA,
            "step": step,
            "same": self.is_same(),
            "paths": self.paths,
            "times": self.times,
            "differences": self.differences,
        })
    }
}

fn shown(how: &How) -> String {
    let line = match how {
        How::OnlyFirst => "only the first run made it".to_owned(),
        How::OnlySecond => "only the second run made it".to_owned(),
        How::Kind(old, new) => format!("a {old}, then a {new}"),
        How::Mode(old, new) => format!("mode {old:o} → {new:o}"),
        How::Owner(old, new) => format!("owner {old} → {new}"),
        How::Link(old, new) => format!("links to {old} → {new}"),
        How::Bytes(bytes) => return of_bytes(bytes),
    };
    format!("    {line}\n")
}

fn of_bytes(bytes: &Bytes) -> String {
    let (old, new) = bytes.sizes;
    let mut text = match bytes.differing {
        Some(count) => format!(
            "    {count} of {old} bytes, the first at {:#x}",
            bytes.first
        ),
        None if old == new => format!("    {old} bytes, others from {:#x} on", bytes.first),
        None => format!("    {old} bytes → {new}, others from {:#x} on", bytes.first),
    };
    if let Some(looks) = &bytes.looks_like {
        text.push_str(&format!("; looks like {looks}"));
    }
    text.push('\n');
    for place in &bytes.places {
        let (from, to) = place.at;
        let part = match place.part.as_str() {
            "" => String::new(),
            part => format!(" {part}"),
        };
        let values = match &place.values {
            Some((old, new)) => format!(": {old} → {new}"),
            None => String::new(),
        };
        text.push_str(&format!("      {from:#x}–{to:#x}{part}{values}\n"));
    }
    if bytes.more > 0 {
        text.push_str(&format!("      and {} more places\n", bytes.more));
    }
    text
}
