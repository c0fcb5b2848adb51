//! Where groups stand: in columns by what they stand behind, in an order with few crossings, and near what they are
//! joined with. Nothing stands on anything else.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Edge, Lane};

/// How often the orders and places of columns are made better.
const SWEEPS: usize = 12;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// A group.
    Group(usize),
    /// A gap for edges that go on: all that come from this group, or all that go to it.
    Bend(usize),
}

/// Which things of a lane stand in which column, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// From left to right; in each, from top to bottom. A group stands behind everything that it consumes or waits for.
    pub columns: Vec<Vec<Item>>,
    /// For each edge the group in whose gaps it goes: the one of its two ends that has more edges, so that those run
    /// together.
    pub trunks: Vec<usize>,
}

/// The layout of a lane.
#[must_use]
pub fn layout(lane: &Lane) -> Layout {
    let links = links(lane);
    let ranks = ranks(lane.groups.len(), &links);
    let trunk = trunks(lane.groups.len(), &links);
    let mut columns = vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)];
    for (group, rank) in ranks.iter().enumerate() {
        columns[*rank].push(Item::Group(group));
    }
    let mut beside = Beside::default();
    for (from, to) in &links {
        let bend = Item::Bend(trunk(*from, *to));
        let mut last = Item::Group(*from);
        let all = columns.iter_mut().enumerate();
        for (number, column) in all.take(ranks[*to]).skip(ranks[*from] + 1) {
            if !column.contains(&bend) {
                column.push(bend);
            }
            beside.join(number, last, bend);
            last = bend;
        }
        beside.join(ranks[*to], last, Item::Group(*to));
    }
    order(&mut columns, &beside);
    let ends = |edge: &Edge| (lane.nodes[edge.from].group, lane.nodes[edge.to].group);
    let trunks = lane.edges.iter().map(|edge| {
        let (from, to) = ends(edge);
        trunk(from, to)
    });
    Layout {
        trunks: trunks.collect(),
        columns,
    }
}

/// Which end of a link has more of them: the first, when both have as many.
fn trunks(groups: usize, links: &BTreeSet<(usize, usize)>) -> impl Fn(usize, usize) -> usize {
    let (mut out, mut into) = (vec![0; groups], vec![0; groups]);
    for (from, to) in links {
        out[*from] += 1;
        into[*to] += 1;
    }
    move |from, to| if into[to] > out[from] { to } else { from }
}

/// The pairs of groups that an edge joins.
fn links(lane: &Lane) -> BTreeSet<(usize, usize)> {
    let pair = |edge: &Edge| (lane.nodes[edge.from].group, lane.nodes[edge.to].group);
    let links = lane.edges.iter().map(pair);
    links.filter(|(from, to)| from != to).collect()
}

/// The column of each group: the longest way to it; then what more groups take than it takes itself moves towards them.
fn ranks(groups: usize, links: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut ranks = vec![0; groups];
    // As many rounds as the longest way is long, and no more where there should be a ring.
    for _ in 0..groups {
        let mut moved = false;
        for (from, to) in links {
            let least = ranks[*from] + 1;
            if ranks[*to] < least && least < groups {
                ranks[*to] = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for group in (0..groups).rev() {
        let takers = links.iter().filter(|(from, _)| *from == group);
        let (mut count, mut nearest) = (0, usize::MAX);
        for (_, to) in takers {
            count += 1;
            nearest = nearest.min(ranks[*to]);
        }
        let takes = links.iter().filter(|(_, to)| *to == group).count();
        if count > takes {
            ranks[group] = ranks[group].max(nearest.saturating_sub(1));
        }
    }
    ranks
}

/// What an item of a column is joined with in the columns beside it.
#[derive(Default)]
struct Beside {
    before: BTreeMap<(usize, Item), BTreeSet<Item>>,
    behind: BTreeMap<(usize, Item), BTreeSet<Item>>,
}

impl Beside {
    /// Joins an item of a column with one of the column before.
    fn join(&mut self, column: usize, before: Item, item: Item) {
        self.before
            .entry((column, item))
            .or_default()
            .insert(before);
        let left = (column.saturating_sub(1), before);
        self.behind.entry(left).or_default().insert(item);
    }
}

/// Sorts each column by the middle of what its items are joined with, forth and back.
fn order(columns: &mut [Vec<Item>], beside: &Beside) {
    // How far down an item stands in its column, of 1.
    let place = |at: usize, of: usize| (at as f64 + 0.5) / of as f64;
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for step in 1..columns.len() {
            let (at, other) = match forth {
                true => (step, step - 1),
                false => (columns.len() - 1 - step, columns.len() - step),
            };
            let others = columns[other].iter().enumerate();
            let places: BTreeMap<Item, f64> = others
                .map(|(number, item)| (*item, place(number, columns[other].len())))
                .collect();
            let joined = if forth {
                &beside.before
            } else {
                &beside.behind
            };
            let mut keyed: Vec<(f64, Item)> = Vec::new();
            for (number, item) in columns[at].iter().enumerate() {
                let there = joined.get(&(at, *item)).into_iter().flatten();
                let middle = mean(there.filter_map(|item| places.get(item).copied()));
                let own = place(number, columns[at].len());
                keyed.push((middle.unwrap_or(own), *item));
            }
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[at] = keyed.into_iter().map(|(_, item)| item).collect();
        }
    }
}

/// How large things are, in pixels.
pub(super) trait Sizes {
    /// The height of an item.
    fn height(&self, item: Item) -> f64;
    /// How far below the top of a node's group its middle is.
    fn middle(&self, node: usize) -> f64;
    /// The least that two neighbours of a column are apart.
    fn gap(&self, above: Item, below: Item) -> f64;
}

/// The top of each item of a column.
pub(super) type Tops = Vec<BTreeMap<Item, f64>>;

/// Places the items of each column as near to what they are joined with as their order lets them.
pub(super) fn place(lane: &Lane, layout: &Layout, sizes: &impl Sizes) -> Tops {
    let columns = &layout.columns;
    let mut column_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut tops: Tops = Vec::new();
    for (number, column) in columns.iter().enumerate() {
        let mut top = 0.0;
        let mut placed = BTreeMap::new();
        for (at, item) in column.iter().enumerate() {
            if at > 0 {
                top += sizes.gap(column[at - 1], *item);
            }
            placed.insert(*item, top);
            top += sizes.height(*item);
            if let Item::Group(group) = item {
                column_of.insert(*group, number);
            }
        }
        tops.push(placed);
    }
    let ends = joints(lane, layout, &column_of);
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for step in 0..columns.len() {
            let at = if forth {
                step
            } else {
                columns.len() - 1 - step
            };
            let wanted: Vec<f64> = columns[at]
                .iter()
                .map(|item| {
                    let here = tops[at][item];
                    let there = ends.get(&(at, *item)).into_iter().flatten();
                    // Forth, what lies before counts; back, what lies behind; at last both.
                    let last = sweep + 2 >= SWEEPS;
                    let there = there.filter(|joint| last || joint.before == forth);
                    let wanted = there.map(|joint| {
                        let (column, other) = joint.other;
                        tops[column][&other] + joint.there(sizes) - joint.here(sizes)
                    });
                    mean(wanted).unwrap_or(here)
                })
                .collect();
            let apart: Vec<f64> = columns[at]
                .windows(2)
                .map(|pair| sizes.height(pair[0]) + sizes.gap(pair[0], pair[1]))
                .collect();
            for (item, top) in columns[at].iter().zip(nearest(&wanted, &apart)) {
                tops[at].insert(*item, top);
            }
        }
    }
    let least = tops.iter().flat_map(BTreeMap::values);
    let least = least.copied().fold(f64::INFINITY, f64::min);
    for top in tops.iter_mut().flat_map(BTreeMap::values_mut) {
        *top = (*top - least).round();
    }
    tops
}

/// One end of a piece of an edge between two neighbouring columns.
struct Joint {
    /// Whether the other end lies before this one.
    before: bool,
    other: (usize, Item),
    /// The nodes at both ends; nothing in a gap.
    here: Option<usize>,
    there: Option<usize>,
}

impl Joint {
    fn here(&self, sizes: &impl Sizes) -> f64 {
        self.here.map_or(0.0, |node| sizes.middle(node))
    }

    fn there(&self, sizes: &impl Sizes) -> f64 {
        self.there.map_or(0.0, |node| sizes.middle(node))
    }
}

/// The pieces of all edges, by the column and item where they end.
fn joints(
    lane: &Lane,
    layout: &Layout,
    column_of: &BTreeMap<usize, usize>,
) -> BTreeMap<(usize, Item), Vec<Joint>> {
    let mut joints: BTreeMap<(usize, Item), Vec<Joint>> = BTreeMap::new();
    for (edge, trunk) in lane.edges.iter().zip(&layout.trunks) {
        let way = way(lane, edge, *trunk, column_of);
        for pair in way.windows(2) {
            let ((from, from_node), (to, to_node)) = (pair[0], pair[1]);
            joints.entry(from).or_default().push(Joint {
                before: false,
                other: to,
                here: from_node,
                there: to_node,
            });
            joints.entry(to).or_default().push(Joint {
                before: true,
                other: from,
                here: to_node,
                there: from_node,
            });
        }
    }
    joints
}

/// What an edge goes through, by column; nothing when it stays in one group.
fn way(
    lane: &Lane,
    edge: &Edge,
    trunk: usize,
    column_of: &BTreeMap<usize, usize>,
) -> Vec<((usize, Item), Option<usize>)> {
    let (from, to) = (lane.nodes[edge.from].group, lane.nodes[edge.to].group);
    if from == to {
        return Vec::new();
    }
    let (first, last) = (column_of[&from], column_of[&to]);
    let start = ((first, Item::Group(from)), Some(edge.from));
    let end = ((last, Item::Group(to)), Some(edge.to));
    let bends = (first + 1..last).map(|column| ((column, Item::Bend(trunk)), None));
    std::iter::once(start).chain(bends).chain([end]).collect()
}

/// The gaps that an edge goes through, by column.
pub(super) fn bends(lane: &Lane, layout: &Layout, edge: usize) -> Vec<(usize, Item)> {
    let column = |node: usize| {
        let item = Item::Group(lane.nodes[node].group);
        layout
            .columns
            .iter()
            .position(|column| column.contains(&item))
    };
    let ends = (column(lane.edges[edge].from), column(lane.edges[edge].to));
    let bend = Item::Bend(layout.trunks[edge]);
    match ends {
        (Some(first), Some(last)) => (first + 1..last).map(|column| (column, bend)).collect(),
        _ => Vec::new(),
    }
}

/// The places that are nearest to the wanted ones, by the squares of the distances, where each is at least `apart` from
/// the one before it: neighbours that would overlap form a block, which stands where its members want it on average.
fn nearest(wanted: &[f64], apart: &[f64]) -> Vec<f64> {
    let mut shift = 0.0;
    let mut shifts = Vec::new();
    // Blocks: the sum of what members want without their distances, and how many they are.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (at, want) in wanted.iter().enumerate() {
        if at > 0 {
            shift += apart[at - 1];
        }
        shifts.push(shift);
        let mut block = (want - shift, 1);
        while let Some((sum, count)) = blocks.last().copied()
            && sum / count as f64 >= block.0 / block.1 as f64
        {
            blocks.pop();
            block = (block.0 + sum, block.1 + count);
        }
        blocks.push(block);
    }
    let places = blocks
        .iter()
        .flat_map(|(sum, count)| std::iter::repeat_n(sum / *count as f64, *count));
    places
        .zip(shifts)
        .map(|(place, shift)| place + shift)
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_wanted_where_there_is_room_and_shared_where_not() {
        assert_eq!(nearest(&[0.0, 50.0], &[10.0]), [0.0, 50.0]);
        assert_eq!(nearest(&[20.0, 20.0], &[10.0]), [15.0, 25.0]);
        assert_eq!(
            nearest(&[20.0, 20.0, 5.0], &[10.0, 10.0]),
            [5.0, 15.0, 25.0]
        );
        assert_eq!(nearest(&[], &[]), [0.0; 0]);
    }

    #[test]
    fn a_group_stands_behind_what_it_takes_and_near_to_what_takes_it() {
        let links = BTreeSet::from([(0, 1), (1, 2), (2, 4), (3, 4)]);
        assert_eq!(ranks(5, &links), [0, 1, 2, 2, 3]);
        // A ring, which no plan has, ends all the same.
        let ring = BTreeSet::from([(0, 1), (1, 0)]);
        assert_eq!(ranks(2, &ring).len(), 2);
    }
}
