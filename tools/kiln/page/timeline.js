// The layers along time, a lane for each stream. Layers were timed one by one: a layer begins here when what it reads
// is there and its stream is free.

function schedule(model) {
  const block = model.blocks[0], free = new Map(), ends = [];
  const reads = block.steps.map(() => []);
  for (const edge of model.edges(block))
    if (typeof edge.from === "number" && typeof edge.to === "number") reads[edge.to].push(edge.from);
  return block.steps.map((step, s) => {
    const stream = step.info.StreamId || 0;
    const begin = Math.max(free.get(stream) || 0, ...reads[s].filter((r) => r < s).map((r) => ends[r]));
    ends[s] = begin + step.ms;
    free.set(stream, ends[s]);
    return { step, stream, begin, end: ends[s] };
  });
}

// A scale's marks: at most `most` round numbers between `begin` and `end`.
function roundMarks(begin, end, most) {
  const rough = (end - begin) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const unit = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
  const marks = [];
  for (let i = Math.ceil(begin / unit - 1e-9); i * unit <= end * (1 + 1e-9); ++i) marks.push(i * unit);
  return marks;
}

class Timeline {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.zoom = 1;
    this.from = 0;
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener("wheel", (event) => {
      if (!this.scale) return;
      event.preventDefault();
      const at = (event.clientX - this.host.getBoundingClientRect().left - 70) / this.scale + this.from;
      if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
        const zoom = Math.min(Math.max(this.zoom * Math.exp(-event.deltaY * 0.0022), 1), 5000);
        this.from = at - (at - this.from) * this.zoom / zoom;
        this.zoom = zoom;
      } else {
        this.from += event.deltaX / this.scale;
      }
      this.draw();
    }, { passive: false });
  }

  draw() {
    const { model } = this.app, { width } = this.host.getBoundingClientRect();
    if (!width || this.host.hidden) return;
    if (!model.timed) {
      this.host.replaceChildren(html("p", { class: "empty" },
          "There are no times: the engine was not run for this page, and the file holds none. " +
              "--layerTimes adds those of a profile."));
      return;
    }
    this.bars ||= schedule(model);
    const end = Math.max(...this.bars.map((bar) => bar.end)), room = width - 100, lane = 46;
    this.scale = room / end * this.zoom;
    this.from = Math.min(Math.max(this.from, 0), end - end / this.zoom);
    const streams = [...new Set(this.bars.map((bar) => bar.stream))].sort((a, b) => a - b);
    const height = 70 + lane * streams.length;
    const root = svg("svg", { class: "chart", width, height, role: "img", "aria-label": "Layers along time" });
    const until = this.from + end / this.zoom;
    for (const mark of roundMarks(this.from, until, Math.max(2, room / 110))) this.drawMark(root, mark, height);
    streams.forEach((stream, row) => svgText(stream ? "stream " + stream : "stream 0", 12, 46 + lane * row + 20, "axis",
        root));
    const clip = svg("g", {}, root);
    for (const bar of this.bars) this.drawBar(clip, bar, 46 + lane * streams.indexOf(bar.stream), width);
    const words = model.measured ? "Each layer was timed by itself" : "Times of the build";
    const note = `${words}; ${timeText(end)} in all. A layer begins where what it reads is done. ` +
        "Wheel: zoom. Click: choose.";
    this.host.replaceChildren(root, html("p", { class: "muted note" }, note), this.byOperation());
  }

  drawMark(root, mark, height) {
    const x = 70 + (mark - this.from) * this.scale;
    svg("line", { class: "grid", x1: x, x2: x, y1: 30, y2: height - 14 }, root);
    svgText(timeText(mark) || "0", x + 4, 26, "axis", root);
  }

  drawBar(parent, { step, begin, end }, y, width) {
    const x = 70 + (begin - this.from) * this.scale, wide = (end - begin) * this.scale;
    if (x + wide < 70 || x > width || wide < 0.05) return;
    const left = Math.max(x, 70), shown = Math.max(Math.min(x + wide, width) - left - (wide > 3 ? 1 : 0), 0.6);
    const rect = svg("rect", { class: "span " + step.family + (step === this.app.selected ? " selected" : ""), x: left,
        y, width: shown, height: 30,
                               rx: shown > 6 ? 3 : 0 }, parent);
    rect.dataset.step = step.index;
    if (shown > 44) svgText(ruler.fit(step.opText, shown - 10, NAME_FONT, "start"), left + 5, y + 19,
        "span-text", parent);
    rect.addEventListener("click", () => this.app.select(step));
    rect.addEventListener("pointermove", (event) => this.app.tip(event, [step.name, step.opText,
      timeText(step.ms) + ", " + percentText(step.share), "from " + (timeText(begin) || "0")]));
    rect.addEventListener("pointerleave", () => this.app.tip(null));
  }

  // The sum of each combination of operations.
  byOperation() {
    const { model } = this.app, sums = new Map();
    for (const step of model.blocks[0].steps) {
      const key = step.opText, sum = sums.get(key) || { ms: 0, count: 0, family: step.family };
      sum.ms += step.ms;
      ++sum.count;
      sums.set(key, sum);
    }
    const rows = [...sums].sort((a, b) => b[1].ms - a[1].ms).slice(0, 14);
    const most = rows.length ? rows[0][1].ms : 1;
    return html("div", { class: "sums" }, html("h3", {}, "By operation"),
        rows.map(([ops, sum]) => html("div", { class: "sum " + sum.family },
      html("span", { class: "sum-name" }, html("span", { class: "swatch" }), ops),
          html("span", { class: "muted" }, counted(sum.count, "layer")),
      bar(sum.ms / most), html("code", {}, timeText(sum.ms)), html("code", { class: "muted" },
          percentText(sum.ms / (model.totalMs || 1))))));
  }
}
