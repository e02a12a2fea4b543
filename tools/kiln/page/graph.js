// The graph: cards of layers and the edges between them, in SVG. From afar all of it is a few large paths; near by, the
// cards within the window are drawn in full.

const SVG = "http://www.w3.org/2000/svg";
const CARD = { width: 236, pad: 10, chip: 18, line: 15, far: 0.34, most: 2 };

function svg(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (parent) parent.appendChild(element);
  return element;
}

function svgText(text, x, y, name, parent) {
  const element = svg("text", { x, y, class: name }, parent);
  element.textContent = text;
  return element;
}

// Widths of texts as they will be drawn.
const ruler = {
  pen: document.createElement("canvas").getContext("2d"),
  known: new Map(),
  width(text, font) {
    const key = font + text;
    if (!this.known.has(key)) {
      this.pen.font = font;
      this.known.set(key, this.pen.measureText(text).width);
    }
    return this.known.get(key);
  },
  // The end of the text that fits (names differ at their ends), or its beginning.
  fit(text, width, font, keep) {
    if (this.width(text, font) <= width) return text;
    let low = 0, high = text.length;
    const cut = (count) => (keep === "end" ? "…" + text.slice(text.length - count) : text.slice(0, count) + "…");
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.width(cut(middle), font) <= width) low = middle;
      else high = middle - 1;
    }
    return cut(low);
  },
};
const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
const MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace";
const CHIP_FONT = "600 11px " + FONT, NAME_FONT = "11px " + FONT, DATA_FONT = "10.5px " + MONO;

// Chips of the operations in rows; what does not fit into two rows becomes "+3".
function chipsOf(ops) {
  const room = CARD.width - 2 * CARD.pad, chips = [];
  let x = 0, row = 0;
  for (let i = 0; i < ops.length; ++i) {
    const text = ruler.fit(ops[i], room - 14, CHIP_FONT, "start"), width = ruler.width(text, CHIP_FONT) + 14;
    const more = i + 1 < ops.length ? 34 : 0;
    if (x > 0 && x + width > room - (row + 1 === CARD.most ? more : 0)) {
      if (row + 1 === CARD.most) {
        chips.push({ text: "+" + (ops.length - i), x, row, width: 30 });
        return chips;
      }
      ++row, x = 0;
    }
    chips.push({ text, op: ops[i], x, row, width });
    x += width + 4;
  }
  return chips;
}

// A curve through the points of an edge, and its arrow.
function curve(points) {
  const p = points.map(({ x, y }) => [Math.round(x * 10) / 10, Math.round(y * 10) / 10]);
  let d = `M${p[0]}`;
  for (let i = 1; i + 1 < p.length; ++i) {
    const middle = i + 2 === p.length ? p[i + 1] : [(p[i][0] + p[i + 1][0]) / 2, (p[i][1] + p[i + 1][1]) / 2];
    d += `Q${p[i]} ${middle}`;
  }
  return p.length === 2 ? d + `L${p[1]}` : d;
}

function arrow(points) {
  const end = points[points.length - 1], before = points[points.length - 2];
  const length = Math.hypot(end.x - before.x, end.y - before.y) || 1;
  const [ux, uy] = [(end.x - before.x) / length, (end.y - before.y) / length];
  const at = (along, across) => `${(end.x - ux * along - uy * across).toFixed(1)},${(end.y - uy * along + ux *
      across).toFixed(1)}`;
  return `M${at(0, 0)}L${at(6, 3.2)} ${at(6, -3.2)}Z`;
}

class Graph {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.laid = new Map();
    this.root = svg("svg", { class: "graph" }, host);
    this.world = svg("g", {}, this.root);
    this.view = { x: 0, y: 0, scale: 1 };
    this.cards = new Map();
    this.pan();
    new ResizeObserver(() => this.update()).observe(host);
  }

  // The nodes and edges of a block, laid out when it is first looked at.
  layoutOf(block) {
    if (this.laid.has(block.index)) return this.laid.get(block.index);
    const { drawn, steps } = block, edges = this.app.model.edges(block);
    const plain = (id, kind, i) => {
      const tensor = drawn.tensors[id];
      return { id: (kind === "input" ? "in" : "out") + i, kind, tensor, width: 190, height: 38 };
    };
    const inputs = drawn.inputs.map((id, i) => plain(id, "input", i));
    const outputs = drawn.outputs.map((id, i) => plain(id, "output", i));
    const cards = steps.map((step, s) => {
      const chips = chipsOf(step.opNames), rows = chips.length ? chips[chips.length - 1].row + 1 : 1;
      const height = 2 * CARD.pad + rows * (CARD.chip + 3) + 2 * CARD.line + (step.drawn.bodies.length ? CARD.line : 0);
      return { id: s, kind: "step", step, chips, rows, width: CARD.width, height };
    });
    const laid = new Layout(inOrder(inputs, cards, outputs, edges), edges);
    laid.byStep = new Map(laid.nodes.filter((node) => node.step).map((node) => [node.step, node]));
    laid.rows = [...laid.nodes].sort((a, b) => a.y - b.y);
    this.laid.set(block.index, laid);
    return laid;
  }

  show(block) {
    if (this.block === block) return;
    this.block = block;
    this.graph = this.layoutOf(block);
    this.world.replaceChildren();
    this.cards.clear();
    this.edgeLayer = svg("g", { class: "edges" }, this.world);
    const far = new Set(this.graph.far), near = this.graph.edges.filter((edge) => !far.has(edge));
    svg("path", { class: "edge", d: near.map((edge) => curve(edge.points)).join("") }, this.edgeLayer);
    svg("path", { class: "edge far", d: this.graph.buses.map(curve).join("") }, this.edgeLayer);
    svg("path", { class: "arrow", d: this.graph.edges.map((edge) => arrow(edge.points)).join("") }, this.edgeLayer);
    this.lit = svg("g", { class: "lit" }, this.world);
    this.blocksLayer = svg("g", { class: "overview" }, this.world);
    this.foundLayer = svg("path", { class: "found" }, this.world);
    this.cardLayer = svg("g", {}, this.world);
    this.drawOverview(this.blocksLayer);
    this.mark(this.app.found);
    this.home();
    this.select(this.app.selected);
    this.drawMinimap();
  }

  // Shows nothing, for a block without layers; the next one is drawn anew.
  clear() {
    this.block = this.graph = this.windowBox = null;
    this.world.replaceChildren();
    this.cards.clear();
    this.app.minimap.replaceChildren();
  }

  // All nodes as one path a family.
  drawOverview(parent) {
    const paths = new Map();
    for (const node of this.graph.nodes) {
      const key = node.step ? node.step.family : "edge-of-network";
      paths.set(key, (paths.get(key) || "") + boxPath(node, 0));
    }
    for (const [family, d] of paths) svg("path", { class: "block " + family, d }, parent);
  }

  // The whole graph where that can be read, else its beginning.
  home() {
    const { width, height } = this.host.getBoundingClientRect(), box = this.graph.box;
    if (!width || !height) return;
    const fit = Math.min(width / (box.right - box.left + 60), height / (box.bottom - box.top + 60), 1);
    if (fit >= 0.7) return this.fitAll();
    const scale = Math.min(1, Math.max(0.85, width / (box.right - box.left + 60)));
    const first = this.graph.nodes[0];
    this.moveTo(scale, width / 2 - (first ? first.x : 0) * scale, 30 - box.top * scale);
  }

  fitAll() {
    if (!this.graph) return;
    const { width, height } = this.host.getBoundingClientRect(), box = this.graph.box;
    const scale = Math.min(width / (box.right - box.left + 60), height / (box.bottom - box.top + 60), 1.2);
    this.moveTo(scale, width / 2 - (box.left + box.right) / 2 * scale, height / 2 - (box.top + box.bottom) / 2 * scale);
  }

  moveTo(scale, x, y) {
    this.view = { scale: Math.min(Math.max(scale, 0.002), 4), x, y };
    this.update();
  }

  zoom(factor, x, y) {
    const { width, height } = this.host.getBoundingClientRect();
    const at = [x ?? width / 2, y ?? height / 2], before = this.view.scale;
    const scale = Math.min(Math.max(before * factor, 0.002), 4);
    this.moveTo(scale, at[0] - (at[0] - this.view.x) * scale / before, at[1] - (at[1] - this.view.y) * scale / before);
  }

  center(step) {
    const node = this.graph.byStep.get(step), { width, height } = this.host.getBoundingClientRect();
    if (!node || !width) return;
    const scale = Math.max(this.view.scale, 0.7);
    this.moveTo(scale, width / 2 - node.x * scale, height / 2 - node.y * scale);
  }

  isInView(step) {
    const node = this.graph.byStep.get(step), { width, height } = this.host.getBoundingClientRect();
    if (!node) return false;
    const x = node.x * this.view.scale + this.view.x, y = node.y * this.view.scale + this.view.y;
    return x > 60 && x < width - 60 && y > 40 && y < height - 40;
  }

  // Draws what the window shows now.
  update() {
    if (!this.graph || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw() {
    const { width, height } = this.host.getBoundingClientRect(), { x, y, scale } = this.view;
    if (!width || !this.graph) return;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    const isFar = scale < CARD.far, margin = 200;
    this.root.classList.toggle("afar", isFar);
    const wanted = new Set();
    if (!isFar) {
      const top = (-y - margin) / scale, bottom = (height - y + margin) / scale;
      const left = (-x - margin) / scale, right = (width - x + margin) / scale;
      for (const node of this.graph.rows)
        if (node.y > top && node.y < bottom && node.x > left - node.width && node.x < right +
            node.width) wanted.add(node);
    }
    for (const [node, card] of this.cards)
      if (!wanted.has(node)) card.remove(), this.cards.delete(node);
    for (const node of wanted) if (!this.cards.has(node)) this.cards.set(node, this.drawCard(node));
    this.drawWindow();
  }

  drawCard(node) {
    const { step } = node;
    const group = svg("g", { transform: `translate(${node.x - node.width / 2} ${node.y - node.height / 2})` },
        this.cardLayer);
    if (!step) return this.drawEnd(node, group);
    group.setAttribute("class", "card " + step.family);
    group.dataset.step = step.index;
    group.classList.toggle("selected", step === this.app.selected);
    group.classList.toggle("dim", this.app.found !== null && !this.app.found.has(step));
    svg("rect", { class: "body", width: node.width, height: node.height, rx: 7 }, group);
    svg("rect", { class: "stripe", width: 4, height: node.height - 14, x: 0, y: 7, rx: 2 }, group);
    for (const chip of node.chips) {
      const y = CARD.pad - 2 + chip.row * (CARD.chip + 3);
      const family = chip.op ? familyOf([chip.op]) : step.family;
      svg("rect", { class: "chip " + family, x: CARD.pad + chip.x, y, width: chip.width, height: CARD.chip, rx: 4 },
          group);
      svgText(chip.text, CARD.pad + chip.x + 7, y + 12.8, "chip-text " + family, group);
    }
    let y = CARD.pad + node.rows * (CARD.chip + 3) + 8;
    svgText(ruler.fit(step.name, node.width - 2 * CARD.pad, NAME_FONT, "end"), CARD.pad, y, "name", group);
    y += CARD.line;
    const time = step.ms > 0 ? timeText(step.ms) : "", timeWidth = ruler.width(time, DATA_FONT);
    const data = [step.type, step.shape, step.order].filter(Boolean).join(" ");
    svgText(ruler.fit(data, node.width - 2 * CARD.pad - timeWidth - 8, DATA_FONT, "start"), CARD.pad, y, "data", group);
    if (time) svgText(time, node.width - CARD.pad, y, "time", group);
    if (step.drawn.bodies.length) this.drawBodies(step, y + CARD.line, group);
    if (step.ms > 0) this.drawShare(step, node, group);
    return group;
  }

  drawBodies(step, y, group) {
    const names = step.drawn.bodies.map((b) => this.app.model.blocks[b].drawn.name);
    svgText(ruler.fit("▸ " + names.join(", "), CARD.width - 2 * CARD.pad, NAME_FONT, "start"), CARD.pad, y, "bodies",
        group);
  }

  // A bar along the foot: the layer's time beside the slowest one's.
  drawShare(step, node, group) {
    const room = node.width - 14, part = step.ms / this.app.model.maxMs;
    svg("rect", { class: "bar " + heatOf(part), x: 7, y: node.height - 4, width: Math.max(1, part * room), height: 2.5,
        rx: 1 }, group);
  }

  drawEnd(node, group) {
    group.setAttribute("class", "end " + node.kind);
    svg("rect", { class: "body", width: node.width, height: node.height, rx: node.height / 2 }, group);
    const title = svgText(ruler.fit(node.tensor.name, node.width - 28, CHIP_FONT, "end"), node.width / 2, 16,
        "end-name", group);
    title.setAttribute("text-anchor", "middle");
    const data = [typeWord(node.tensor.type), shapeText(node.tensor.extents)].filter(Boolean).join(" ");
    svgText(ruler.fit(data, node.width - 24, DATA_FONT, "start"), node.width / 2, 29, "data",
        group).setAttribute("text-anchor", "middle");
    return group;
  }

  select(step) {
    for (const [node, card] of this.cards) card.classList.toggle("selected", !!step && node.step === step);
    this.lit.replaceChildren();
    const node = step && this.graph.byStep.get(step);
    if (!node) return;
    for (const edge of this.graph.edges)
      if (edge.from === node.id || edge.to === node.id) {
        const side = edge.from === node.id ? "out" : "in";
        svg("path", { class: "edge " + side, d: curve(edge.points) }, this.lit);
        svg("path", { class: "arrow " + side, d: arrow(edge.points) }, this.lit);
      }
    svg("path", { class: "halo", d: boxPath(node, 4) }, this.lit);
  }

  // Steps that a search has found stay, others fade. Null: no search.
  mark(found) {
    this.root.classList.toggle("searching", found !== null);
    const nodes = found ? this.graph.nodes.filter((node) => node.step && found.has(node.step)) : [];
    this.foundLayer.setAttribute("d", nodes.map((node) => boxPath(node, 3)).join(""));
    for (const [node, card] of this.cards) card.classList.toggle("dim", found !== null && !found.has(node.step));
    this.drawMinimap();
  }

  nodeAt(clientX, clientY) {
    if (!this.graph) return null;
    const box = this.host.getBoundingClientRect(), { x, y, scale } = this.view;
    const at = [(clientX - box.left - x) / scale, (clientY - box.top - y) / scale];
    return this.graph.nodes.find((node) => Math.abs(at[0] - node.x) <= node.width / 2 &&
        Math.abs(at[1] - node.y) <= node.height / 2);
  }

  pan() {
    let from = null;
    this.host.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, view: { ...this.view }, moved: false };
      this.host.setPointerCapture(event.pointerId);
    });
    this.host.addEventListener("pointermove", (event) => {
      if (!from) return this.hover(event);
      const dx = event.clientX - from.x, dy = event.clientY - from.y;
      from.moved ||= Math.hypot(dx, dy) > 4;
      if (from.moved) this.moveTo(from.view.scale, from.view.x + dx, from.view.y + dy);
      this.host.classList.toggle("panning", from.moved);
    });
    const done = (event) => {
      if (from && !from.moved && event.type === "pointerup") this.click(event);
      from = null;
      this.host.classList.remove("panning");
    };
    this.host.addEventListener("pointerup", done);
    this.host.addEventListener("pointercancel", done);
    this.host.addEventListener("pointerleave", () => this.app.tip(null));
    this.host.addEventListener("dblclick", (event) => {
      const node = this.nodeAt(event.clientX, event.clientY);
      if (node && node.step && node.step.drawn.bodies.length) this.app.open(node.step.drawn.bodies[0]);
    });
    this.host.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.host.getBoundingClientRect(), unit = event.deltaMode === 1 ? 16 : 1;
      if (event.ctrlKey || event.metaKey)
        this.zoom(Math.exp(-event.deltaY * unit * 0.0022), event.clientX - box.left, event.clientY - box.top);
      else this.moveTo(this.view.scale, this.view.x - event.deltaX * unit, this.view.y - event.deltaY * unit);
    }, { passive: false });
  }

  click(event) {
    const node = this.nodeAt(event.clientX, event.clientY);
    this.app.select(node && node.step ? node.step : null);
  }

  hover(event) {
    const node = this.nodeAt(event.clientX, event.clientY);
    this.host.classList.toggle("over", !!(node && node.step));
    if (!node) return this.app.tip(null);
    const lines = node.step
        ? [node.step.name, node.step.opText, [node.step.type, node.step.shape,
            node.step.order].filter(Boolean).join(" "),
           node.step.ms > 0 ? timeText(node.step.ms) + ", " + percentText(node.step.share) : ""]
        : [node.tensor.name, node.kind + " " + shapeText(node.tensor.extents)];
    this.app.tip(event, lines.filter(Boolean));
  }

  drawMinimap() {
    const host = this.app.minimap, { box } = this.graph;
    const width = Math.max(box.right - box.left, 1), height = Math.max(box.bottom - box.top, 1);
    host.replaceChildren();
    const map = svg("svg", { viewBox: `${box.left} ${box.top} ${width} ${height}`, preserveAspectRatio: "none" }, host);
    const tall = height / width > 1.2;
    host.style.width = tall ? "64px" : "150px";
    host.style.height = tall ? "200px" : Math.max(40, Math.min(150, 150 * height / width)) + "px";
    const overview = svg("g", { class: "overview" }, map);
    this.drawOverview(overview);
    const found = svg("path", { class: "found", d: this.foundLayer.getAttribute("d") || "" }, map);
    found.setAttribute("vector-effect", "non-scaling-stroke");
    this.windowBox = svg("rect", { class: "window", "vector-effect": "non-scaling-stroke" }, map);
    map.addEventListener("pointerdown", (event) => {
      const at = host.getBoundingClientRect(), mine = this.host.getBoundingClientRect();
      const x = box.left + (event.clientX - at.left) / at.width * width, y = box.top +
          (event.clientY - at.top) / at.height * height;
      this.moveTo(this.view.scale, mine.width / 2 - x * this.view.scale, mine.height / 2 - y * this.view.scale);
    });
    this.drawWindow();
  }

  drawWindow() {
    if (!this.windowBox) return;
    const { width, height } = this.host.getBoundingClientRect(), { x, y, scale } = this.view;
    const place = { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
    for (const key in place) this.windowBox.setAttribute(key, place[key]);
    const { box } = this.graph;
    const isAll = place.x <= box.left && place.y <= box.top && place.x + place.width >= box.right && place.y +
        place.height >= box.bottom;
    this.app.minimap.style.visibility = isAll ? "hidden" : "visible";
  }
}

function boxPath(node, grow) {
  const w = node.width + 2 * grow, h = node.height + 2 * grow;
  return `M${(node.x - w / 2).toFixed(1)} ${(node.y - h / 2).toFixed(1)}h${w}v${h}h${-w}z`;
}

function heatOf(part) {
  return part > 0.66 ? "hot" : part > 0.25 ? "warm" : "cool";
}

// Inputs stand before their first reader and outputs behind their writer, so that no edge is longer than it must be.
function inOrder(inputs, cards, outputs, edges) {
  const before = new Map(), behind = new Map();
  for (const edge of edges) {
    if (typeof edge.from === "string" && typeof edge.to === "number")
      before.set(edge.from, Math.min(before.get(edge.from) ?? Infinity, edge.to));
    if (typeof edge.to === "string" && typeof edge.from === "number")
      behind.set(edge.to, Math.max(behind.get(edge.to) ?? -1, edge.from));
  }
  const read = inputs.filter((node) => before.has(node.id)), written = outputs.filter((node) => behind.has(node.id));
  const nodes = [];
  const at = (map, s, list) => list.filter((node) => map.get(node.id) === s);
  cards.forEach((card, s) => nodes.push(...at(before, s, read), card, ...at(behind, s, written)));
  nodes.push(...inputs.filter((node) => !before.has(node.id)), ...outputs.filter((node) => !behind.has(node.id)));
  return nodes;
}
