// All layers as a table that sorts by each of its columns. Its rows are made when it is first looked at.

const COLUMNS = [
  { name: "#", value: (step) => step.index, text: (step) => step.number, kind: "figure" },
  { name: "Layer", value: (step) => step.name, text: (step) => step.name, kind: "path" },
  { name: "Operations", value: (step) => step.opText, text: (step) => step.opText },
  { name: "Result", value: (step) => step.shape, text: (step) => step.shape, kind: "code" },
  { name: "Type", value: (step) => step.type + step.order, text: (step) =>
      [step.type, step.order].filter(Boolean).join(" "), kind: "code" },
  { name: "Tactic", value: (step) => step.info.TacticName || "", text: (step) => step.info.TacticName || "" },
  { name: "Stream", value: (step) => step.info.StreamId || 0, text: (step) => String(step.info.StreamId ?? ""),
      kind: "figure" },
  { name: "Time", value: (step) => step.ms, text: (step) => timeText(step.ms), kind: "figure", falls: true },
  { name: "Share", value: (step) => step.share, text: (step) => (step.ms > 0 ? percentText(step.share) : ""),
      kind: "figure", falls: true },
];

class Table {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.by = 0;
    this.falls = false;
  }

  draw() {
    if (this.host.hidden) return;
    if (!this.rows) this.make();
    this.fill();
  }

  make() {
    this.rows = new Map(this.app.model.steps.map((step) => [step, this.row(step)]));
    this.heads = COLUMNS.map((column, c) => html("th", { scope: "col", class: column.kind },
      html("button", { on: { click: () => this.sortBy(c) } }, column.name)));
    this.body = html("tbody", { on: { click: (event) => this.choose(event) } });
    this.host.replaceChildren(html("table", { class: "layers" }, html("thead", {}, html("tr", {}, this.heads)),
        this.body));
  }

  row(step) {
    const cell = (kind, text) => html("td", { class: kind, title: text },
        kind === "path" ? html("bdi", {}, text) : text);
    const row = html("tr", {}, COLUMNS.map((column) => cell(column.kind, column.text(step))));
    row.dataset.step = step.index;
    row.classList.add(step.family);
    return row;
  }

  choose(event) {
    const row = event.target.closest("tr");
    if (row) this.app.select(this.app.model.steps[row.dataset.step]);
  }

  // A column again: the other way. Times fall at first.
  sortBy(c) {
    this.falls = this.by === c ? !this.falls : !!COLUMNS[c].falls;
    this.by = c;
    this.fill();
  }

  fill() {
    const { value } = COLUMNS[this.by], { found } = this.app;
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
    const steps = this.app.model.steps.filter((step) => found === null || found.has(step))
        .sort((a, b) => (this.falls ? -1 : 1) * compare(value(a), value(b)) || a.index - b.index);
    this.heads.forEach((head, c) => head.setAttribute("aria-sort", c !== this.by ? "none" : this.falls ? "descending"
        : "ascending"));
    this.body.replaceChildren(...steps.map((step) => this.rows.get(step)));
    this.order = steps;
    this.select(this.app.selected);
  }

  select(step) {
    if (!this.rows) return;
    for (const row of this.body.querySelectorAll(".selected")) row.classList.remove("selected");
    const row = step && this.rows.get(step);
    if (!row) return;
    row.classList.add("selected");
    if (!this.host.hidden) row.scrollIntoView({ block: "nearest" });
  }
}
