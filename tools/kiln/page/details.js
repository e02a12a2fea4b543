// The panel at the right: all that is known of the layer that is chosen, or of the engine where none is.

// An element with attributes and children; texts are texts, never markup.
function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key === "on") for (const event in value) element.addEventListener(event, value[event]);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const SHOWN_KEYS = new Set(["Name", "LayerType", "Inputs", "Outputs", "TacticName", "TacticValue", "StreamId",
    "Metadata",
  "Executor", "WorkspaceBytes", "TimeUs", "Constants", "Candidates", "Alternatives", "Body"]);

function part(title, ...children) {
  return html("section", {}, html("h3", {}, title), ...children);
}

// Rows of names and values; rows without a value are left out.
function pairs(rows) {
  const list = html("dl", {});
  for (const [name, value] of rows)
    if (value !== undefined && value !== null && value !== "") list.append(html("dt", {}, name), html("dd", {}, value));
  return list;
}

function valueText(value) {
  if (Array.isArray(value)) return "[" + value.map(valueText).join(", ") + "]";
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([name, part]) => name + " " + valueText(part)).join(", ");
}

class Details {
  constructor(host, app) {
    this.host = host;
    this.app = app;
  }

  show(step) {
    this.host.replaceChildren(...(step ? this.ofStep(step) : this.ofEngine()));
    this.host.scrollTop = 0;
  }

  // A button that leads to a layer.
  link(step, text) {
    return html("button", { class: "link", on: { click: () => this.app.go(step) } }, text ?? step.name);
  }

  // Names with what makes them long at places where lines may break.
  broken(text) {
    return text.split(/(?<=[/._+:])/).flatMap((piece) => [piece, html("wbr")]);
  }

  ofStep(step) {
    const { info } = step, { model } = this.app;
    const around = model.blocks[step.block].drawn.around;
    const head = html("div", { class: "head " + step.family },
      html("p", { class: "number" }, "Layer " + step.number, around >= 0 ? [" in ", this.link(model.steps[around])]
          : null),
      html("h2", { class: step.name.length > 70 && "long" }, this.broken(step.name)),
      html("p", { class: "chips" }, step.opNames.map((op) => html("span", { class: "chip " + familyOf([op]) }, op))));
    return [head, this.times(step), this.bodies(step), this.tensors("Reads", info.Inputs, step, "before"),
            this.tensors("Writes", info.Outputs, step, "behind"), this.tensors("Constants", info.Constants),
            this.runBy(step), this.candidates(step), this.alternatives(step), this.origins(step),
                this.raw(step)].filter(Boolean);
  }

  times(step) {
    const { model } = this.app;
    const rows = [];
    if (model.measured) rows.push(["Measured", timeText(step.ms) + (step.ms > 0 ? ", " + percentText(step.share)
        : "")]);
    if (step.plannedMs > 0) rows.push(["In the build", timeText(step.plannedMs) +
        (model.measured ? "" : ", " + percentText(step.share))]);
    if (step.isSum) rows.push(["Sum", "of the layers within" + (model.measured ? "" : ", each body once")]);
    const runs = model.blocks[step.block].drawn.runs;
    if (step.block > 0 && runs >= 0) rows.push(["Runs", `${runs} in a run of the network; the time is that of all`]);
    if (!rows.length) return null;
    return part("Time", html("div", { class: "meter" }, bar(step.ms / (model.maxMs || 1))), pairs(rows));
  }

  bodies(step) {
    if (!step.drawn.bodies.length) return null;
    const items = step.drawn.bodies.map((b) => {
      const { drawn, steps } = this.app.model.blocks[b];
      const text = counted(steps.length, "layer") + (drawn.runs >= 0 ? ", " + counted(drawn.runs, "run") : "");
      return html("li", {}, html("button", { class: "link", on: { click: () => this.app.open(b) } }, drawn.name), " " +
          text);
    });
    return part("Holds", html("ul", { class: "plain" }, items), step.drawn.steered
        ? html("p", { class: "muted" }, "Steered " + step.drawn.steered) : null);
  }

  tensors(title, list, step, side) {
    if (!list || !list.length) return null;
    const links = step ? this.app.model.links(step, side) : [];
    const rows = list.map((tensor) => {
      const far = links.filter(({ names }) => names.includes(tensor.Name)).map((link) => link.step);
      return html("li", {}, html("div", { class: "tensor" }, html("span", { class: "tensor-name", title: tensor.Name },
          this.broken(tensor.Name || "")),
        html("code", {}, shapeText(tensor.Dimensions))),
        html("div", { class: "muted" }, formatOf(tensor), tensor.ViewOf
            ? [", a view of ", this.broken(tensor.ViewOf)] : null),
        far.length ? html("div", { class: "muted" }, side === "before" ? "from " : "to ",
                          far.slice(0, 6).flatMap((other, i) => [i ? ", " : "", this.link(other)]), far.length > 6
                              ? " …" : "") : null);
    });
    return part(title, html("ul", { class: "plain tensors" }, rows));
  }

  runBy(step) {
    const { info } = step;
    const rows = [["Tactic", info.TacticName], ["Executor", info.Executor], ["Tactic value", info.TacticValue],
                  ["Stream", info.StreamId === undefined ? "" : String(info.StreamId)],
                  ["Workspace", info.WorkspaceBytes === undefined ? "" : bytesText(info.WorkspaceBytes)]];
    for (const key in info) if (!SHOWN_KEYS.has(key)) rows.push([key, valueText(info[key])]);
    return rows.some(([, value]) => value) ? part("Run by", pairs(rows)) : null;
  }

  candidates(step) {
    if (!step.info.Candidates) return null;
    const list = step.info.Candidates.map(parseCandidate), chosen = list.find((candidate) => candidate.chosen);
    if (!list.length) return part("Candidates", html("p", { class: "muted" }, "The plan records no other candidates."));
    const row = (candidate) => html("tr", { class: candidate.chosen ? "chosen" : candidate.us >= 0 ? "" : "refused" },
      html("td", {}, html("div", {}, candidate.tactic, candidate.variant ? html("code", {}, candidate.variant) : null),
        candidate.part ? html("div", { class: "muted" }, candidate.part) : null,
        html("div", { class: "muted verdict" }, verdictOf(candidate, chosen))),
      html("td", { class: "figure" }, candidate.us >= 0 ? timeText(candidate.us / 1000) : "–"));
    const rank = (candidate) => (candidate.chosen ? -1 : candidate.us >= 0 ? candidate.us : Infinity);
    const sorted = list.map((candidate, i) => [candidate, i]).sort(([a, i], [b, j]) => rank(a) - rank(b) ||
        i - j).map(([candidate]) => row(candidate));
    const table = html("table", { class: "candidates" }, html("tbody", {}, sorted.slice(0, 12)));
    if (sorted.length <= 12) return part("Candidates", table);
    const more = html("button", { class: "link", on: { click: () =>
        (table.tBodies[0].append(...sorted.slice(12)), more.remove()) } }, `all ${sorted.length}`);
    return part("Candidates", table, more);
  }

  alternatives(step) {
    const list = step.info.Alternatives;
    if (!list || !list.length) return null;
    const text = (other) => `Near ${other.shapes}: ${other.variant}, ${timeText(other.time_us / 1000)} where ` +
        `its own takes ${timeText(other.replaced_us / 1000)}`;
    return part("At other shapes", html("ul", { class: "plain" }, list.map((other) => html("li", {}, text(other)))));
  }

  origins(step) {
    const { origins } = step.drawn;
    return origins.length ? part("Comes from", html("ul", { class: "plain origins" },
        origins.map((text) => html("li", {}, this.broken(text))))) : null;
  }

  raw(step) {
    const { layers } = this.app.model.picture;
    const text = html("pre", {});
    const box = html("details", { class: "raw" }, html("summary", {}, "As the inspector tells it"), text);
    box.addEventListener("toggle", () => (text.textContent = JSON.stringify(layers[step.index], null, 2)));
    return box;
  }

  ofEngine() {
    const { model } = this.app, { picture } = model;
    const head = html("div", { class: "head" }, html("h2", {}, this.broken(picture.title)),
      html("p", { class: "muted" }, counted(model.steps.length, "layer")));
    if (model.blocks.length > 1)
      head.lastChild.textContent = counted(model.blocks[0].steps.length, "layer") + ", and " +
          (model.steps.length - model.blocks[0].steps.length) + " in " +
          counted(model.blocks.length - 1, "body", "bodies");
    const total = [];
    if (model.totalMs > 0) total.push(["All layers", timeText(model.totalMs)]);
    if (picture.wallMs > 0) total.push(["A whole run", timeText(picture.wallMs) + ", the median"]);
    if (model.timed) total.push(["Times are", model.measured ? picture.times
        : "those of the build, at the shapes that it tuned for"]);
    return [head, total.length ? part("Time", pairs(total)) : null, this.slowest(), this.families(),
            picture.facts.length ? part("Engine", pairs(picture.facts.map((fact) => [fact.name, fact.text]))) : null,
            picture.notes.length ? part("Not on this page", html("ul", { class: "notes" },
                picture.notes.map((note) => html("li", {}, note)))) : null]
        .filter(Boolean);
  }

  slowest() {
    const { model } = this.app;
    if (!model.timed) return null;
    const steps = model.blocks[0].steps.filter((step) => step.ms > 0).sort((a, b) => b.ms - a.ms).slice(0, 8);
    const rows = steps.map((step) => html("li", {}, html("div", { class: "ranked" },
        this.link(step, this.broken(step.name)), html("code", {}, timeText(step.ms))),
      bar(step.ms / model.maxMs)));
    return part("Slowest layers", html("ol", { class: "plain" }, rows));
  }

  families() {
    const { model } = this.app, sums = new Map();
    if (!model.timed) return null;
    for (const step of model.blocks[0].steps) sums.set(step.family, (sums.get(step.family) || 0) + step.ms);
    const rows = [...sums].sort((a, b) => b[1] - a[1]).map(([family, ms]) => html("li", { class: family },
      html("span", { class: "swatch" }), html("span", { class: "family" }, family),
          html("code", {}, percentText(ms / model.totalMs))));
    return part("By kind", html("ul", { class: "plain kinds" }, rows));
  }
}

// A bar for a share from 0 to 1.
function bar(part) {
  const root = svg("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none" });
  svg("rect", { class: "rail", width: 100, height: 4, rx: 1 }, root);
  svg("rect", { class: "bar " + heatOf(part), width: Math.max(0.5, 100 * Math.min(part, 1)) || 0.5, height: 4, rx: 1 },
      root);
  return root;
}
