// What stands beside the canvas: the last build, what a change would move, one step.

/** The last build: what ran, and why. */
function buildPage(lane, open) {
  const { build } = lane;
  if (!build) {
    return [el("h2", {}, "No build is known"), el("p", { className: "soft" },
      el("code", {}, "lanekit build"), " and ", el("code", {}, "lanekit record"),
      " keep what builds did. Until then this page shows what would be built, and what a change would re-run.")];
  }
  const steps = lane.nodes.filter((node) => node.kind === "step");
  const count = (state) => steps.filter((node) => node.state === state).length;
  const numbers = Object.keys(WORDS).filter((state) => count(state));
  const those = (...states) => states.flatMap((state) => lane.nodes.map((node, at) => ({ node, at })).filter(({ node }) => node.state === state));
  const part = (title, found, line) => (found.length
    ? [el("h3", {}, title), el("ul", { className: "list" }, ...found.map(({ node, at }) => stepButton(lane, at, open, line(node))))] : []);
  const why = (node) => node.last?.why;
  const [failed, ran] = [those("failed"), those("ran", "cancelled")];
  const gates = lane.nodes.map((node, at) => ({ node, at })).filter(({ node }) => node.kind === "gate");
  const when = el("time", { dateTime: build.at }, build.at.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC"));
  return [
    el("h2", {}, `Build ${build.number} ${build.ok ? "succeeded" : "failed"}`),
    el("p", { className: "soft" }, when),
    el("ul", { className: "counts" }, ...numbers.map((state) => el("li", {}, mark(state), ` ${count(state)} ${WORDS[state]}`))),
    lane.critical > 0 ? el("p", {}, `Critical path: ${seconds(lane.critical)}`) : null,
    ...part("What failed", failed, (node) => node.verdict ?? (why(node) && `it ran: ${why(node)}`)),
    ...part("What ran, and why", ran, why),
    failed.length || ran.length ? null : el("h3", {}, "Nothing ran: all of it came from the cache"),
    ...part("Gates", gates, (node) => (node.verdict ? `verdict: ${node.verdict}` : isRed(node) ? "failed" : "no verdict is known")),
    lane.path.length ? el("h3", {}, "Critical path") : null,
    el("ol", { className: "list" }, ...lane.path.map((at) => stepButton(lane, at, open))),
  ].filter(Boolean);
}

/** A step as an entry of a list, with a line about it. */
function stepButton(lane, at, open, line) {
  const node = lane.nodes[at];
  const button = el("button", { type: "button", className: "entry" },
    markOf(node), el("span", { className: "label", title: fullName(lane, at) }, fullName(lane, at)),
    el("span", { className: "time" }, seconds(node.seconds)),
    line ? el("span", { className: "line" }, line) : null);
  button.addEventListener("click", () => open(at));
  return el("li", {}, button);
}

const KINDS = { arg: "argument", switch: "switch", pin: "pin", file: "file", host: "host setting" };

function leverSum(lever) {
  if (lever.kind === "host") return "in no key: re-runs nothing";
  const more = lever.more.length ? `, ${plural(lever.more.length, "step")} new` : "";
  if (!lever.must.length && !lever.may.length) return more ? more.slice(2) : "re-runs nothing here";
  return `${lever.must.length} must run, ${lever.may.length} may${more}`;
}

/** What could be changed, as a list to choose from; `hover` and `choose` are told of a lever or of null. */
function changePage(lane, chosen, hover, choose, open) {
  const filter = el("input", {
    type: "search", id: "filter", placeholder: "Filter: name, path, kind", "aria-label": "Filter what could be changed",
    autocomplete: "off", spellcheck: false,
  });
  const list = el("ul", { id: "levers", role: "listbox", "aria-label": "What could be changed" });
  const options = lane.levers.map((lever, at) => {
    const option = el("li", { role: "option", id: `lever-${at}`, tabIndex: -1, "aria-selected": String(lever === chosen) },
      el("span", { className: "kind" }, KINDS[lever.kind]), el("span", { className: "label", title: lever.name }, lever.name),
      el("span", { className: "line" }, lever.value === null ? "" : `now ${lever.value === "" ? "(empty)" : lever.value} · `, leverSum(lever)));
    option.addEventListener("mouseenter", () => hover(lever));
    option.addEventListener("focus", () => hover(lever));
    option.addEventListener("click", () => choose(lever === chosen ? null : lever));
    list.append(option);
    return option;
  });
  list.addEventListener("mouseleave", () => hover(null));
  list.addEventListener("focusout", () => hover(null));
  const shown = () => options.filter((option) => !option.hidden);
  const none = el("p", { className: "soft", hidden: true }, "Nothing of that name.");
  const focus = (option) => {
    options.forEach((other) => { other.tabIndex = other === option ? 0 : -1; });
    option?.focus();
  };
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    lane.levers.forEach((lever, at) => {
      const text = `${KINDS[lever.kind]} ${lever.name}`.toLowerCase();
      options[at].hidden = !words.every((word) => text.includes(word));
    });
    none.hidden = shown().length > 0;
    if (shown()[0]) shown().forEach((option, at) => { option.tabIndex = at === 0 ? 0 : -1; });
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    focus(shown()[0]);
  });
  list.addEventListener("keydown", (event) => {
    const all = shown(), at = all.indexOf(event.target.closest("li"));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (to < 0) filter.focus();
      else focus(all[Math.min(to, all.length - 1)]);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(lane.levers[options.indexOf(event.target.closest("li"))]);
    }
  });
  if (options.length) (options[lane.levers.indexOf(chosen)] ?? options[0]).tabIndex = 0;
  const result = el("div", { id: "moved", "aria-live": "polite" });
  if (chosen) result.append(...moved(lane, chosen, open));
  const title = el("h2", {}, "What would a change re-run?");
  const more = lane.unasked ? ` ${lane.unasked} more pins and files are left to lanekit impact.` : "";
  return [title, el("p", { className: "soft" }, `Each entry is compared with the keys as they are now.${more}`), result, filter, none, list];
}

/** What a lever moves. */
function moved(lane, lever, open) {
  const part = (title, nodes) => (nodes.length
    ? [el("h3", {}, title), el("ul", { className: "list" }, ...nodes.map((at) => stepButton(lane, at, open)))] : []);
  const time = lever.must.reduce((sum, at) => sum + (lane.nodes[at].seconds ?? 0), 0);
  return [
    el("h3", { className: "chosen" }, `${KINDS[lever.kind]} ${lever.name}`),
    el("p", {}, leverSum(lever), time > 0 ? `; what must takes ${seconds(time)}` : ""),
    ...part("Must run", lever.must),
    ...part("May run, if other bytes reach it", lever.may),
    ...part("Sees its value", lever.seen),
    ...(lever.more.length ? [el("h3", {}, "New in the lane"), el("ul", { className: "plain" }, ...lever.more.map((id) => el("li", {}, id)))] : []),
  ];
}

/** One step: its state, why it last ran, what it stands on, what makes its key. */
function stepPage(lane, at, open) {
  if (at === null) {
    return [el("h2", {}, "No step is selected"), el("p", { className: "soft" },
      "Choose one in the picture, or with Tab, the arrow keys and Enter.")];
  }
  const node = lane.nodes[at];
  const said = [node.verdict ?? wordOf(node)].filter(Boolean);
  if (node.seconds !== null) said.push(seconds(node.seconds));
  if (lane.path.includes(at)) said.push("on the critical path");
  const why = node.last
    ? [el("h3", {}, node.state === "cached" || node.state === "unknown" ? `Why it last ran, in build ${node.last.build}` : "Why it ran"),
      el("p", { className: "why" }, node.last.why), node.last.help ? el("p", { className: "soft" }, `Look at: ${node.last.help}`) : null]
    : node.kind === "output" ? [] : [el("p", { className: "soft" }, node.state === "cached" ? "It came from the cache; no run of it is known." : "No run of it is known.")];
  const takes = { key: "this runs again whenever it does", content: "this runs again if it made other bytes", wait: "this waits until it passed" };
  const taken = { key: "runs again whenever this does", content: "runs again if this made other bytes", wait: "waits until this passed" };
  const part = (title, edges, end, bys) => (edges.length
    ? [el("h3", {}, title), el("ul", { className: "list" }, ...edges.map((edge) => stepButton(lane, edge[end], open, bys[edge.by])))] : []);
  const key = node.components.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value === "" ? "(empty)" : value)));
  const levers = lane.levers.filter((lever) => lever.must.includes(at) || lever.may.includes(at));
  return [
    el("h2", {}, fullName(lane, at)),
    el("p", { className: "state" }, markOf(node), ` ${said.join(" · ")}`),
    ...why.filter(Boolean),
    ...part("Takes", lane.edges.filter((edge) => edge.to === at), "from", takes),
    ...part("Is taken by", lane.edges.filter((edge) => edge.from === at), "to", taken),
    levers.length ? el("h3", {}, "What would re-run it") : null,
    levers.length ? el("p", { className: "names" }, levers.map((lever) => `${KINDS[lever.kind]} ${lever.name}${lever.must.includes(at) ? "" : " (may)"}`).join(", ")) : null,
    key.length ? el("h3", {}, `What makes its key (${key.length})`) : null,
    key.length ? el("table", {}, el("tbody", {}, ...key)) : null,
  ].filter(Boolean);
}
