// A context's memory: which bytes of the arena which tensor has, from its first step to its last. A body has an arena
// of its own, within the workspace of the layer that runs it.

// Multiples of a power of two, at most `most` + 1 of them.
function byteMarks(end, most) {
  let unit = 1;
  while (end / unit > most) unit *= 2;
  return Array.from({ length: Math.floor(end / unit) + 1 }, (_, i) => i * unit);
}

class Memory {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    new ResizeObserver(() => this.draw()).observe(host);
  }

  // The tensors of a block that lie in its arena.
  static placed(block) {
    return block.drawn.tensors.map((tensor, id) => ({ tensor, id })).filter(({ tensor }) => tensor.place === "arena" &&
        tensor.first >= 0);
  }

  // The bytes that tensors live in, step by step.
  static live(block, placed) {
    const sums = new Float64Array(block.steps.length + 1);
    for (const { tensor } of placed) {
      sums[tensor.first] += tensor.size;
      sums[tensor.last + 1] -= tensor.size;
    }
    for (let i = 1; i < sums.length; ++i) sums[i] += sums[i - 1];
    return sums.subarray(0, block.steps.length);
  }

  draw() {
    if (this.host.hidden) return;
    const { width } = this.host.getBoundingClientRect(), block = this.app.block, placed = Memory.placed(block);
    if (!width) return;
    if (block.drawn.arena < 0 || !placed.length) {
      const why = block.drawn.arena < 0 ? "This file does not say where tensors lie in memory."
          : "No tensor of these layers needs memory of the context.";
      this.host.replaceChildren(...this.blocks(), html("p", { class: "empty" }, why));
      return;
    }
    const live = Memory.live(block, placed), peak = live.reduce((most, bytes) => Math.max(most, bytes), 0),
        at = live.indexOf(peak);
    const arena = Math.max(block.drawn.arena, 1), height = Math.max(280,
        this.host.getBoundingClientRect().height - 190);
    const place = { left: 84, top: 20, width: width - 110, height: height - 60, steps: block.steps.length, arena };
    const root = svg("svg", { class: "chart", width, height, role: "img",
        "aria-label": "Tensors in memory, layer by layer" });
    for (const mark of byteMarks(arena, 6)) this.drawMark(root, place, mark);
    for (const mark of roundMarks(0, place.steps, 10)) if (Number.isInteger(mark) && mark < place.steps)
      svgText(String(mark + 1), place.left + (mark + 0.5) * place.width / place.steps, place.top + place.height + 18,
          "axis middle", root);
    svgText("layer", place.left + place.width / 2, place.top + place.height + 34, "axis middle", root);
    for (const entry of placed) this.drawTensor(root, place, block, entry);
    svg("path", { class: "live", d: "M" + [...live].map((bytes, s) => this.point(place, s, bytes) + " " +
        this.point(place, s + 1, bytes)).join("L") }, root);
    const chosen = this.app.selected && this.app.selected.block === block.index ? block.steps.indexOf(this.app.selected)
        : -1;
    if (chosen >= 0) this.drawChosen(root, place, chosen);
    const facts = `${bytesText(arena)} of tensors and ${bytesText(block.drawn.workspace)} of workspace. At most ` +
        `${bytesText(peak)} are in use at once, in layer ${at + 1}: ${(100 * peak / arena).toFixed(1)} % of ` +
        "the arena. The line is what is in use. Sizes are those of the profile's maximum.";
    this.host.replaceChildren(...this.blocks(), root, html("p", { class: "muted note" }, facts),
        this.liveAt(block, placed, chosen >= 0 ? chosen : at));
  }

  // Whose memory this is, and the others that have some: the network and the bodies of its layers.
  blocks() {
    const { model, block } = this.app;
    if (model.blocks.length < 2) return [];
    const title = (one) => `${one.drawn.name || "network"} (${one.drawn.arena > 0 ? bytesText(one.drawn.arena) : "no"} ` +
        "memory of its own)";
    const shown = model.blocks.filter((one) => one === block || one.drawn.arena > 0);
    return [html("p", { class: "note blocks" }, shown.map((one) => (one === block ? html("strong", {}, title(one))
        : html("button", { class: "link", on: { click: () => this.app.open(one.index) } }, title(one)))))];
  }

  point(place, s, bytes) {
    const x = place.left + s * place.width / place.steps, y = place.top + place.height * (1 - bytes / place.arena);
    return `${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  drawMark(root, place, bytes) {
    const y = place.top + place.height * (1 - bytes / place.arena);
    svg("line", { class: "grid", x1: place.left, x2: place.left + place.width, y1: y, y2: y }, root);
    svgText(bytesText(bytes), place.left - 8, y + 4, "axis end", root);
  }

  drawTensor(root, place, block, { tensor, id }) {
    const x = place.left + tensor.first * place.width / place.steps, wide = (tensor.last - tensor.first + 1) *
        place.width / place.steps;
    const high = Math.max(place.height * tensor.size / place.arena, 1);
    const y = place.top + place.height * (1 - (tensor.offset + tensor.size) / place.arena);
    const writer = block.steps.find((step) => step.drawn.outputs.some((out) => block.drawn.tensors[out].root === id));
    const rect = svg("rect", { class: "span " + (writer ? writer.family : "other"), x: x + 0.3, y: y + 0.3,
        width: Math.max(wide - 0.6, 0.6),
                               height: Math.max(high - 0.6, 0.6), rx: Math.min(wide, high) > 8 ? 2 : 0 }, root);
    if (wide > 60 && high > 14) svgText(ruler.fit(tensor.name, wide - 8, NAME_FONT, "end"), x + 4, y +
        Math.min(high / 2 + 4, 15), "span-text", root);
    rect.addEventListener("click", () => writer && this.app.select(writer));
    rect.addEventListener("pointermove", (event) => this.app.tip(event,
        [tensor.name, `${typeWord(tensor.type)} ${shapeText(tensor.extents)}`,
      `${bytesText(tensor.size)} at ${tensor.offset}`, `layers ${tensor.first + 1} to ${tensor.last + 1}`]));
    rect.addEventListener("pointerleave", () => this.app.tip(null));
  }

  drawChosen(root, place, s) {
    const wide = Math.max(place.width / place.steps, 1.5);
    svg("rect", { class: "chosen-step", x: place.left + s * place.width / place.steps, y: place.top, width: wide,
        height: place.height }, root);
  }

  // What lives while a layer runs, the largest first.
  liveAt(block, placed, s) {
    const rows = placed.filter(({ tensor }) => tensor.first <= s && s <= tensor.last).sort((a, b) =>
        b.tensor.size - a.tensor.size);
    const step = block.steps[s];
    return html("div", { class: "sums" }, html("h3", {}, "In memory while ", this.app.details.link(step, step.name),
        " runs"),
      rows.slice(0, 40).map(({ tensor }) => html("div", { class: "sum" },
          html("span", { class: "sum-name" }, tensor.name),
        html("span", { class: "muted" }, `${typeWord(tensor.type)} ${shapeText(tensor.extents)}`),
            bar(tensor.size / rows[0].tensor.size), html("code", {}, bytesText(tensor.size)),
        html("code", { class: "muted" }, `layers ${tensor.first + 1}–${tensor.last + 1}`))),
      rows.length ? null : html("p", { class: "muted" }, "Nothing of the context's arena."));
  }
}
