#!/usr/bin/env python3
"""Loops that are recurrent cells, as exporters write them, and Scan of opset 8, against ONNX Runtime.

usage: recurrences.py RUN_NETWORKS TRTEXEC [NAME...] [--keep FOLDER] [-- FLAG...]

RUN_NETWORKS runs all data sets of a model in one engine; FLAGs are its own. TRTEXEC tells which layers an engine has: a
cell has to be a recurrence, and what is nearly one a loop. 77, for skipped, where packages or a GPU are missing.
"""
import os
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from model_runs import bounds_of, compare, engine_layers, peaks_of, write_model  # noqa: E402

INPUT, HIDDEN = 5, 12
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
LOOP, RECURRENCE = "Loop", "Recurrence"


class Graph:
    """Nodes and constants in the order of their making; a name stands for a value."""

    def __init__(self, prefix, rng):
        self.prefix, self.rng, self.nodes, self.constants = prefix, rng, [], []

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"{self.prefix}{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{self.prefix}{op}{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape):
        return self.constant((self.rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32))

    def body(self, inputs, outputs):
        info = lambda name, kind: helper.make_tensor_value_info(name, kind, [] if name in ("i", "go", "go_on") else None)  # noqa: E731
        return helper.make_graph(self.nodes, self.prefix, [info(*i) for i in inputs], [info(o, k) for o, k in outputs], self.constants)


def linear(g, x, rows, columns, bias=True):
    """As PyTorch's Linear is exported: a product with a matrix that is transposed in the graph."""
    product = g.add("MatMul", x, g.add("Transpose", g.weights(rows, columns), perm=[1, 0]))
    return g.add("Add", product, g.weights(rows)) if bias else product


def lstm_of_gates(g, gates, c):
    i, f, n, o = g.add("Split", gates, outputs=4, axis=1)
    c = g.add("Add", g.add("Mul", g.add("Sigmoid", f), c), g.add("Mul", g.add("Sigmoid", i), g.add("Tanh", n)))
    return g.add("Mul", g.add("Sigmoid", o), g.add("Tanh", c)), c


def lstm(g, x, h, c):
    return lstm_of_gates(g, g.add("Add", linear(g, x, 4 * HIDDEN, INPUT), linear(g, h, 4 * HIDDEN, HIDDEN)), c)


def lstm_of_products(g, x, h, c):
    return lstm_of_gates(g, g.add("Add", x, linear(g, h, 4 * HIDDEN, HIDDEN)), c)


def lstm_joined(g, x, h, c):
    """As TensorFlow's cells: one product of both, gates i, n, f, o, and a forget bias of 1."""
    both = g.add("Gemm", g.add("Concat", x, h, axis=1), g.weights(INPUT + HIDDEN, 4 * HIDDEN), g.weights(4 * HIDDEN))
    i, n, f, o = g.add("Split", both, outputs=4, axis=1)
    f = g.add("Sigmoid", g.add("Add", f, g.constant(np.float32(1))))
    c = g.add("Add", g.add("Mul", c, f), g.add("Mul", g.add("Sigmoid", i), g.add("Tanh", n)))
    return g.add("Mul", g.add("Tanh", c), g.add("Sigmoid", o)), c


def lstm_step(g, x, h, c):
    """As PyTorch's LSTMCell is exported: an LSTM of one time step."""
    front = g.constant(np.array([0], np.int64))
    r = lambda *shape: g.weights(*shape)  # noqa: E731
    x, h, c = (g.add("Unsqueeze", v, front) for v in (x, h, c))
    _, h, c = g.add("LSTM", x, r(1, 4 * HIDDEN, INPUT), r(1, 4 * HIDDEN, HIDDEN), r(1, 8 * HIDDEN), "", h, c, outputs=3, hidden_size=HIDDEN)
    return g.add("Squeeze", h, front), g.add("Squeeze", c, front)


def lstm_masked(g, x, h, c):
    """Rows whose first element is negative keep their state."""
    new_h, new_c = lstm(g, x, h, c)
    first = g.add("Slice", x, g.constant(np.array([0], np.int64)), g.constant(np.array([1], np.int64)), g.constant(np.array([1], np.int64)))
    keeps = g.add("Less", first, g.constant(np.float32(0)))
    return g.add("Where", keeps, h, new_h), g.add("Where", keeps, c, new_c)


def gru(g, x, h, c):
    """As PyTorch's GRUCell is exported."""
    rx, zx, nx = g.add("Split", linear(g, x, 3 * HIDDEN, INPUT), outputs=3, axis=1)
    rh, zh, nh = g.add("Split", linear(g, h, 3 * HIDDEN, HIDDEN), outputs=3, axis=1)
    r, z = g.add("Sigmoid", g.add("Add", rx, rh)), g.add("Sigmoid", g.add("Add", zx, zh))
    n = g.add("Tanh", g.add("Add", nx, g.add("Mul", r, nh)))
    return g.add("Add", n, g.add("Mul", z, g.add("Sub", h, n))), None


def gru_resets_first(g, x, h, c):
    """As TensorFlow's GRUCell is: r and z of one product, and h * z + (1 - z) * n."""
    r, z = g.add("Split", g.add("Sigmoid", linear(g, g.add("Concat", x, h, axis=1), 2 * HIDDEN, INPUT + HIDDEN)), outputs=2, axis=1)
    n = g.add("Tanh", linear(g, g.add("Concat", x, g.add("Mul", r, h), axis=1), HIDDEN, INPUT + HIDDEN))
    return g.add("Add", g.add("Mul", z, h), g.add("Mul", g.add("Sub", g.constant(np.float32(1)), z), n)), None


def plain(g, x, h, c):
    return g.add("Relu", g.add("Add", linear(g, x, HIDDEN, INPUT), linear(g, h, HIDDEN, HIDDEN, bias=False))), None


def network_of_sequences(rng, name, body_of, extents):
    """A model as PyTorch scripts loops: a list of slices is read, and outputs are added to another one."""
    outer, inner = Graph("o", rng), Graph("b", rng)
    time, batch = extents
    slices = outer.add("SplitToSequence", "x", axis=0, keepdims=0)
    count = outer.add("SequenceLength", slices)
    empty, yes = outer.add("SequenceEmpty"), outer.constant(np.array(True))
    h, c = body_of(inner, inner.add("SequenceAt", slices, "i"), "h", "c")
    longer = inner.add("SequenceInsert", "s", h)
    go_on = inner.add("Identity", "go")
    scalars = [("i", INT64), ("go", TensorProto.BOOL)]
    info = lambda name, kind: helper.make_tensor_value_info(name, kind, [])  # noqa: E731
    tensor = lambda v: helper.make_tensor_value_info(v, FLOAT, None)  # noqa: E731
    sequence = lambda v: helper.make_tensor_sequence_value_info(v, FLOAT, None)  # noqa: E731
    graph = helper.make_graph(inner.nodes, "body", [*(info(*v) for v in scalars), tensor("h"), tensor("c"), sequence("s")],
                              [info(go_on, TensorProto.BOOL), tensor(h), tensor(c), sequence(longer)], inner.constants)
    node = helper.make_node("Loop", [count, yes, "h0", "c0", empty], ["last_h", "last_c", "list"], name="loop", body=graph)
    stack = helper.make_node("ConcatFromSequence", ["list"], ["y"], axis=0, new_axis=1)
    info = lambda name, shape: helper.make_tensor_value_info(name, FLOAT, shape)  # noqa: E731
    ins = [info("x", [time, batch, INPUT]), *(info(s, [batch, HIDDEN]) for s in ("h0", "c0"))]
    outs = [info("y", [time, batch, HIDDEN]), *(info(n, [batch, HIDDEN]) for n in ("last_h", "last_c"))]
    return helper.make_model(helper.make_graph([*outer.nodes, node, stack], name, ins, outs, outer.constants),
                             opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def network(rng, name, body_of, has_memory, loop, extents):
    """A model of a Scan, or of a Loop that gathers, over x [time, batch, input]."""
    outer, inner = Graph("o", rng), Graph("b", rng)
    states = ["h0", "c0"][: 2 if has_memory else 1]
    time, batch = extents
    x, width = "x", INPUT
    if body_of is lstm_of_products:
        x = linear(outer, "x", 4 * HIDDEN, INPUT)
    formal = ["h", "c"][: len(states)]
    if loop == "Loop":
        row = inner.add("Gather", x, "i", axis=0)
        inputs = [("i", INT64), ("go", TensorProto.BOOL), *((f, FLOAT) for f in formal)]
    else:
        row, inputs = "e", [*((f, FLOAT) for f in formal), ("e", FLOAT)]
    results = [v for v in body_of(inner, row, "h", "c") if v]
    stacked = inner.add("Identity", results[0])
    names = ["last_h", "last_c"][: len(states)] + ["y"]
    outputs = [*((v, FLOAT) for v in results), (stacked, FLOAT)]
    if loop == "Loop":
        inner.nodes.append(helper.make_node("Identity", ["go"], ["go_on"]))
        graph = inner.body(inputs, [("go_on", TensorProto.BOOL), *outputs])
        count = outer.add("Gather", outer.add("Shape", "x"), outer.constant(np.int64(0)), axis=0)
        node = helper.make_node("Loop", [count, "", *states], names, name="loop", body=graph)
    else:
        graph = inner.body(inputs, outputs)
        way = int(loop == "reverse Scan")
        node = helper.make_node("Scan", [*states, x], names, name="loop", body=graph, num_scan_inputs=1,
                                scan_input_directions=[way], scan_output_directions=[rng.integers(2)])
    info = lambda name, shape: helper.make_tensor_value_info(name, FLOAT, shape)  # noqa: E731
    ins = [info("x", [time, batch, width]), *(info(s, [batch, HIDDEN]) for s in states)]
    outs = [info("y", [time, batch, HIDDEN]), *(info(n, [batch, HIDDEN]) for n in names[:-1])]
    model = helper.make_model(helper.make_graph([*outer.nodes, node], name, ins, outs, outer.constants),
                              opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return model


def scan_8(rng, name, lengths, way, batch):
    """Running sums of rows, times a value of the graph around, of as many steps as each row has."""
    body = helper.make_graph([helper.make_node("Add", ["s", "e"], ["s1"]), helper.make_node("Mul", ["s1", "factor"], ["t"])], "body",
                             [helper.make_tensor_value_info(n, FLOAT, [3]) for n in ("s", "e")],
                             [helper.make_tensor_value_info(n, FLOAT, [3]) for n in ("s1", "t")])
    node = helper.make_node("Scan", ["lengths" if lengths else "", "s0", "x"], ["last", "y"], name="scan", body=body, num_scan_inputs=1, directions=[way])
    info = helper.make_tensor_value_info
    ins = [info("s0", FLOAT, [batch, 3]), info("x", FLOAT, [batch, 4, 3]), info("factor", FLOAT, [3])]
    if lengths:
        ins.insert(0, info("lengths", INT64, [batch]))
    outs = [info("last", FLOAT, [batch, 3]), info("y", FLOAT, [batch, 4, 3])]
    return helper.make_model(helper.make_graph([node], name, ins, outs), opset_imports=[helper.make_opsetid("", 8)], ir_version=3)


# name: what makes the model, and which layer it has to have
FIXED, ANY = (6, 2), ("time", "batch")
CELLS = {
    "lstm": (lstm, True, "Scan", FIXED), "lstm_any": (lstm, True, "Scan", ANY), "lstm_reverse": (lstm, True, "reverse Scan", FIXED),
    "lstm_loop": (lstm, True, "Loop", FIXED), "lstm_loop_any": (lstm, True, "Loop", ANY),
    "lstm_joined": (lstm_joined, True, "Scan", FIXED), "lstm_joined_loop": (lstm_joined, True, "Loop", ANY),
    "lstm_products": (lstm_of_products, True, "Scan", ANY),
    "lstm_step": (lstm_step, True, "Loop", FIXED), "lstm_step_reverse": (lstm_step, True, "reverse Scan", ANY),
    "gru": (gru, False, "Scan", FIXED), "gru_loop_any": (gru, False, "Loop", ANY), "gru_reverse": (gru, False, "reverse Scan", ANY),
    "gru_resets_first": (gru_resets_first, False, "Scan", FIXED), "gru_resets_first_loop": (gru_resets_first, False, "Loop", ANY),
    "plain": (plain, False, "Scan", FIXED), "plain_loop": (plain, False, "Loop", FIXED),
}
SEQUENCES = {"lstm_sequence": (lstm, (40, 2)), "lstm_sequence_any": (lstm, ANY)}
NEARLY = {"lstm_masked": (lstm_masked, True, "Scan", FIXED), "lstm_masked_loop": (lstm_masked, True, "Loop", ANY)}
SCANS = {"scan_8": (False, 0, 3), "scan_8_reverse": (False, 1, 3), "scan_8_lengths": (True, 0, 3), "scan_8_lengths_reverse": (True, 1, 3),
         "scan_8_any": (True, 0, "batch"), "scan_8_one": (True, 0, 1)}
WANTED = {**dict.fromkeys([*CELLS, *SEQUENCES], RECURRENCE), **dict.fromkeys([*NEARLY, *SCANS], LOOP)}


def model_of(name):
    rng = np.random.default_rng(sum(name.encode()))
    if name in SCANS:
        return scan_8(rng, name, *SCANS[name])
    if name in SEQUENCES:
        return network_of_sequences(rng, name, *SEQUENCES[name])
    return network(rng, name, *{**CELLS, **NEARLY}[name])


def inputs_of(model, number):
    rng, inputs = np.random.default_rng(number), {}
    unknown = {"time": [7, 1, 4][number], "batch": [3, 2, 1][number]}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [unknown.get(dim.dim_param) or dim.dim_value for dim in kind.shape.dim]
        if kind.elem_type == INT64:
            inputs[value.name] = np.array([4, 1, 2], np.int64)[: shape[0]] if number != 1 else np.array([1, 3, 4], np.int64)[: shape[0]]
        else:
            inputs[value.name] = rng.standard_normal(shape).astype(np.float32)
    return inputs


def write(folder, name):
    """The model, and three data sets with the outputs of ONNX Runtime."""
    model = model_of(name)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in model.graph.output]
    all_inputs = [inputs_of(model, number) for number in range(3)]
    data_sets = [(inputs, dict(zip(names, session.run(names, inputs)))) for inputs in all_inputs]
    write_model(folder, model, data_sets, {output: bounds_of(peak, 1e-5) for output, peak in peaks_of(data_sets).items()})


def fault_of(trtexec, folder, name):
    """Whether the kinds of the engine's layers, but for those in bodies, are not what is wanted."""
    model = model_of(name)
    flags = []
    if any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim):
        shapes = [f"{value}:{'x'.join(map(str, array.shape))}" for value, array in inputs_of(model, 0).items()]
        flags.append(f"--shapes={','.join(shapes)}")
    layers = [layer["LayerType"] for layer in engine_layers(trtexec, folder, *flags) if "Body" not in layer]
    others = {LOOP, RECURRENCE} - {WANTED[name]}
    if WANTED[name] not in layers or others & set(layers):
        return f"a {WANTED[name]} is wanted; its layers are {layers}"
    return None


if __name__ == "__main__":
    sys.exit(compare(__doc__, WANTED, write, fault_of))
