// Where groups stand. Columns and orders come with the data; here each item gets the place that is nearest to what it
// is joined with, whatever is folded.

const WIDTH = 220, APART = 66, HEAD = 30, ROW = 26, MORE = 34, PAD = 7, FOLDED = 24, SWEEPS = 12;

/** Places of a lane: `height`, `top` and `left` of items, `port` of nodes, and the way of an edge. */
function place(lane, folded) {
  const slowest = Math.max(1, ...lane.nodes.map((node) => node.seconds ?? 0));
  const row = (node) => Math.round(ROW + MORE * Math.sqrt((lane.nodes[node].seconds ?? 0) / slowest));
  const members = (group) => {
    const { start, end } = lane.groups[group].nodes;
    return Array.from({ length: end - start }, (_, at) => start + at);
  };
  const key = (item) => ("group" in item ? `g${item.group}` : `b${item.bend}`);
  const height = (item) => {
    if ("bend" in item) return 2;
    if (folded.has(item.group)) return HEAD + FOLDED;
    return HEAD + members(item.group).reduce((sum, node) => sum + row(node), 0) + PAD;
  };
  const gap = (above, below) => {
    const bends = ("bend" in above) + ("bend" in below);
    return [20, 12, 6][bends];
  };
  // How far below the top of its group the middle of a node is.
  const offset = lane.nodes.map((node, at) => {
    if (folded.has(node.group)) return HEAD / 2;
    const { start } = lane.groups[node.group].nodes;
    let above = HEAD;
    for (let other = start; other < at; other++) above += row(other);
    return above + row(at) / 2;
  });

  const columnOf = new Map();
  const tops = lane.columns.map((column, number) => {
    const placed = new Map();
    let top = 0;
    column.forEach((item, at) => {
      if (at > 0) top += gap(column[at - 1], item);
      placed.set(key(item), top);
      top += height(item);
      if ("group" in item) columnOf.set(item.group, number);
    });
    return placed;
  });

  /** What an edge goes through: column, item, how far below its top. */
  const way = (number) => {
    const edge = lane.edges[number];
    const [from, to] = [lane.nodes[edge.from].group, lane.nodes[edge.to].group];
    if (from === to) return [];
    const [first, last] = [columnOf.get(from), columnOf.get(to)];
    const through = [{ column: first, key: `g${from}`, offset: offset[edge.from] }];
    for (let column = first + 1; column < last; column++) through.push({ column, key: `b${lane.trunks[number]}`, offset: 0 });
    through.push({ column: last, key: `g${to}`, offset: offset[edge.to] });
    return through;
  };
  const joints = lane.columns.map(() => new Map());
  const join = (here, there, before) => {
    const at = joints[here.column];
    if (!at.has(here.key)) at.set(here.key, []);
    at.get(here.key).push({ there, shift: there.offset - here.offset, before });
  };
  for (const edge of lane.edges.keys()) {
    const through = way(edge);
    for (let at = 1; at < through.length; at++) {
      join(through[at - 1], through[at], false);
      join(through[at], through[at - 1], true);
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0;
    for (let step = 0; step < lane.columns.length; step++) {
      const at = forth ? step : lane.columns.length - 1 - step;
      const column = lane.columns[at];
      const wanted = column.map((item) => {
        const all = joints[at].get(key(item)) ?? [];
        const some = all.filter((joint) => sweep + 2 >= SWEEPS || joint.before === forth);
        if (!some.length) return tops[at].get(key(item));
        const sum = some.reduce((sum, { there, shift }) => sum + tops[there.column].get(there.key) + shift, 0);
        return sum / some.length;
      });
      const apart = column.slice(1).map((item, below) => height(column[below]) + gap(column[below], item));
      nearest(wanted, apart).forEach((top, number) => tops[at].set(key(column[number]), top));
    }
  }
  let least = Infinity, most = 0;
  tops.forEach((column) => column.forEach((top) => { least = Math.min(least, top); }));
  lane.columns.forEach((column, at) => column.forEach((item) => {
    const top = Math.round(tops[at].get(key(item)) - least);
    tops[at].set(key(item), top);
    most = Math.max(most, top + height(item));
  }));
  const left = (column) => column * (WIDTH + APART);
  return {
    row, members, way, left,
    height: (group) => height({ group }),
    x: (group) => left(columnOf.get(group)),
    y: (group) => tops[columnOf.get(group)].get(`g${group}`),
    top: (point) => tops[point.column].get(point.key) + point.offset,
    width: lane.columns.length * (WIDTH + APART) - APART,
    tall: most,
  };
}

/** The places nearest to the wanted ones where each is at least `apart` from the one before it: those that would overlap
 *  form a block, which stands where its members want it on average. */
function nearest(wanted, apart) {
  const shifts = [], blocks = [];
  let shift = 0;
  wanted.forEach((want, at) => {
    if (at > 0) shift += apart[at - 1];
    shifts.push(shift);
    let block = { sum: want - shift, count: 1 };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).count >= block.sum / block.count) {
      const before = blocks.pop();
      block = { sum: block.sum + before.sum, count: block.count + before.count };
    }
    blocks.push(block);
  });
  const places = blocks.flatMap(({ sum, count }) => Array(count).fill(sum / count));
  return places.map((place, at) => place + shifts[at]);
}
