// The page: its views, what is chosen, the search, and the keys.

const VIEWS = ["graph", "timeline", "memory", "table"];
const KEYS = [
  ["/", "search"],
  ["Enter", "in the search: the next layer found; in the graph: open a layer's bodies"],
  ["↑ ↓", "the layer before, behind"],
  ["← →", "a layer that this one reads from, that reads from it"],
  ["+ − 0", "larger, smaller, all of the graph"],
  ["1 2 3 4", "graph, timeline, memory, table"],
  ["Backspace", "from a body to the layer that has it"],
  ["t", "light or dark"],
  ["Esc", "nothing chosen, no search"],
  ["Wheel", "in the graph: move; with Ctrl: zoom. In the timeline: zoom"],
];

const byId = (id) => document.getElementById(id);

class App {
  constructor(picture) {
    this.model = new Model(picture);
    this.block = this.model.blocks[0];
    this.selected = null;
    this.found = null;  // null: no search
    this.minimap = byId("minimap");
    this.tipBox = byId("tip");
    this.details = new Details(byId("details"), this);
    this.graph = new Graph(byId("canvas"), this);
    this.timeline = new Timeline(byId("timeline"), this);
    this.memory = new Memory(byId("memory"), this);
    this.table = new Table(byId("table"), this);
    this.headline();
    this.legend();
    this.listen();
    this.view = "graph";
    this.open(0);
    this.details.show(null);
  }

  headline() {
    const { model } = this, { picture } = model;
    byId("title").textContent = picture.title;
    const words = [counted(model.blocks[0].steps.length, "layer")];
    if (model.totalMs > 0) words.push(timeText(model.totalMs) + (model.measured ? "" : " in the build"));
    if (model.blocks[0].drawn.arena > 0) words.push(bytesText(model.blocks[0].drawn.arena +
        model.blocks[0].drawn.workspace) + " of memory");
    byId("headline").textContent = words.join(" · ");
  }

  legend() {
    const families = [...new Set(this.model.steps.map((step) => step.family))];
    const order = ["products", "pointwise", "reduction", "movement", "quantizing", "control", "other"];
    byId("legend").replaceChildren(...order.filter((name) => families.includes(name))
        .map((name) => html("span", { class: name }, html("span", { class: "swatch" }), name)));
  }

  // Shows a block: the network (0) or a body.
  open(index) {
    this.block = this.model.blocks[index];
    if (this.selected && this.selected.block !== index) this.select(null);
    const path = [];
    for (let at = this.block; at; at = at.drawn.around >= 0 ? this.model.blocks[this.model.steps[at.drawn.around].block]
        : null) path.unshift(at);
    const crumbs = byId("crumbs");
    crumbs.hidden = path.length < 2;
    crumbs.replaceChildren(...path.flatMap((block, i) => [i ? html("span", { class: "muted" }, "›") : null,
      html("button", { class: "link", "aria-current": i + 1 === path.length,
          on: { click: () => this.open(block.index) } }, block.drawn.name || "network")]).filter(Boolean));
    const hasLayers = this.block.steps.length > 0;
    byId("no-layers").hidden = hasLayers;
    if (hasLayers) this.graph.show(this.block);
    else this.graph.clear();
    this.memory.draw();
  }

  // Back to the layer that has the body shown.
  leave() {
    const { around } = this.block.drawn;
    if (around >= 0) this.go(this.model.steps[around]);
  }

  select(step) {
    this.selected = step;
    this.graph.block && this.graph.select(step);
    this.table.select(step);
    this.timeline.draw();
    this.memory.draw();
    this.details.show(step);
    this.remember(step);
  }

  // The page's address names the layer; a page within a notebook has no address of its own.
  remember(step) {
    if (location.protocol === "about:") return;
    try {
      history.replaceState(null, "", step ? "#" + step.number : location.pathname + location.search);
    } catch {
      // A file opened from some places may not change its address. Nothing else needs it.
    }
  }

  // Selects a layer and brings it into the window.
  go(step) {
    if (step.block !== this.block.index) this.open(step.block);
    this.select(step);
    if (!this.graph.isInView(step)) this.graph.center(step);
  }

  show(view) {
    this.view = view;
    for (const name of VIEWS) {
      byId(name).hidden = name !== view;
      byId("tab-" + name).setAttribute("aria-selected", name === view);
    }
    this.tip(null);
    if (view === "graph") {
      this.graph.update();
      if (this.selected && !this.graph.isInView(this.selected)) this.graph.center(this.selected);
    } else {
      this[view].draw();
    }
  }

  search(query) {
    const steps = this.model.find(query);
    this.found = query.trim() ? new Set(steps) : null;
    byId("count").textContent = this.found ? `${steps.length} of ${this.model.steps.length}` : "";
    const list = byId("found");
    list.hidden = !this.found || !steps.length;
    list.replaceChildren(...steps.slice(0, 60).map((step) => html("li",
        { role: "option", "data-step": String(step.index) },
      html("span", { class: "swatch " + step.family }),
          html("span", { class: "found-name" }, html("bdi", {}, step.name)),
          html("span", { class: "muted" }, step.opText))));
    if (this.graph.block) this.graph.mark(this.found);
    this.table.draw();
    this.list = steps;
  }

  // The next layer found, behind the one that is chosen.
  nextFound(back) {
    const steps = this.list || [];
    if (!steps.length) return;
    const at = steps.indexOf(this.selected);
    this.go(steps[at < 0 ? 0 : (at + (back ? steps.length - 1 : 1)) % steps.length]);
    byId("found").hidden = true;
  }

  tip(event, lines) {
    this.tipBox.hidden = !event;
    if (!event) return;
    this.tipBox.replaceChildren(...lines.map((line) => html("div", {}, line)));
    const { width, height } = this.tipBox.getBoundingClientRect();
    this.tipBox.style.left = Math.min(event.clientX + 14, innerWidth - width - 8) + "px";
    this.tipBox.style.top = (event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY +
        18) + "px";
  }

  theme() {
    const { dataset } = document.documentElement;
    const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = dark ? "light" : "dark";
  }

  listen() {
    for (const name of VIEWS) byId("tab-" + name).addEventListener("click", () => this.show(name));
    byId("theme").addEventListener("click", () => this.theme());
    byId("zoom-in").addEventListener("click", () => this.graph.zoom(1.35));
    byId("zoom-out").addEventListener("click", () => this.graph.zoom(1 / 1.35));
    byId("zoom-fit").addEventListener("click", () => this.graph.fitAll());
    const keys = byId("keys"), search = byId("search"), found = byId("found");
    keys.append(html("h3", {}, "Keys"), html("dl", {}, KEYS.flatMap(([key, does]) =>
        [html("dt", {}, key), html("dd", {}, does)])),
                html("form", { method: "dialog" }, html("button", {}, "Close")));
    byId("help").addEventListener("click", () => keys.showModal());
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("focus", () => (found.hidden = !found.children.length));
    search.addEventListener("blur", () => setTimeout(() => (found.hidden = true), 150));
    found.addEventListener("pointerdown", (event) => {
      const item = event.target.closest("li");
      if (item) this.go(this.model.steps[item.dataset.step]);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (byId("keys").open || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = byId("search"), inSearch = document.activeElement === search;
    if (event.key === "Escape") {
      search.value = "";
      this.search("");
      search.blur();
      this.select(null);
    } else if (inSearch) {
      if (event.key === "Enter") this.nextFound(event.shiftKey);
      return;
    } else {
      const does = this.actions()[event.key];
      if (!does || (event.key === "Enter" && document.activeElement?.matches("button, summary"))) return;
      does();
    }
    event.preventDefault();
  }

  actions() {
    const move = (by) => () => this.step(by), along = (side) => () => this.along(side);
    return {
      "/": () => byId("search").focus(),
      "?": () => byId("keys").showModal(),
      t: () => this.theme(),
      Backspace: () => this.leave(),
      "+": () => this.graph.zoom(1.35),
      "=": () => this.graph.zoom(1.35),
      "-": () => this.graph.zoom(1 / 1.35),
      0: () => this.graph.fitAll(),
      1: () => this.show("graph"),
      2: () => this.show("timeline"),
      3: () => this.show("memory"),
      4: () => this.show("table"),
      ArrowDown: move(1),
      ArrowUp: move(-1),
      j: move(1),
      k: move(-1),
      ArrowLeft: along("before"),
      ArrowRight: along("behind"),
      Enter: () => this.selected && this.selected.drawn.bodies.length && this.open(this.selected.drawn.bodies[0]),
    };
  }

  // The layer before or behind, in the order of the view.
  step(by) {
    const order = this.view === "table" ? this.table.order : this.block.steps, at = order.indexOf(this.selected);
    const next = order[at < 0 ? 0 : Math.min(Math.max(at + by, 0), order.length - 1)];
    if (!next) return;
    if (this.view === "table") this.select(next);
    else this.go(next);
  }

  along(side) {
    const next = this.selected && this.model.neighbours(this.selected, side)[0];
    if (next) this.go(next);
  }
}

const app = new App(JSON.parse(byId("picture").textContent));
const wanted = app.model.steps.find((step) => "#" + step.number === location.hash);
if (wanted) app.go(wanted);
