// Places of a block's nodes. A network is cut where everything passes through one node; each piece is laid out by dagre
// and hung below the one before. Pieces of one form, which networks repeat, are laid out once. So 2,000 layers take a
// fraction of a second, and a long chain stays straight.

const LAYOUT = { gap: 26, between: 34, farAway: [64, 24, 8], largestPiece: 400, fan: 4, fanAway: 6 };

class Layout {
  // nodes: [{id, width, height}] in an order in which edges lead forward; edges: [{from, to}] of ids.
  constructor(nodes, edges) {
    this.nodes = nodes;
    this.at = new Map(nodes.map((node, i) => [node.id, i]));
    this.edges = edges.map((edge) => ({ ...edge, a: this.at.get(edge.from), b: this.at.get(edge.to), points: null }));
    this.cache = new Map();
    this.run();
  }

  // Edges that go back, or past very many nodes, are drawn beside the others; they would take a lane in each layer. So
  // are those of a tensor that layers all over the network read, such as a mask.
  run() {
    const count = this.nodes.length, isFan = this.fans();
    let near = this.edges.filter((edge) => edge.a < edge.b && !isFan(edge));
    let pieces = piecesOf(count, near);
    for (const most of LAYOUT.farAway) {
      const large = new Uint8Array(count);
      for (const [first, last] of pieces) if (last - first > LAYOUT.largestPiece) large.fill(1, first, last);
      if (!large.includes(1)) break;
      near = near.filter((edge) => !large[edge.a] || edge.b - edge.a <= most);
      pieces = piecesOf(count, near);
    }
    const isNear = new Set(near);
    this.far = this.edges.filter((edge) => !isNear.has(edge));
    const byPiece = sortedInto(pieces, near);
    for (let p = 0; p + 1 < pieces.length;) {
      if (pieces[p][1] !== pieces[p + 1][0] || !this.wouldOverlap(pieces, byPiece, p)) {
        ++p;
        continue;
      }
      pieces.splice(p, 2, [pieces[p][0], pieces[p + 1][1]]);
      byPiece.splice(p, 2, [...byPiece[p], ...byPiece[p + 1]]);
    }
    let top = 0, spine = 0;
    pieces.forEach(([first, last], p) => {
      const placed = this.place(first, last, byPiece[p]);
      const shift = [spine - placed.nodes[0].x, top - placed.nodes[0].y];
      for (let i = first; i <= last; ++i) {
        const place = placed.nodes[i - first];
        // The first node of a piece is the last of the one before, where pieces share one.
        if (i > first || this.nodes[i].x === undefined) {
          this.nodes[i].x = place.x + shift[0];
          this.nodes[i].y = place.y + shift[1];
        }
      }
      byPiece[p].forEach((edge, e) => {
        edge.points = placed.edges[e].map((point) => ({ x: point.x + shift[0], y: point.y + shift[1] }));
      });
      const end = this.nodes[last];
      top = end.y;
      spine = end.x;
      if (p + 1 < pieces.length && pieces[p + 1][0] > last) {
        top = Math.max(...this.nodes.slice(first, last + 1).map((node) => node.y + node.height / 2)) + LAYOUT.between +
              this.nodes[pieces[p + 1][0]].height / 2;
        spine = 0;
      }
    });
    this.measure();
    this.routeFar();
  }

  // Whether an edge is one of many long ones from one node.
  fans() {
    const long = (edge) => edge.b - edge.a > LAYOUT.fanAway, counts = new Int32Array(this.nodes.length);
    for (const edge of this.edges) if (long(edge)) ++counts[edge.a];
    return (edge) => long(edge) && counts[edge.a] >= LAYOUT.fan;
  }

  // Whether a piece and the next, which hang together at one node, both have others beside that node, or beyond it.
  wouldOverlap(pieces, byPiece, p) {
    const [first, middle] = pieces[p], last = pieces[p + 1][1];
    const above = this.place(first, middle, byPiece[p]).nodes, below = this.place(middle, last, byPiece[p + 1]).nodes;
    const end = above[above.length - 1], start = below[0], half = this.nodes[middle].height / 2;
    const foot = Math.max(...above.slice(0, -1).map((node, i) => node.y + this.nodes[first + i].height / 2));
    const head = Math.min(...below.slice(1).map((node, i) => node.y - this.nodes[middle + 1 + i].height / 2));
    return foot > end.y + half + 1 || head < start.y - half - 1 || (foot > end.y - half && head < start.y + half);
  }

  // The nodes first..last around (0, 0), and the points of the edges.
  place(first, last, edges) {
    const nodes = this.nodes.slice(first, last + 1);
    const form = nodes.map((node) => node.width + "," + node.height).join(";") + "|" +
                 edges.map((edge) => (edge.a - first) + ">" + (edge.b - first)).join(";");
    if (!this.cache.has(form)) this.cache.set(form, placePiece(nodes, edges, first));
    return this.cache.get(form);
  }

  measure() {
    let left = 0, right = 0, top = 0, bottom = 0;
    for (const node of this.nodes) {
      left = Math.min(left, node.x - node.width / 2);
      right = Math.max(right, node.x + node.width / 2);
      top = Math.min(top, node.y - node.height / 2);
      bottom = Math.max(bottom, node.y + node.height / 2);
    }
    this.box = { left, right, top, bottom };
  }

  // Far edges run in lanes at the right: those from one node, or else those to one, share a lane.
  routeFar() {
    const from = new Map(), lanes = [];
    for (const edge of this.far) from.set(edge.a, (from.get(edge.a) || 0) + 1);
    const groups = new Map();
    this.buses = [];
    for (const edge of this.far) {
      const key = from.get(edge.a) > 1 ? "from " + edge.a : "to " + edge.b;
      groups.set(key, [...(groups.get(key) || []), edge]);
    }
    for (const edges of groups.values()) {
      const ys = edges.flatMap((edge) => [this.nodes[edge.a].y, this.nodes[edge.b].y]);
      let lane = lanes.findIndex((taken) => taken < Math.min(...ys));
      if (lane < 0) lane = lanes.length < 24 ? lanes.push(0) - 1 : 23;
      lanes[lane] = Math.max(...ys);
      for (const edge of edges) edge.points = this.aside(edge, this.box.right + 24 + 10 * lane);
      this.buses.push(...busOf(edges.filter((edge) => edge.a < edge.b)));
      this.buses.push(...busOf(edges.filter((edge) => edge.a > edge.b)));
    }
    if (this.far.length) this.box.right += 40 + 10 * lanes.length;
  }

  // The points of an edge by a lane at x.
  aside(edge, x) {
    const a = this.nodes[edge.a], b = this.nodes[edge.b];
    const from = { x: a.x + a.width / 2, y: a.y + a.height / 4 }, to = { x: b.x + b.width / 2, y: b.y - b.height / 4 };
    const down = Math.sign(to.y - from.y) * 8;
    return [from, { x: x - 8, y: from.y }, { x, y: from.y }, { x, y: from.y + down }, { x, y: to.y - down },
        { x, y: to.y }, { x: x - 8, y: to.y }, to];
  }
}

// Edges of one lane as lines that are drawn once: the longest whole, of the others what leads from or to the lane.
// (A mask that thousands of layers read would else be thousands of lines over each other.)
function busOf(edges) {
  const length = (edge) => Math.abs(edge.points[0].y - edge.points[7].y);
  const sorted = [...edges].sort((one, two) => length(two) - length(one));
  const fromOne = edges.length > 1 && edges[0].a === edges[1].a;
  return sorted.map((edge, i) => (i === 0 ? edge.points : fromOne ? edge.points.slice(4) : edge.points.slice(0, 4)));
}

// The edges of each piece.
function sortedInto(pieces, edges) {
  const starts = pieces.map(([first]) => first), byPiece = pieces.map(() => []);
  for (const edge of edges) byPiece[lastNotAbove(starts, edge.a)].push(edge);
  return byPiece;
}

// The index of the last start that is not above `value`; starts ascend.
function lastNotAbove(starts, value) {
  let low = 0, high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

// [first, last] of each piece: from a node that all paths pass through to the next. Neighbours share that node, unless
// nothing leads from one to the other.
function piecesOf(count, edges) {
  if (count === 0) return [];
  const covered = new Int32Array(count + 2), crossed = new Int32Array(count + 2);
  for (const { a, b } of edges) {
    ++covered[a + 1], --covered[b];
    ++crossed[a], --crossed[b];
  }
  const pieces = [];
  let first = 0, over = 0, across = 0;
  for (let i = 0; i < count; ++i) {
    over += covered[i];
    across += crossed[i];
    const isOpen = across > 0;
    if (!isOpen) {
      if (i > first || !pieces.length || pieces[pieces.length - 1][1] < i) pieces.push([first, i]);
      first = i + 1;
    } else if (over === 0 && i > first) {
      pieces.push([first, i]);
      first = i;
    }
  }
  return pieces;
}

function placePiece(nodes, edges, first) {
  if (nodes.length === 1) return { nodes: [{ x: 0, y: 0 }], edges: [] };
  const placed = typeof dagre !== "undefined" && nodes.length <= 4 * LAYOUT.largestPiece
      ? placeByDagre(nodes, edges, first) : placePlainly(nodes, edges, first);
  straighten(placed, nodes, edges, first);
  return placed;
}

function placeByDagre(nodes, edges, first) {
  const inside = nodes.map((node, i) => ({ v: String(i), width: node.width, height: node.height }));
  const between = edges.map((edge) => ({ v: String(edge.a - first), w: String(edge.b - first), minlen: 1, weight: 1,
                                         width: 0, height: 0, labeloffset: 10, labelpos: "r" }));
  const wanted = { nodesep: LAYOUT.gap, ranksep: LAYOUT.between, edgesep: 14, rankdir: "TB",
      ranker: "network-simplex" };
  dagre.layout(inside, between, wanted, {});
  return { nodes: inside.map((node) => ({ x: node.x, y: node.y })), edges: between.map((edge) => edge.points) };
}

// Layers by the longest path, in each the order of the layer above: for builds without dagre and for pieces that would
// take it too long.
function placePlainly(nodes, edges, first) {
  const rank = new Int32Array(nodes.length), rows = [], places = [];
  for (const edge of [...edges].sort((one, two) => one.a - two.a))
    rank[edge.b - first] = Math.max(rank[edge.b - first], rank[edge.a - first] + 1);
  nodes.forEach((_, i) => (rows[rank[i]] ||= []).push(i));
  const above = nodes.map(() => []);
  for (const edge of edges) above[edge.b - first].push(edge.a - first);
  let y = 0;
  for (const row of rows.filter(Boolean)) {
    const middle = (i) => above[i].length ? above[i].reduce((sum, j) => sum + places[j].x, 0) / above[i].length : 0;
    const wanted = row.map((i) => [middle(i), i]).sort((one, two) => one[0] - two[0] || one[1] - two[1]);
    const width = row.reduce((sum, i) => sum + nodes[i].width + LAYOUT.gap, -LAYOUT.gap);
    const height = Math.max(...row.map((i) => nodes[i].height));
    let x = wanted.reduce((sum, [at]) => sum + at, 0) / row.length - width / 2;
    for (const [, i] of wanted) {
      places[i] = { x: x + nodes[i].width / 2, y: y + height / 2 };
      x += nodes[i].width + LAYOUT.gap;
    }
    y += height + 2 * LAYOUT.between;
  }
  const ends = (edge) => {
    const a = places[edge.a - first], b = places[edge.b - first];
    return [{ x: a.x, y: a.y + nodes[edge.a - first].height / 2 }, { x: b.x,
        y: b.y - nodes[edge.b - first].height / 2 }];
  };
  return { nodes: places, edges: edges.map(ends) };
}

// Puts the last node below the first, if it is alone in its layer: a chain of pieces does not wander off.
function straighten(placed, nodes, edges, first) {
  const last = nodes.length - 1, end = placed.nodes[last], half = nodes[last].height / 2;
  const alone = placed.nodes.every((node, i) => i === last || node.y + nodes[i].height / 2 <= end.y - half);
  if (!alone) return;
  const shift = placed.nodes[0].x - end.x;
  if (!shift) return;
  end.x += shift;
  edges.forEach((edge, e) => {
    if (edge.b - first !== last) return;
    const points = placed.edges[e].slice(0, -1), bend = points.length - 1;
    if (bend > 0) points[bend] = { x: points[bend].x + shift / 2, y: points[bend].y };
    placed.edges[e] = [...points, borderOf(end, nodes[last], points[bend])];
  });
}

// Where a line from a node's middle to `target` leaves it.
function borderOf(middle, { width, height }, target) {
  const dx = target.x - middle.x, dy = target.y - middle.y;
  const part = Math.min(dx ? width / 2 / Math.abs(dx) : Infinity, dy ? height / 2 / Math.abs(dy) : Infinity, 1);
  return { x: middle.x + part * dx, y: middle.y + part * dy };
}
