// State, and what keys and clicks do to it.

const picture = JSON.parse(byId("data").textContent);
// With more nodes than these, stages in which nothing happened begin folded.
const MANY = 120;
const PAGES = ["build", "change", "step"];

const app = { number: -1, lane: null, folded: new Set(), places: null, drawn: null, tiles: [], gathered: true, selected: null, lever: null, hovered: null };
const view = new View(byId("canvas"), byId("world"), onMove);

/** Opens a lane. */
function openLane(number) {
  if (number === app.number) return;
  const lane = picture.lanes[number];
  Object.assign(app, { number, lane, selected: null, lever: null, hovered: null, gathered: true });
  view.afar = false;
  app.folded = new Set(lane.nodes.length > MANY ? lane.groups.flatMap((group, at) => (isQuiet(lane, group) && group.nodes.end - group.nodes.start > 1 ? [at] : [])) : []);
  [...byId("lanes").children].forEach((tab, at) => {
    tab.setAttribute("aria-selected", String(at === number));
    tab.tabIndex = at === number ? 0 : -1;
  });
  redraw();
  openPage("build");
  home();
}

/** Shows all of the lane if it can be read then; if not, what a person looks for first. */
function home() {
  if (view.whole() >= LEAST) {
    view.fit();
    return;
  }
  view.at(LEAST);
  view.show(app.drawn.boxes.get(app.lane.nodes[app.selected]?.group ?? interesting(app.lane)), true);
  view.settle();
}

const isQuiet = (lane, group) => group.kind === "stage" &&
  lane.nodes.slice(group.nodes.start, group.nodes.end).every((node) => ["cached", "unknown"].includes(node.state));

/** The group that a person looks for first: what failed, what ran, else what comes out. */
function interesting(lane) {
  for (const state of ["failed", "ran"]) {
    const found = lane.nodes.find((node) => node.state === state && (node.kind === "step" || state === "failed"));
    if (found) return found.group;
  }
  return lane.groups.length - 1;
}

function redraw() {
  app.places = place(app.lane, app.folded);
  [view.width, view.height] = [app.places.width, app.places.tall];
  app.drawn = drawLane(app.lane, app.folded, app.places);
  byId("fold").textContent = app.folded.size ? "Unfold stages" : "Fold stages";
  const first = app.drawn.heads.values().next().value;
  if (first) first.tabIndex = 0;
  paint();
  drawMap(view);
}

/** Shows the drawing, or the tiles where it is looked at from afar. */
function onMove() {
  if (!app.drawn) return;
  const world = byId("world"), tiles = byId("tiles");
  const inWorld = world.contains(document.activeElement) ? document.activeElement : null;
  if (view.afar && tiles.hidden) {
    byId("tiles").scrollTop = 0;
    openTiles(inWorld && groupOf(inWorld));
  }
  world.hidden = view.afar;
  tiles.hidden = !view.afar;
  if (view.afar && inWorld) tiles.querySelector("[tabindex='0']").focus();
  drawMap(view);
}

/** The group of a head or a row. */
const groupOf = (element) => Number(element.dataset.group ?? app.lane.nodes[element.dataset.node].group);

/** Draws the tiles; `group` is the one whose tile Tab reaches. */
function openTiles(group) {
  app.tiles = drawTiles(app.lane, app.places, app.gathered);
  (app.tiles.find(({ groups }) => groups.includes(group)) ?? app.tiles[0]).tile.tabIndex = 0;
  paint();
}

/** Opens a tile: its stage at full size, or the stages that share it as tiles of their own. */
function openTile(tile) {
  const { groups } = app.tiles.find((one) => one.tile === tile);
  if (groups.length > 1) {
    app.gathered = false;
    openTiles(groups[0]);
    byId("tiles").querySelector("[tabindex='0']").focus();
    return;
  }
  view.at(1);
  if (app.folded.delete(groups[0])) redraw();
  const head = app.drawn.heads.get(groups[0]);
  view.show(app.drawn.boxes.get(groups[0]), true);
  view.settle();
  rove(head, true);
}

/** Shows the state of the page in classes of what is drawn. */
function paint() {
  const { lane, drawn, selected } = app;
  const lever = app.hovered ?? app.lever;
  const near = new Set(selected === null ? [] : [selected]);
  lane.edges.forEach((edge, at) => {
    const isNear = edge.from === selected || edge.to === selected;
    if (isNear) near.add(edge.from).add(edge.to);
    const moves = lever && [edge.from, edge.to].every((node) => lever.must.includes(node) || lever.may.includes(node));
    drawn.edges[at]?.classList.toggle("near", lever ? moves : isNear);
  });
  const fate = (node) => (!lever ? "" : lever.must.includes(node) ? "must" : lever.may.includes(node) ? "may" : lever.seen.includes(node) ? "sees" : "");
  const tag = (element, text, kind) => {
    element.querySelector(".tag")?.remove();
    if (text) element.querySelector(".label").after(el("span", { className: `tag ${kind}` }, text));
  };
  /** What stands for several nodes. */
  const summed = (element, nodes) => {
    const fates = nodes.map(fate).filter(Boolean);
    const kinds = ["must", "may", "sees"].filter((kind) => fates.includes(kind));
    tag(element.querySelector(".sum"), kinds.map((kind) => `${fates.filter((one) => one === kind).length} ${kind}`).join(" "), kinds[0] ?? "");
    element.classList.toggle("moves", fates.length > 0);
    element.classList.toggle("near", nodes.some((node) => near.has(node)));
    element.classList.toggle("selected", nodes.includes(selected));
  };
  for (const [node, row] of drawn.rows) {
    const what = fate(node);
    for (const one of ["must", "may", "sees"]) row.classList.toggle(one, what === one);
    tag(row, what, what);
    row.classList.toggle("selected", node === selected);
    row.setAttribute("aria-pressed", String(node === selected));
    row.classList.toggle("near", near.has(node));
  }
  for (const [group, box] of drawn.boxes) {
    const nodes = app.places.members(group);
    box.classList.toggle("moves", nodes.some(fate));
    if (app.folded.has(group)) summed(box, nodes);
  }
  if (view.afar) app.tiles.forEach(({ tile, nodes }) => summed(tile, nodes));
  byId("canvas").classList.toggle("leverage", Boolean(lever));
  byId("canvas").classList.toggle("choice", !lever && selected !== null);
}

/** Selects a node and shows it; its stage unfolds. */
function select(node, { focus = false } = {}) {
  app.selected = node;
  if (node !== null) {
    const { group } = app.lane.nodes[node];
    if (app.folded.delete(group)) redraw();
    if (view.afar) view.at(1);
    openPage("step");
    const row = app.drawn.rows.get(node);
    rove(row, focus);
    view.show(row);
  }
  byId("step").replaceChildren(...stepPage(app.lane, app.selected, (at) => select(at)));
  byId("step").scrollTop = 0;
  paint();
}

function choose(lever) {
  Object.assign(app, { lever, hovered: null });
  const focused = document.activeElement?.id;
  showChange();
  if (focused) byId(focused)?.focus({ preventScroll: true });
  // The focus comes back to an entry, which is not asked for anew.
  app.hovered = null;
  paint();
}

function hover(lever) {
  app.hovered = lever;
  paint();
}

function showChange() {
  const page = byId("change"), list = byId("levers")?.scrollTop ?? 0, text = byId("filter")?.value ?? "";
  page.replaceChildren(...changePage(app.lane, app.lever, hover, choose, (at) => select(at)));
  if (text) {
    byId("filter").value = text;
    byId("filter").dispatchEvent(new Event("input"));
  }
  byId("levers").scrollTop = list;
}

function openPage(name) {
  for (const page of PAGES) {
    byId(page).hidden = page !== name;
    byId(`page-${page}`).setAttribute("aria-selected", String(page === name));
    byId(`page-${page}`).tabIndex = page === name ? 0 : -1;
  }
  if (name === "build") byId("build").replaceChildren(...buildPage(app.lane, (at) => select(at)));
  if (name === "change") showChange();
  if (name === "step") byId("step").replaceChildren(...stepPage(app.lane, app.selected, (at) => select(at)));
}

function toggle(group) {
  const before = app.drawn.heads.get(group).getBoundingClientRect();
  if (!app.folded.delete(group)) app.folded.add(group);
  redraw();
  const head = app.drawn.heads.get(group), after = head.getBoundingClientRect();
  // What was clicked stays under the pointer.
  view.move(before.left - after.left, before.top - after.top);
  rove(head, true);
}

/** Makes one element the one that Tab reaches. */
function rove(element, focus) {
  byId("groups").querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
  if (!element) return;
  element.tabIndex = 0;
  if (focus) {
    element.focus({ preventScroll: true });
    view.show(element);
  }
}

/** What an arrow key goes to from a row or a head. */
function neighbour(element, key) {
  const { lane, drawn } = app;
  const all = [...byId("groups").querySelectorAll(".head, .row")];
  const group = groupOf(element);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const column = lane.columns.find((items) => items.some((item) => item.group === group));
    const same = all.filter((other) => column.some((item) => item.group === groupOf(other)));
    return same[same.indexOf(element) + (key === "ArrowUp" ? -1 : 1)];
  }
  const own = element.dataset.node === undefined ? app.places.members(group) : [Number(element.dataset.node)];
  const [here, there] = key === "ArrowRight" ? ["from", "to"] : ["to", "from"];
  const ends = lane.edges.filter((edge) => own.includes(edge[here]) && lane.nodes[edge[there]].group !== group).map((edge) => edge[there]);
  const middle = (one) => { const box = one.getBoundingClientRect(); return box.top + box.height / 2; };
  const shown = (node) => drawn.rows.get(node) ?? drawn.heads.get(lane.nodes[node].group);
  let nearest = ends.map(shown);
  if (!nearest.length) {
    const at = lane.columns.findIndex((items) => items.some((item) => item.group === group));
    const beside = lane.columns[at + (key === "ArrowRight" ? 1 : -1)] ?? [];
    nearest = beside.filter((item) => "group" in item).map((item) => drawn.heads.get(item.group));
  }
  return nearest.sort((a, b) => Math.abs(middle(a) - middle(element)) - Math.abs(middle(b) - middle(element)))[0];
}

/** Arrow keys, Home and End between tabs. */
function tabs(list, open) {
  list.addEventListener("keydown", (event) => {
    const all = [...list.children], at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = all[(to + all.length) % all.length];
    open(tab);
    tab.focus();
  });
}

/** What is searched in a node. */
const words = new WeakMap();
function searched(lane, at) {
  const node = lane.nodes[at];
  if (!words.has(node)) {
    const key = node.components.map(([name, value]) => `${name} ${value}`).join(" ");
    words.set(node, { name: `${fullName(lane, at)} ${node.label}`.toLowerCase(), key: key.toLowerCase() });
  }
  return words.get(node);
}

function search(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return [];
  const found = [];
  const lanes = picture.lanes.map((_, number) => number).sort((a, b) => (b === app.number) - (a === app.number));
  for (const number of lanes) {
    const lane = picture.lanes[number];
    for (const at of lane.nodes.keys()) {
      const { name, key } = searched(lane, at);
      if (!wanted.every((word) => name.includes(word) || key.includes(word))) continue;
      found.push({ number, at, rank: (number === app.number ? 0 : 2) + (wanted.every((word) => name.includes(word)) ? 0 : 1) });
    }
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, 12);
}

function setUpSearch() {
  const input = byId("search"), list = byId("found");
  let found = [], active = 0;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const go = ({ number, at }) => {
    openLane(number);
    close();
    select(at, { focus: true });
    view.show(app.drawn.rows.get(at), true);
  };
  const show = () => {
    list.replaceChildren(...found.map(({ number, at }, index) => {
      const lane = picture.lanes[number];
      const option = el("li", { role: "option", id: `found-${index}`, "aria-selected": String(index === active) },
        markOf(lane.nodes[at]), el("span", { className: "label", title: fullName(lane, at) }, fullName(lane, at)),
        el("span", { className: "time" }, number === app.number ? "" : lane.target));
      option.addEventListener("mousedown", (event) => { event.preventDefault(); go(found[index]); });
      return option;
    }));
    if (!found.length) list.append(el("li", { className: "soft" }, "Nothing is called so."));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (found.length) input.setAttribute("aria-activedescendant", `found-${active}`);
  };
  input.addEventListener("input", () => {
    [found, active] = [search(input.value), 0];
    if (input.value.trim()) show();
    else close();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; close(); byId("canvas").focus(); event.stopPropagation(); }
    if (!found.length || list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      active = (active + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      go(found[active]);
    }
  });
  input.addEventListener("blur", close);
}

/** The whole lane, small, with what of it is seen. */
function drawMap({ canvas, x, y, scale, width, height }) {
  const map = byId("map");
  if (!app.places) return;
  const whole = view.afar || (width * scale <= canvas.clientWidth && height * scale <= canvas.clientHeight);
  map.style.display = whole ? "none" : "block";
  if (whole) return;
  map.setAttribute("viewBox", `0 0 ${width} ${Math.max(height, width / 4)}`);
  const boxes = app.lane.groups.map((group, at) => shape("rect", {
    class: worst(app.places.members(at).map((node) => app.lane.nodes[node])),
    x: app.places.x(at), y: app.places.y(at), width: WIDTH, height: app.places.height(at),
  }));
  const seen = shape("rect", { class: "seen", x: -x / scale, y: -y / scale, width: canvas.clientWidth / scale, height: canvas.clientHeight / scale });
  map.replaceChildren(...boxes, seen);
}

function setUpMap() {
  const map = byId("map");
  const go = (event) => {
    if (event.buttons !== 1) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    view.x = view.canvas.clientWidth / 2 - point.x * view.scale;
    view.y = view.canvas.clientHeight / 2 - point.y * view.scale;
    view.apply();
  };
  map.addEventListener("pointerdown", go);
  map.addEventListener("pointermove", go);
}

function setUpKeys() {
  byId("canvas").addEventListener("click", (event) => {
    const row = event.target.closest(".row"), head = event.target.closest(".head"), tile = event.target.closest(".tile");
    if (tile) openTile(tile);
    else if (row) select(Number(row.dataset.node), { focus: true });
    else if (head) toggle(Number(head.dataset.group));
    else if (!view.dragged && event.target.closest("#map, #tiles") === null) select(null);
  });
  byId("canvas").addEventListener("keydown", (event) => {
    const here = event.target.closest(".head, .row");
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    if (view.afar) {
      besideTile(event.target.closest(".tile"), event.key);
      return;
    }
    const next = here ? neighbour(here, event.key) : byId("groups").querySelector("[tabindex='0']");
    if (next) rove(next, true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (app.lever || app.hovered) choose(null);
      else if (app.selected !== null) { select(null); openPage("build"); }
      return;
    }
    if (event.target.closest("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = { "/": () => byId("search").focus(), "+": () => view.zoom(1.25), "-": () => view.zoom(0.8), f: () => view.fit() }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
}

function setUp() {
  picture.lanes.forEach((lane, number) => {
    const failed = lane.build && !lane.build.ok;
    const tab = el("button", { role: "tab", type: "button", "aria-controls": "canvas" },
      lane.build ? mark(failed ? "failed" : "cached") : null, lane.target);
    if (lane.build) tab.title = `build ${lane.build.number} ${failed ? "failed" : "succeeded"}`;
    tab.addEventListener("click", () => openLane(number));
    byId("lanes").append(tab);
  });
  tabs(byId("lanes"), (tab) => tab.click());
  tabs(byId("pages"), (tab) => tab.click());
  for (const page of PAGES) byId(`page-${page}`).addEventListener("click", () => openPage(page));
  const legend = [...Object.keys(WORDS).map((state) => [mark(state), WORDS[state]]),
    ...[["key", "by key"], ["content", "by content"], ["wait", "after a gate"], ["wait red", "after a gate that failed"], ["chain", "critical path"]].map(([kind, word]) => {
      const line = shape("svg", { class: "line", viewBox: "0 0 30 8", "aria-hidden": "true" });
      line.append(shape("path", { class: `edge ${kind}`, d: "M0 4h30" }));
      return [line, word];
    })];
  byId("legend").append(...legend.map(([sign, word]) => el("li", {}, sign, word)));
  byId("in").addEventListener("click", () => view.zoom(1.25));
  byId("out").addEventListener("click", () => view.zoom(0.8));
  byId("fit").addEventListener("click", () => view.fit());
  byId("fold").addEventListener("click", () => {
    const stages = app.lane.groups.flatMap((group, at) => (group.kind === "stage" ? [at] : []));
    app.folded = new Set(app.folded.size ? [] : stages);
    redraw();
    home();
  });
  new ResizeObserver(() => drawMap(view)).observe(byId("canvas"));
  setUpSearch();
  setUpMap();
  setUpKeys();
  if (picture.lanes.length) openLane(0);
}

setUp();
