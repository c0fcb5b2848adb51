// A lane from afar: a tile for each stage, gate and output, where the drawing would be too small to be read.

// With more tiles than these, stages in which nothing happened share one until it is opened.
const TILES = 140;

/** Draws the tiles, in the order of the drawing; hands them back with the groups and nodes that each stands for. */
function drawTiles(lane, places, gathered) {
  const all = inOrder(lane), chain = new Set(lane.path);
  const shared = all.length > TILES && gathered ? all.filter((group) => isQuiet(lane, lane.groups[group])) : [];
  const apart = all.filter((group) => !shared.includes(group));
  const tiles = [...apart.map((group) => [group]), ...(shared.length ? [shared] : [])].map((groups) => {
    const nodes = groups.flatMap((group) => places.members(group));
    return { groups, nodes, tile: drawTile(lane, groups, nodes.map((node) => lane.nodes[node]), nodes.some((node) => chain.has(node))) };
  });
  byId("tiles").replaceChildren(...tiles.map(({ tile }) => tile));
  return tiles;
}

function drawTile(lane, groups, nodes, isCritical) {
  const [first] = groups.map((group) => lane.groups[group]);
  const name = groups.length > 1 ? `${groups.length} other stages` : groupName(first);
  const line = sum(nodes), state = worst(nodes);
  const said = [name, line.title, isCritical ? "on the critical path" : ""];
  return el("button", {
    className: `tile folded ${first.kind} ${state}${isCritical ? " critical" : ""}${nodes.some(isRed) ? " red" : ""}`,
    type: "button", tabIndex: -1, title: said.filter(Boolean).join(", "),
  }, first.kind === "output" ? null : mark(state), el("span", { className: "label" }, name), line);
}

/** Moves the focus from a tile to the one beside, above or below it. */
function besideTile(tile, key) {
  const tiles = [...byId("tiles").children], at = tiles.indexOf(tile);
  const across = tiles.filter((other) => other.offsetTop === tiles[0].offsetTop).length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across }[key];
  const next = tile ? tiles[at + by] : tiles.find((other) => other.tabIndex === 0);
  if (!next) return;
  tiles.forEach((other) => { other.tabIndex = other === next ? 0 : -1; });
  next.focus();
}
