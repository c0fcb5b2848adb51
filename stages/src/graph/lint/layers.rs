//! LK072: more layers than an engine stacks.

use std::collections::BTreeSet;

use super::super::Setting;
use super::Seen;
use crate::diag::{Diagnostic, Report, rule};
use crate::file::Stage;

/// The most layers that dockerd loads and runs, those of the base image included
/// (`layer/layer_store.go` of moby/moby: `maxLayerDepth`).
const MOST: u64 = 125;

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let budget = seen.graph.table.layer_budget.as_ref();
    let most = budget.map_or(MOST, |budget| budget.value);
    let mut said = BTreeSet::new();
    for (name, lane) in &seen.graph.lanes {
        let setting = seen.graph.setting(name, lane);
        for (_, output) in setting.outputs() {
            let layers = layers(&setting, &output.stage.value);
            if layers as u64 > most && said.insert(output.stage.value.clone()) {
                let message = format!(
                    "stage `{}` has {layers} layers above its base image",
                    output.stage.value
                );
                report.push(
                    Diagnostic::new(rule::LAYERS, message)
                        .at(&output.stage.span, format!("the budget is {most}"))
                        .help("a stage with a `tree` is one layer: let its consumers `add` it"),
                );
            }
        }
    }
}

/// The layers that a stage has in this lane, without those of an image that it starts from.
fn layers(setting: &Setting<'_>, stage: &str) -> usize {
    let mut count = 0;
    let mut next = setting.graph.stages.get(stage);
    while let Some(stage) = next {
        if setting.graph.is_tree(stage) {
            return count + stage.merge.len().max(1);
        }
        count += own(setting, stage);
        let start = stage.from.as_ref().and_then(|from| setting.start(from));
        next = start.and_then(|name| setting.graph.stages.get(&name.value));
    }
    count
}

fn own(setting: &Setting<'_>, stage: &Stage) -> usize {
    usize::from(!stage.add.is_empty()) + setting.steps(stage).count()
}
