//! The gate `overlap`: trees that go into one place do not contradict each other.

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::glob::Glob;
use crate::list;
use crate::overlap::{self, Part, Rules};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const DIFFERS: Rule = Rule::new("OVL001", "two trees with one name for two things");

/// The gate.
pub struct Overlap;

impl Check for Overlap {
    const NAME: &'static str = "overlap";
    const ABOUT: &'static str = "trees that go into one place do not contradict each other";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["files", "trees"];
    const RULES: &'static [Rule] = &[DIFFERS];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        if roots.len() < 2 {
            let why = "overlap needs two roots, with a label for each";
            return Err(Failure::Usage(why.to_owned()));
        }
        let fold = row.folds_case();
        let mut found = Seen::default();
        let parts: Vec<Part> = roots
            .iter()
            .map(|root| Part {
                stage: root.label.to_string(),
                path: root.path.clone(),
            })
            .collect();
        let rules = Rules {
            fold,
            any: ask.any.iter().map(|any| Glob::new(any, fold)).collect(),
            take: Vec::new(),
        };
        for conflict in overlap::compare(&parts, &rules)?.conflicts {
            let [a, b] = &conflict.stages;
            let why = format!("{a} and {b}: {}", conflict.why);
            found.wrong(DIFFERS, &conflict.name, why);
        }
        for root in tree.roots().iter().filter(|root| root.files > 0) {
            found.count("trees", &root.label, &[("files", root.files)]);
        }
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Paths where the trees may differ.
    #[serde(default)]
    pub any: Vec<String>,
}

impl Keys for Ask {}
