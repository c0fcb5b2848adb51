//! Where groups stand: in columns by what they stand behind, in an order with few crossings, and near what they are
//! joined with. Nothing stands on anything else.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Lane;

/// How often the orders and places of columns are made better.
const SWEEPS: usize = 12;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Item {
    /// A group.
    Group(usize),
    /// A gap through which edges of this group go on to later columns.
    Bend(usize),
}

/// The columns of a lane, each in the order in which its items stand.
pub type Columns = Vec<Vec<Item>>;

/// The columns of a lane. A group stands behind everything that it consumes or waits for.
#[must_use]
pub fn columns(lane: &Lane) -> Columns {
    let links = links(lane);
    let ranks = ranks(lane.groups.len(), &links);
    let mut columns: Columns = vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)];
    for (group, rank) in ranks.iter().enumerate() {
        columns[*rank].push(Item::Group(group));
    }
    let mut joints: BTreeSet<(Item, Item)> = BTreeSet::new();
    for (from, to) in &links {
        let mut last = Item::Group(*from);
        for column in &mut columns[ranks[*from] + 1..ranks[*to]] {
            let bend = Item::Bend(*from);
            if !column.contains(&bend) {
                column.push(bend);
            }
            joints.insert((last, bend));
            last = bend;
        }
        joints.insert((last, Item::Group(*to)));
    }
    order(&mut columns, &links, &ranks);
    columns
}

/// The pairs of groups that an edge joins.
fn links(lane: &Lane) -> BTreeSet<(usize, usize)> {
    let pair = |edge: &super::Edge| (lane.nodes[edge.from].group, lane.nodes[edge.to].group);
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

/// Sorts each column by the middle of what its items are joined with, forth and back.
fn order(columns: &mut Columns, links: &BTreeSet<(usize, usize)>, ranks: &[usize]) {
    let joined = Joined::new(links, ranks);
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        let count = columns.len();
        for step in 1..count {
            let at = if forth { step } else { count - 1 - step };
            let beside = if forth { at - 1 } else { at + 1 };
            let places: BTreeMap<Item, f64> = columns[beside]
                .iter()
                .enumerate()
                .map(|(place, item)| (*item, (place as f64 + 0.5) / columns[beside].len() as f64))
                .collect();
            let length = columns[at].len() as f64;
            let mut keyed: Vec<(f64, Item)> = columns[at]
                .iter()
                .enumerate()
                .map(|(place, item)| {
                    let own = (place as f64 + 0.5) / length;
                    let others = joined.beside(*item, at, forth);
                    let others = others.filter_map(|other| places.get(&other));
                    (mean(others.copied()).unwrap_or(own), *item)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[at] = keyed.into_iter().map(|(_, item)| item).collect();
        }
    }
}

/// What is joined with what, column by column.
struct Joined<'a> {
    ranks: &'a [usize],
    sources: Vec<Vec<usize>>,
    takers: Vec<Vec<usize>>,
}

impl<'a> Joined<'a> {
    fn new(links: &BTreeSet<(usize, usize)>, ranks: &'a [usize]) -> Self {
        let mut joined = Self {
            ranks,
            sources: vec![Vec::new(); ranks.len()],
            takers: vec![Vec::new(); ranks.len()],
        };
        for (from, to) in links {
            joined.sources[*to].push(*from);
            joined.takers[*from].push(*to);
        }
        joined
    }

    /// What an item of a column is joined with in the column before it, or behind it.
    fn beside(&self, item: Item, column: usize, before: bool) -> impl Iterator<Item = Item> {
        // How a group shows in a column: as itself, or as the gap for its edges.
        let shown = move |group: usize, at: usize| match self.ranks[group] == at {
            true => Item::Group(group),
            false => Item::Bend(group),
        };
        let found: Vec<Item> = match (item, before) {
            (Item::Group(group), true) => {
                let sources = self.sources[group].iter();
                sources.map(|from| shown(*from, column - 1)).collect()
            }
            (Item::Bend(group), true) => vec![shown(group, column - 1)],
            (Item::Group(group) | Item::Bend(group), false) => {
                let takers = self.takers[group].iter();
                let later = takers.filter(|to| self.ranks[**to] > column);
                let next = |to: &usize| match self.ranks[*to] == column + 1 {
                    true => Item::Group(*to),
                    false => Item::Bend(group),
                };
                later.map(next).collect()
            }
        };
        found.into_iter()
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
pub(super) fn place(lane: &Lane, columns: &Columns, sizes: &impl Sizes) -> Tops {
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
    let ends = joints(lane, &column_of);
    for sweep in 0..SWEEPS {
        let forth = sweep % 2 == 0;
        for step in 0..columns.len() {
            let at = if forth { step } else { columns.len() - 1 - step };
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
    column_of: &BTreeMap<usize, usize>,
) -> BTreeMap<(usize, Item), Vec<Joint>> {
    let mut joints: BTreeMap<(usize, Item), Vec<Joint>> = BTreeMap::new();
    for edge in &lane.edges {
        let way = way(lane, edge, column_of);
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
    edge: &super::Edge,
    column_of: &BTreeMap<usize, usize>,
) -> Vec<((usize, Item), Option<usize>)> {
    let (from, to) = (lane.nodes[edge.from].group, lane.nodes[edge.to].group);
    if from == to {
        return Vec::new();
    }
    let (first, last) = (column_of[&from], column_of[&to]);
    let start = ((first, Item::Group(from)), Some(edge.from));
    let end = ((last, Item::Group(to)), Some(edge.to));
    let bends = (first + 1..last).map(|column| ((column, Item::Bend(from)), None));
    std::iter::once(start).chain(bends).chain([end]).collect()
}

/// The gaps that an edge goes through, by column.
pub(super) fn bends(lane: &Lane, edge: &super::Edge, columns: &Columns) -> Vec<(usize, Item)> {
    let column = |group: usize| {
        let item = Item::Group(group);
        columns.iter().position(|column| column.contains(&item))
    };
    let from = lane.nodes[edge.from].group;
    match (column(from), column(lane.nodes[edge.to].group)) {
        (Some(first), Some(last)) => (first + 1..last)
            .map(|column| (column, Item::Bend(from)))
            .collect(),
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
    places.zip(shifts).map(|(place, shift)| place + shift).collect()
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
        assert_eq!(nearest(&[20.0, 20.0, 5.0], &[10.0, 10.0]), [5.0, 15.0, 25.0]);
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
