//! How many layers each product has: an engine stacks about 125 at most.

use super::{CopiedPart, Facts, Plan, PlannedStage, PlannedStep, Product, Start};

impl Plan {
    /// The layers of each stage's product, in the order of [`Plan::stages`], as an engine with
    /// merges makes them. A tree is one layer, however many its stage needed.
    pub fn layers(&self, facts: &Facts) -> Vec<usize> {
        let mut layers = Vec::new();
        for stage in &self.stages {
            let count = match &stage.product {
                _ if matches!(stage.start, Start::Merge(_)) => merged(stage, &layers),
                Product::Tree(_) => 1,
                Product::Root => {
                    let start = match &stage.start {
                        Start::Image(image) => {
                            facts.images.get(image).map_or(0, |fact| fact.config.layers)
                        }
                        Start::Stage(from) => layers.get(*from).copied().unwrap_or(0),
                        Start::Scratch | Start::Merge(_) => 0,
                    };
                    let added = usize::from(!stage.add.is_empty());
                    start + added + stage.steps.iter().map(of_step).sum::<usize>()
                }
            };
            layers.push(count);
        }
        layers
    }
}

/// A step is one layer, and so is each product that is copied in before it.
fn of_step(step: &PlannedStep) -> usize {
    let empty = |what: &CopiedPart| matches!(what, CopiedPart::Paths(paths) if paths.is_empty());
    1 + step
        .copies
        .iter()
        .filter(|copied| !empty(&copied.what))
        .count()
}

/// The layers of all that is merged, markers and what wins over others included.
fn merged(stage: &PlannedStage, layers: &[usize]) -> usize {
    let Start::Merge(merge) = &stage.start else {
        return 0;
    };
    let parts = merge.parts.iter().map(|part| match part.moved {
        Some(_) => 1,
        None => layers.get(part.stage).copied().unwrap_or(1),
    });
    let winners = merge
        .parts
        .iter()
        .filter(|part| merge.take.iter().any(|(_, winner)| *winner == part.stage));
    parts.sum::<usize>() + usize::from(!merge.markers.is_empty()) + winners.count()
}
