// The canvas: groups and rows as buttons, edges between them, the view on it.

const SVG = "http://www.w3.org/2000/svg";
const WORDS = { ran: "ran", cached: "cached", failed: "failed", cancelled: "cancelled", unknown: "not built" };
// Each state has a shape of its own: a disc, a ring, a cross, a square, a dash.
const MARKS = {
  ran: "M3 8a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", cached: "M3.5 8a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
  failed: "M3.5 3.5l9 9m0 -9l-9 9", cancelled: "M4 4h8v8h-8z", unknown: "M4 8h8",
};

const byId = (id) => document.getElementById(id);

/** An element with properties; texts among the children stay texts. */
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && !name.startsWith("aria")) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function mark(state) {
  const svg = shape("svg", { class: `mark ${state}`, viewBox: "0 0 16 16", role: "img", "aria-label": WORDS[state] });
  svg.append(shape("path", { d: MARKS[state] }));
  return svg;
}

/** The mark of a node and its word; an output has none, since a ledger knows of steps and gates alone. */
const markOf = (node) => (node.kind === "output" ? el("span", { className: "no-mark" }) : mark(node.state));
const wordOf = (node) => (node.kind === "output" ? "" : WORDS[node.state]);

function seconds(time) {
  if (time === null || time === undefined) return "";
  const whole = Math.round(time);
  if (whole < 10) return `${time.toFixed(1)} s`;
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/** What a node is called where its group is not beside it. */
function fullName(lane, node) {
  const { kind, id, label } = lane.nodes[node];
  if (kind === "gate") return `gate ${lane.groups[lane.nodes[node].group].name}`;
  if (kind === "output") return `output ${label}`;
  return id;
}

function rowName(node) {
  if (node.kind === "image") return `from ${node.label}`;
  if (node.kind === "gate" && node.verdict) return `${node.label}: ${node.verdict}`;
  if (isRed(node)) return `${node.label}: failed`;
  return node.label;
}

/** Whether it is a gate that failed, or would have if it did more than advise. */
const isRed = (node) => node.kind === "gate" && (node.state === "failed" || ["fail", "insufficient"].includes(node.verdict));

/** The state that says most about some nodes. */
function worst(nodes) {
  const order = ["failed", "ran", "cancelled", "cached", "unknown"];
  return order.find((state) => nodes.some((node) => node.state === state)) ?? "unknown";
}

/** What a group is called. */
const groupName = ({ kind, name }) => (kind === "stage" ? name : kind === "output" ? "output" : `${kind} ${name}`);

/** Some nodes in one line: how many are in which state, and how long they take together. */
function sum(nodes) {
  const counts = Object.keys(WORDS).map((state) => [nodes.filter((node) => node.state === state).length, WORDS[state]]);
  const said = nodes.every((node) => node.kind === "output") ? nodes.map(rowName)
    : counts.filter(([count]) => count).map(([count, word]) => `${count} ${word}`);
  const time = seconds(nodes.reduce((all, node) => all + (node.seconds ?? 0), 0) || null);
  return el("span", { className: "sum", title: [...said, time].filter(Boolean).join(", ") },
    el("span", { className: "label" }, said.join(", ")), el("span", { className: "time" }, time));
}

/** The groups in the order of the drawing: its columns, each from its top. */
const inOrder = (lane) => lane.columns.flatMap((column) => column.filter((item) => "group" in item).map((item) => item.group));

/** Draws a lane; hands back the elements by node and by group. */
function drawLane(lane, folded, places) {
  const groups = byId("groups");
  groups.replaceChildren();
  const rows = new Map(), heads = new Map(), boxes = new Map();
  const chain = new Set(lane.path);
  for (const number of inOrder(lane)) {
    const group = lane.groups[number];
    const nodes = places.members(number).map((at) => lane.nodes[at]);
    const isFolded = folded.has(number);
    const name = groupName(group);
    const head = el("button", {
      className: "head", type: "button", tabIndex: -1, title: name, "aria-expanded": String(!isFolded),
    }, isFolded && group.kind !== "output" ? mark(worst(nodes)) : null, el("span", { className: "label" }, name));
    head.dataset.group = number;
    const box = el("div", { className: `group ${group.kind}${nodes.some(isRed) ? " red" : ""}`, role: "group", "aria-label": name }, head);
    Object.assign(box.style, {
      left: `${places.x(number)}px`, top: `${places.y(number)}px`, width: `${WIDTH}px`, height: `${places.height(number)}px`,
    });
    if (isFolded) {
      box.classList.add("folded", worst(nodes));
      box.append(sum(nodes));
      if (places.members(number).some((node) => chain.has(node))) box.classList.add("critical");
    } else {
      for (const at of places.members(number)) {
        const node = lane.nodes[at];
        const said = [rowName(node), wordOf(node), seconds(node.seconds), chain.has(at) ? "on the critical path" : ""];
        const row = el("button", {
          className: `row ${node.kind} ${node.state}${chain.has(at) ? " critical" : ""}`, type: "button", tabIndex: -1,
          "aria-label": said.filter(Boolean).join(", "), title: said.filter(Boolean).join(", "),
        }, markOf(node), el("span", { className: "label" }, rowName(node)),
        el("span", { className: "time" }, seconds(node.seconds)));
        row.style.height = `${places.row(at)}px`;
        row.dataset.node = at;
        rows.set(at, row);
        box.append(row);
      }
    }
    heads.set(number, head);
    boxes.set(number, box);
    groups.append(box);
  }
  return { rows, heads, boxes, edges: drawEdges(lane, places) };
}

function drawEdges(lane, places) {
  const svg = byId("edges");
  svg.replaceChildren();
  svg.setAttribute("width", places.width);
  svg.setAttribute("height", places.tall);
  const chain = new Set(lane.path.slice(1).map((node, at) => `${lane.path[at]} ${node}`));
  return lane.edges.map((edge, number) => {
    const through = places.way(number);
    if (!through.length) return null;
    let x = places.left(through[0].column) + WIDTH, y = places.top(through[0]);
    let d = `M${x} ${y}`;
    const bend = (toX, toY) => {
      const half = (toX - x) / 2;
      d += `C${x + half} ${y} ${toX - half} ${toY} ${toX} ${toY}`;
      [x, y] = [toX, toY];
    };
    for (const point of through.slice(1, -1)) {
      bend(places.left(point.column), places.top(point));
      bend(places.left(point.column) + WIDTH, places.top(point));
    }
    const last = through.at(-1);
    bend(places.left(last.column) - 4, places.top(last));
    const path = shape("path", { class: `edge ${edge.by}`, d: `${d}m0 -3.5l4 3.5l-4 3.5` });
    if (edge.by === "wait" && isRed(lane.nodes[edge.from])) path.classList.add("red");
    if (chain.has(`${edge.from} ${edge.to}`)) path.classList.add("chain");
    svg.append(path);
    return path;
  });
}

// Text smaller than at this scale nobody reads: what does not fit at it is seen in part, or from afar.
const LEAST = 0.85;
const MOST = 2.5;

/** What is seen of the canvas: `x`, `y` and scale, or all of it from `afar`. */
class View {
  constructor(canvas, world, onMove) {
    Object.assign(this, { canvas, world, onMove, x: 0, y: 0, scale: 1, width: 1, height: 1, afar: false });
    canvas.addEventListener("wheel", (event) => {
      const zooms = event.ctrlKey || event.metaKey;
      // From afar there is a list, which scrolls by itself.
      if (this.afar && !zooms) return;
      event.preventDefault();
      if (zooms) this.zoom(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
      else this.move(-event.deltaX, -event.deltaY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest("button, #map, #tiles")) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = [event.clientX, event.clientY];
      this.dragged = false;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) return;
      this.move(event.clientX - this.drag[0], event.clientY - this.drag[1]);
      this.drag = [event.clientX, event.clientY];
      this.dragged = true;
    });
    canvas.addEventListener("pointerup", () => { this.drag = null; });
  }

  apply() {
    this.world.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.onMove(this);
  }

  move(x, y) {
    this.x += x;
    this.y += y;
    this.apply();
  }

  zoom(by, clientX, clientY) {
    const frame = this.canvas.getBoundingClientRect();
    const [x, y] = [(clientX ?? frame.left + frame.width / 2) - frame.left, (clientY ?? frame.top + frame.height / 2) - frame.top];
    if (by < 1 && (this.afar || this.scale <= LEAST)) {
      if (this.whole() < LEAST) this.fit();
      return;
    }
    const scale = this.afar ? LEAST : Math.min(MOST, Math.max(LEAST, this.scale * by));
    this.afar = false;
    this.x = x - (x - this.x) * (scale / this.scale);
    this.y = y - (y - this.y) * (scale / this.scale);
    this.scale = scale;
    this.apply();
  }

  /** The scale at which all of it is seen. */
  whole(margin = 28) {
    return Math.min(1.25, (this.canvas.clientWidth - 2 * margin) / this.width, (this.canvas.clientHeight - 2 * margin) / this.height);
  }

  /** Shows all of it, from afar where nobody could read it otherwise. */
  fit() {
    const whole = this.whole();
    if (whole < LEAST) {
      this.afar = true;
      this.apply();
    } else {
      this.at(whole);
      this.settle();
    }
  }

  /** Shows it at this scale, from its beginning. */
  at(scale, margin = 28) {
    Object.assign(this, { scale, x: margin, y: margin, afar: false });
    this.apply();
  }

  /** Moves what is drawn back to the edges where there is room beside it. */
  settle(margin = 28) {
    const within = (at, size, room) => (size + 2 * margin <= room ? (room - size) / 2 : Math.max(room - size - margin, Math.min(margin, at)));
    this.x = within(this.x, this.width * this.scale, this.canvas.clientWidth);
    this.y = within(this.y, this.height * this.scale, this.canvas.clientHeight);
    this.apply();
  }

  /** Moves so far that an element is seen; into the middle when that is wanted. */
  show(element, middle = false) {
    const frame = this.canvas.getBoundingClientRect(), box = element.getBoundingClientRect();
    if (middle) {
      this.move(frame.left + frame.width / 2 - box.left - box.width / 2, frame.top + frame.height / 2 - box.top - box.height / 2);
      return;
    }
    const margin = 40;
    const off = (low, high, from, to) => (low < from + margin ? from + margin - low : high > to - margin ? to - margin - high : 0);
    const x = off(box.left, box.right, frame.left, frame.right);
    const y = off(box.top, box.bottom, frame.top, frame.bottom);
    if (x || y) this.move(x, y);
  }
}
