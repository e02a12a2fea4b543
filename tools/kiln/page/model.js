// The picture as the views need it: steps with their operations, times and edges. Reads #picture; nothing here draws.

const FAMILIES = [
  { name: "products", words: /conv|matrix|gemm|einsum|attention|mha|fullyconnected|recurrence|lstm|gru|matmul/i },
  { name: "control", words: /loop|\bif\b|conditional|iterator|branch/i },
  { name: "reduction", words: /softmax|norm|reduce|pool|topk|cumsum|arg|unique|nonzero|nms|sort/i },
  { name: "quantizing", words: /quant/i },
  {
    name: "movement",
    words: new RegExp("shuffle|slice|concat|gather|scatter|transpose|reshape|copy|reformat|cast|resize|pad|squeeze|" +
        "expand|fill|constant|identity|noop|permute|onehot|shape|read", "i"),
  },
  {
    name: "pointwise",
    words: new RegExp("activation|element|unary|pointwise|scale|nest|select|relu|gelu|sigmoid|tanh|silu|clip|erf|add|" +
        "mul|kgen|myelin|random|bernoulli", "i"),
  },
];

function familyOf(ops) {
  for (const family of FAMILIES) if (ops.some((op) => family.words.test(op))) return family.name;
  return "other";
}

// The family of a layer. What its type says comes first. Some compilers give all layers one type ("kgen"), and a file
// of names has none: then the tactic and the ends of names ("/block/Conv + /block/Relu") have a say.
function familyOfLayer(ops, tactic, name) {
  const isPlain = ops.every((op) => /^(layer|kgen|fusion|myelin.*|foreignnode)$/i.test(op));
  if (!isPlain) return familyOf(ops);
  if (name.startsWith("Reformatting CopyNode")) return "movement";
  const ends = name.split(/ \+ |\.\.\./).map((piece) => piece.split("/").pop());
  const found = familyOf([tactic, ...ends]);
  return found !== "other" && found !== "movement" ? found : ops[0] === "kgen" ? "pointwise" : found;
}

// "12.3 µs". Times are shown with three digits.
function timeText(ms) {
  if (!(ms >= 0)) return "";
  if (ms === 0) return "0";
  const [number, unit] = ms >= 1000 ? [ms / 1000, "s"] : ms >= 1 ? [ms, "ms"] : [ms * 1000, "µs"];
  return number.toPrecision(number >= 100 ? Math.ceil(Math.log10(number + 1)) : 3) + " " + unit;
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; ++unit) bytes /= 1024;
  return (unit === 0 ? String(bytes) : bytes >= 100 ? bytes.toFixed(0) : bytes.toFixed(1)) + " " + units[unit];
}

// "1 layer", "2 layers".
function counted(count, one, more = one + "s") {
  return `${count} ${count === 1 ? one : more}`;
}

function percentText(share) {
  const percent = 100 * share;
  return (percent >= 10 ? percent.toFixed(1) : percent.toFixed(2)) + " %";
}

function shapeText(extents) {
  if (!extents) return "";
  return extents.length ? extents.map((extent) => (extent < 0 ? "?" : String(extent))).join("×") : "scalar";
}

// A short word for the type in TensorRT's words for a format: "Row major linear FP32" has "fp32". Layers of its newer
// compilers have C++'s words ("Half"), and tensors of dynamic shapes say that they have none.
// Kiln's words for types ("f32", "i64") say the same.
const TYPES = { float: "fp32", half: "fp16", double: "fp64", bfloat16: "bf16" };
const SHORT = { f: "fp", i: "int", u: "uint" };
function typeWord(words) {
  if (!words || words.startsWith("N/A")) return "";
  const short = /^([fiu])(\d+)/.exec(words);
  if (short) return SHORT[short[1]] + short[2];
  const found = new RegExp("FP32|FP16|BFloat16|BF16|FP8|FP4|E8M0|Int4|UInt8|Int8|UInt16|Int16|UInt32|Int32|UInt64|" +
      "Int64|BOOL|Float|Half|Double", "i").exec(words);
  const word = found ? found[0].toLowerCase() : words;
  return TYPES[word] || word;
}

// "Cast", "ElementWise ×2": each operation once.
function grouped(ops) {
  const counts = new Map();
  for (const op of ops) counts.set(op, (counts.get(op) || 0) + 1);
  return [...counts].map(([op, count]) => (count > 1 ? `${op} ×${count}` : op));
}

// What is told of a tensor's order and type.
function formatOf(tensor) {
  return tensor["Format/Datatype"] || tensor.Datatype || "";
}

// A format without its type: "row major", "channel major %8".
function orderWord(words) {
  if (!words || /row major/i.test(words) && !/vector/i.test(words)) return "";
  const vector = /(\S+) wide channel vectorized/i.exec(words);
  if (vector) return "chw" + ({ two: 2, four: 4, sixteen: 16, "thirty-two": 32 }[vector[1].toLowerCase()] || "");
  const multiple = /channel % (\d+)/i.exec(words);
  if (/channel major/i.test(words)) return "nhwc" + (multiple ? multiple[1] : "");
  return /^permuted/i.test(words) ? "permuted" : "";
}

// A line of a plan's candidates: "gemm (tile 8x16, 2 nodes): 12.5 us; chosen".
function parseCandidate(line) {
  const whose = "(its part '.*?'|its last .*? alone|with other nodes): ";
  const found = new RegExp(`^(?:${whose})?([^(:]+?)(?: \\((.*)\\))?: (.*?)(; chosen)?$`).exec(line);
  if (!found) return { part: "", tactic: line, variant: "", us: NaN, told: "", chosen: false };
  const time = /^([\d.e+-]+) us(?:, as the timing cache has it)?$/.exec(found[4]);
  return { part: found[1] || "", tactic: found[2], variant: found[3] || "", us: time ? Number(time[1]) : NaN,
           told: time ? found[4].slice(time[1].length + 3).replace(/^, /, "") : found[4], chosen: !!found[5] };
}

// Why a candidate lost, in words.
function verdictOf(candidate, chosen) {
  if (candidate.chosen) return "chosen" + (candidate.told ? ", " + candidate.told : "");
  if (!Number.isNaN(candidate.us) && candidate.part)
    return candidate.part.startsWith("its") ? "a part of it, as a step of its own" : "as a part of another step";
  if (!Number.isNaN(candidate.us) && chosen && chosen.us > 0) {
    const times = candidate.us / chosen.us;
    if (times >= 1.005) return times.toFixed(2) + "× slower";
    if (times <= 0.995) return "faster by itself, but not with the formats that its neighbours would need";
    return "as fast";
  }
  return candidate.told;
}

class Step {
  constructor(picture, index) {
    const drawn = picture.steps[index], layer = picture.layers[index];
    this.index = index;
    this.drawn = drawn;
    this.info = typeof layer === "string" ? {} : layer;
    this.name = drawn.name;
    this.number = drawn.number;
    this.block = drawn.block;
    const type = this.info.LayerType || "";
    this.ops = type ? type.split(" + ") : ["Layer"];
    this.opNames = grouped(this.ops);
    this.opText = this.opNames.join(" + ");
    this.family = familyOfLayer(this.ops, this.info.TacticName || "", this.name);
    if (drawn.bodies.length) this.family = "control";
    this.plannedMs = (this.info.TimeUs || 0) / 1000;
    this.ms = drawn.ms >= 0 ? drawn.ms : picture.times ? 0 : this.plannedMs;
    this.share = 0;
    this.isSum = false;  // whether `ms` is the sum of the bodies' layers
    const result = (this.info.Outputs || [])[0];
    this.shape = result ? shapeText(result.Dimensions) : "";
    this.type = result ? typeWord(formatOf(result)) : "";
    this.order = result ? orderWord(formatOf(result)) : "";
    this.text = null;
  }

  // What the search looks at, in small letters.
  searchText() {
    if (this.text === null) {
      const tensors = [...(this.info.Inputs || []), ...(this.info.Outputs || []), ...(this.info.Constants || [])];
      this.text = [this.name, this.number, this.info.LayerType, this.info.TacticName, ...this.drawn.origins,
                   ...tensors.map((t) => t.Name)].join("\n").toLowerCase();
    }
    return this.text;
  }
}

// The edges of a block: {from, to, tensor}, where nodes are numbers of steps in the block; inputs and outputs are
// nodes of their own.
function edgesOf(block, steps) {
  const edges = [], seen = new Set(), writers = new Writers(block.tensors);
  const add = (from, to, tensor) => {
    const key = from + ">" + to;
    if (from === to || seen.has(key)) return;
    seen.add(key);
    edges.push({ from, to, tensor });
  };
  block.inputs.forEach((id, i) => writers.set(id, "in" + i));
  steps.forEach((step, s) => {
    for (const id of step.drawn.inputs) for (const from of writers.of(id)) add(from, s, id);
    for (const id of step.drawn.outputs) writers.set(id, s);
  });
  // What comes later than its reader comes from the iteration before (in other programs' files).
  steps.forEach((step, s) => {
    for (const id of step.drawn.inputs)
      for (const from of writers.of(id)) if (from > s && block.tensors[id].parent < 0) add(from, s, id);
  });
  block.outputs.forEach((id, i) => {
    for (const from of writers.of(id)) add(from, "out" + i, id);
  });
  return edges;
}

// Who wrote a tensor last: itself, or where nobody did, what it is a view of; or, of a tensor that nobody wrote as a
// whole, all of its parts.
class Writers {
  constructor(tensors) {
    this.tensors = tensors;
    this.byTensor = new Map();
    this.views = new Map();
    tensors.forEach(({ parent }, id) => {
      if (parent >= 0) this.views.set(parent, [...(this.views.get(parent) || []), id]);
    });
  }

  set(id, node) {
    this.byTensor.set(id, node);
  }

  of(id) {
    for (; !this.byTensor.has(id); id = this.tensors[id].parent)
      if (this.tensors[id].parent < 0) return this.ofParts(id);
    return [this.byTensor.get(id)];
  }

  ofParts(id) {
    return (this.views.get(id) || []).flatMap((view) => (this.byTensor.has(view) ? [this.byTensor.get(view)]
        : this.ofParts(view)));
  }
}

class Model {
  constructor(picture) {
    this.picture = picture;
    this.steps = picture.steps.map((_, i) => new Step(picture, i));
    this.blocks = picture.blocks.map((drawn, index) => ({ index, drawn, steps: [], edges: null }));
    for (const step of this.steps) this.blocks[step.block].steps.push(step);
    this.measured = !!picture.times;
    for (const step of this.steps) this.addBodies(step);
    this.totalMs = this.blocks.length ? this.blocks[0].steps.reduce((sum, step) => sum + step.ms, 0) : 0;
    this.timed = this.totalMs > 0;
    this.maxMs = this.steps.reduce((most, step) => Math.max(most, step.ms), 0);
    // The least time of a loop and those of its bodies may be of different runs, so that a part can exceed the whole.
    for (const step of this.steps) step.share = this.timed ? Math.min(step.ms / this.totalMs, 1) : 0;
  }

  // A loop or a branch without a time of its own, as a build leaves it, takes the sum of its bodies' layers.
  addBodies(step) {
    if (step.ms > 0 || !step.drawn.bodies.length) return;
    const inner = step.drawn.bodies.flatMap((b) => this.blocks[b].steps);
    for (const one of inner) this.addBodies(one);
    step.ms = inner.reduce((sum, one) => sum + one.ms, 0);
    step.isSum = step.ms > 0;
    if (!this.measured) step.plannedMs = step.ms;
  }

  edges(block) {
    return (block.edges ||= edgesOf(block.drawn, block.steps));
  }

  // Steps that have all the words.
  find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const found = this.steps.filter((step) => words.every((word) => step.searchText().includes(word)));
    const rank = (step) => (words.every((word) => step.name.toLowerCase().includes(word)) ? 0 : 1);  // by name first
    return found.sort((a, b) => rank(a) - rank(b) || a.index - b.index);
  }

  // Steps before (or behind) a step in its block, each with the names of the tensor that leads there: its own, and
  // those of what it is a view of.
  links(step, side) {
    const block = this.blocks[step.block], at = block.steps.indexOf(step), { tensors } = block.drawn;
    const [mine, other] = side === "before" ? ["to", "from"] : ["from", "to"];
    const names = (id) => (id < 0 ? [] : [tensors[id].name, ...names(tensors[id].parent)]);
    return this.edges(block).filter((edge) => edge[mine] === at && typeof edge[other] === "number")
        .map((edge) => ({ step: block.steps[edge[other]], names: names(edge.tensor) }));
  }

  neighbours(step, side) {
    return this.links(step, side).map((link) => link.step);
  }
}
