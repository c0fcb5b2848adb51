// What tests ask a page: where its texts stand, whether they can be read, what is marked.
globalThis.look = (() => {
  const world = () => document.getElementById("world");
  const isIn = (element, other) => other.contains(element);

  /** The boxes of the ancestors of an element that cut it; those of the canvas cut nothing of all of the picture. */
  function rooms(element, whole, known) {
    if (!element || element === document.documentElement || (whole && element === world())) return [];
    if (!known.has(element)) {
      const above = rooms(element.parentElement, whole, known);
      const cuts = getComputedStyle(element).overflow !== "visible";
      known.set(element, cuts ? [...above, element.getBoundingClientRect()] : above);
    }
    return known.get(element);
  }

  function clipped({ left, top, right, bottom }, rooms) {
    for (const room of rooms) {
      [left, top] = [Math.max(left, room.left), Math.max(top, room.top)];
      [right, bottom] = [Math.min(right, room.right), Math.min(bottom, room.bottom)];
    }
    return { left, top, right, bottom };
  }

  /** All texts that are seen, with their places; `whole` takes all of the picture, wherever the canvas shows it. */
  function texts(whole = false) {
    const found = [], known = new Map();
    const screen = whole ? [] : [{ left: 0, top: 0, right: innerWidth, bottom: innerHeight }];
    const walk = document.createTreeWalker(whole ? world() : document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const text = node.data.trim(), element = node.parentElement;
      if (!text || !element.checkVisibility({ visibilityProperty: true }) || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        const box = clipped(rect, [...screen, ...rooms(element, whole, known)]);
        if (box.right - box.left < 2 || box.bottom - box.top < 2) continue;
        if (!whole) {
          // Under the map, the list of what was found, or another opaque box it is not seen.
          const on = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
          if (!on || !(isIn(on, element) || isIn(element, on))) continue;
        }
        found.push({ text, element, ...box });
      }
    }
    return found;
  }

  const said = ({ text, left, top, right, bottom }) => `${text} [${[left, top, right, bottom].map(Math.round).join(" ")}]`;

  /** Pairs of texts that stand on each other by more than a pixel. */
  const overlaps = (whole = false) => apart(texts(whole));

  /** The same of a drawing. */
  const drawn = () => apart([...document.querySelectorAll("text")].map((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { text: element.textContent, element, left, top, right, bottom };
  }));

  /** Texts of a drawing's boxes that reach over the edge of their box. */
  const over = () => [...document.querySelectorAll("text")].filter((text) => {
    const box = text.closest("g").querySelector(":scope > rect")?.getBoundingClientRect(), own = text.getBoundingClientRect();
    return box && (own.left < box.left || own.right > box.right || own.top < box.top || own.bottom > box.bottom);
  }).map((text) => text.textContent);

  function apart(all) {
    const pairs = [];
    all.sort((a, b) => a.left - b.left);
    all.forEach((a, at) => {
      for (let next = at + 1; next < all.length && all[next].left < a.right; next++) {
        const b = all[next];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 1 && a.element !== b.element) pairs.push(`${said(a)} on ${said(b)}`);
      }
    });
    return { texts: all.length, pairs };
  }

  function colour(text) {
    const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  }

  /** The relative luminance of WCAG 2. */
  function luminance({ red, green, blue }) {
    const [r, g, b] = [red, green, blue].map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  /** Texts with less contrast to what is behind them than WCAG 2 wants (4.5), and texts smaller than `least` pixels. */
  function unreadable(least) {
    const bad = [];
    const all = texts();
    for (const text of all) {
      const scale = isIn(text.element, world()) ? new DOMMatrix(getComputedStyle(world()).transform).a : 1;
      const size = parseFloat(getComputedStyle(text.element).fontSize) * scale;
      if (!(size >= least)) bad.push(`${said(text)} is ${size.toFixed(1)} px`);
      let behind = null, dimmed = false;
      for (let up = text.element; up; up = up.parentElement) {
        const style = getComputedStyle(up);
        if (Number(style.opacity) < 1) dimmed = true;
        const back = colour(style.backgroundColor);
        if (!behind && back.alpha > 0) behind = back;
      }
      if (dimmed || !behind) continue;
      const [low, high] = [luminance(colour(getComputedStyle(text.element).color)), luminance(behind)].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      if (contrast < 4.5) bad.push(`${said(text)} has contrast ${contrast.toFixed(1)}`);
    }
    return { texts: all.length, bad };
  }

  /** Labels that are cut and whose whole text no tooltip has. */
  function cut() {
    return [...document.querySelectorAll(".label, .time")].filter((label) => label.scrollWidth > label.clientWidth + 1)
      .filter((label) => !label.closest("[title]")?.title.includes(label.textContent)).map((label) => label.textContent);
  }

  /** The middle of an element, where it must be what is seen. */
  function middle(element) {
    if (!element) throw new Error("no such element");
    element.scrollIntoView({ block: "nearest" });
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const on = document.elementFromPoint(x, y);
    if (!on || !(isIn(on, element) || isIn(element, on))) throw new Error(`${element.outerHTML} is behind ${on?.outerHTML}`);
    return [x, y];
  }

  const rows = (selector) => [...document.querySelectorAll(`.row${selector}`)];
  /** What rows are called, with their stage. */
  const names = (selector) => rows(selector).map((row) => `${row.closest(".group").ariaLabel}/${row.querySelector(".label").textContent}`);
  /** The button, tab or option that says this. */
  const saying = (selector, text) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
    .find((one) => (one.querySelector(".label") ?? one).textContent === text);
  const isSeen = (element) => {
    const box = element.getBoundingClientRect(), room = document.getElementById("canvas").getBoundingClientRect();
    return box.left >= room.left && box.right <= room.right && box.top >= room.top && box.bottom <= room.bottom;
  };
  /** What is called by a tile. */
  const tiles = () => [...document.querySelectorAll(".tile > .label")].filter((label) => label.checkVisibility()).map((label) => label.textContent);
  return { overlaps, drawn, over, unreadable, cut, middle, names, saying, isSeen, tiles };
})();
