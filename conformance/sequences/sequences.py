#!/usr/bin/env python3
"""Sequences in loops and branches against ONNX Runtime.

usage: sequences.py PROGRAM [NAME...] [--keep FOLDER] [-- FLAG...]

PROGRAM is run_networks, which runs all data sets of a model in one engine; FLAGs are its own. A line above each model
says what it is for. 77, for skipped, where packages or a GPU are missing.
"""
import os
import sys

try:
    import numpy as np
    import onnx
    import onnx.parser
    import onnxruntime
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from model_runs import bounds_of, compare, peaks_of, write_model  # noqa: E402

HEADER = '<ir_version: 8, opset_import: ["" : 18]>\n'
# Constants that the models share.
NUMBERS = """
  zero = Constant <value = int64 {0}> ()
  one = Constant <value = int64 {1}> ()
  two = Constant <value = int64 {2}> ()
  last = Constant <value = int64 {-1}> ()
  at0 = Constant <value = int64[1] {0}> ()
  half = Constant <value = float {0.5}> ()
  yes = Constant <value = bool {1}> ()
"""
# An iteration that adds x times its number (from 1) to the end of s.
APPEND = """
    n = Add (i, one)
    f = Cast <to = 1> (n)
    e = Mul (x, f)
    s_out = SequenceInsert (s_in, e)
    c_out = Identity (c_in)
"""


def loop(nodes=APPEND, count="trips", condition="", inputs="s", formals="seq(float) s_in", results="seq(float) s_out", outputs="s2"):
    return f"""
  {outputs} = Loop <body = body (int64 i, bool c_in, {formals}) => (bool c_out, {results}) {{{nodes}}}> ({count}, {condition}, {inputs})
"""


def main_graph(nodes, outputs, inputs="float[n, 3] x, int64 trips"):
    return f"{HEADER}main ({inputs}) => ({outputs}) {{{NUMBERS}{nodes}}}"


EMPTY = "  s = SequenceEmpty ()\n"
MODELS = {
    # torch.stack(outs), the count an input: one stacked output.
    "stack": main_graph(EMPTY + loop() + "  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)\n", "float[a, b, c] y"),
    # The same along other axes.
    "stack_last": main_graph(EMPTY + loop() + "  y = ConcatFromSequence <axis = -1, new_axis = 1> (s2)\n", "float[a, b, c] y"),
    # torch.cat(outs, dim), the length and single elements.
    "cat": main_graph(EMPTY + loop() + """
  y = ConcatFromSequence <axis = 1> (s2)
  y0 = ConcatFromSequence <axis = 0> (s2)
  k = SequenceLength (s2)
  e1 = SequenceAt (s2, last)
  e2 = SequenceAt (s2, zero)
  m = Sub (k, one)
  e3 = SequenceAt (s2, m)
""", "float[a, b] y, float[e, f] y0, int64 k, float[g, h] e1, float[q, r] e2, float[u, v] e3"),
    # What stands before the loop and what is added behind it, in front and in the middle.
    "around": main_graph("""
  r = Relu (x)
  s = SequenceConstruct (x, r)
""" + loop() + """
  t = SequenceInsert (s2, r)
  u = SequenceInsert (t, x, zero)
  v = SequenceInsert (u, r, two)
  w = SequenceErase (v, one)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (w)
  k = SequenceLength (w)
  e = SequenceAt (w, two)
""", "float[a, b, c] y, int64 k, float[g, h] e"),
    # outs.append(f(outs[-1], outs[-2])).
    "recurrence": main_graph("""
  r = Relu (x)
  s = SequenceConstruct (x, r)
  minus2 = Constant <value = int64 {-2}> ()
""" + loop("""
    p = SequenceAt (s_in, last)
    q = SequenceAt (s_in, minus2)
    a = Mul (p, half)
    e = Add (a, q)
    s_out = SequenceInsert (s_in, e)
    c_out = Identity (c_in)
""") + "  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)\n", "float[a, b, c] y"),
    # The last element, by the iteration's number.
    "recurrence_by_number": main_graph("""
  s = SequenceConstruct (x)
""" + loop("""
    p = SequenceAt (s_in, i)
    e = Mul (p, half)
    s_out = SequenceInsert (s_in, e)
    c_out = Identity (c_in)
""") + "  y = ConcatFromSequence <axis = 0> (s2)\n", "float[a, b] y"),
    # Two sequences, a tensor beside them, a stacked output, two elements an iteration.
    "several": main_graph("""
  s = SequenceEmpty ()
  t = SequenceEmpty ()
""" + loop("""
    h_out = Mul (h_in, half)
    e = Add (h_out, x)
    s1 = SequenceInsert (s_in, h_in)
    s_out = SequenceInsert (s1, e)
    sum = ReduceSum <keepdims = 0> (e, at0)
    t_out = SequenceInsert (t_in, sum)
    k = SequenceLength (s_in)
    c_out = Identity (c_in)
""", inputs="s, x, t", formals="seq(float) s_in, float[n, 3] h_in, seq(float) t_in", results="seq(float) s_out, float[n, 3] h_out, seq(float) t_out, int64 k", outputs="s2, h2, t2, ks") + """
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)
  z = ConcatFromSequence <axis = 1, new_axis = 1> (t2)
""", "float[a, b, c] y, float[n, 3] h2, float[e, f] z, int64[k] ks"),
    # A while loop: the condition is of data.
    "while": main_graph(EMPTY + loop("""
    h_out = Mul (h_in, half)
    s_out = SequenceInsert (s_in, h_out)
    m = ReduceMax <keepdims = 0> (h_out)
    limit = Constant <value = float {0.07}> ()
    c_out = Greater (m, limit)
""", count="", condition="yes", inputs="s, x", formals="seq(float) s_in, float[n, 3] h_in", results="seq(float) s_out, float[n, 3] h_out", outputs="s2, h2") + """
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)
  k = SequenceLength (s2)
""", "float[a, b, c] y, int64 k"),
    # Loops within loops that add to one sequence, and to one of their own.
    "nested": main_graph(EMPTY + loop("""
    own = SequenceEmpty ()
    three = Constant <value = int64 {300}> ()
    few = Min (three, n_extent)
""" + loop("""
      n1 = Add (j, one)
      g = Cast <to = 1> (n1)
      e = Mul (x, g)
      t_out = SequenceInsert (t_in, e)
      own_out = SequenceInsert (own_in, g)
      d_out = Identity (d_in)
""", count="few", inputs="s_in, own", formals="seq(float) t_in, seq(float) own_in", results="seq(float) t_out, seq(float) own_out", outputs="s_out, own2").replace("bool c_in", "bool d_in").replace("bool c_out", "bool d_out").replace("int64 i", "int64 j") + """
    all = ConcatFromSequence <axis = 0, new_axis = 1> (own2)
    total = ReduceSum <keepdims = 0> (all, at0)
    h_out = Add (h_in, total)
    c_out = Identity (c_in)
""", inputs="s, half", formals="seq(float) s_in, float h_in", results="seq(float) s_out, float h_out", outputs="s2, h2").replace("  s2, h2 =", "  shape = Shape (x)\n  n_extent = Gather (shape, zero)\n  s2, h2 =") + """
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)
""", "float[a, b, c] y, float h2"),
    # An element in some iterations only: all elements are one tensor that grows.
    "sometimes": main_graph(EMPTY + loop("""
    odd = Mod (i, two)
    is_odd = Cast <to = 9> (odd)
    f = Cast <to = 1> (i)
    s_out = If <then_branch = t () => (seq(float) a) { e = Mul (x, f)  a = SequenceInsert (s_in, e) },
                else_branch = o () => (seq(float) b) { b = Identity (s_in) }> (is_odd)
    c_out = Identity (c_in)
""") + """
  z = SequenceInsert (s2, x)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (z)
  k = SequenceLength (s2)
""", "float[a, b, c] y, int64 k"),
    # The same by data.
    "sometimes_by_data": main_graph(EMPTY + loop("""
    f = Cast <to = 1> (i)
    e = Mul (x, f)
    m = Sin (e)
    p = ReduceMax <keepdims = 0> (m)
    is_large = Greater (p, half)
    s_out = If <then_branch = t () => (seq(float) a) { a = SequenceInsert (s_in, e) },
                else_branch = o () => (seq(float) b) { b = Identity (s_in) }> (is_large)
    c_out = Identity (c_in)
""") + """
  z = SequenceInsert (s2, x)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (z)
""", "float[a, b, c] y"),
    # Any earlier element, by a position of the run.
    "any_element": main_graph("""
  s = SequenceConstruct (x)
""" + loop("""
    p = Div (i, two)
    q = SequenceAt (s_in, p)
    e = Sin (q)
    e1 = Add (e, half)
    s_out = SequenceInsert (s_in, e1)
    c_out = Identity (c_in)
""") + "  y = ConcatFromSequence <axis = 0, new_axis = 1> (s2)\n", "float[a, b, c] y"),
    # torch.cat of pieces whose lengths data decides, behind one that is not of the loop.
    "pieces": main_graph("""
  s = SequenceConstruct (x)
""" + loop("""
    f = Cast <to = 1> (i)
    e = Mul (x, f)
    m = ReduceMax <axes = [1], keepdims = 0> (e)
    large = Greater (m, half)
    rows = Compress <axis = 0> (e, large)
    s_out = SequenceInsert (s_in, rows)
    c_out = Identity (c_in)
""") + """
  y = ConcatFromSequence <axis = 0> (s2)
  k = SequenceLength (s2)
  first = SequenceAt (s2, zero)
""", "float[a, b] y, int64 k, float[c, d] first").replace('"" : 18', '"" : 17'),
    # The same while a condition of data holds, two pieces an iteration, along the last axis.
    "pieces_while": main_graph(EMPTY + loop("""
    h_out = Mul (h_in, half)
    n1 = Add (i, one)
    stop = Unsqueeze (n1, at0)
    at1 = Constant <value = int64[1] {1}> ()
    e = Slice (h_in, at0, stop, at1)
    s1 = SequenceInsert (s_in, e)
    s_out = SequenceInsert (s1, h_out)
    k = SequenceLength (s_in)
    m = ReduceMax <keepdims = 0> (h_out)
    limit = Constant <value = float {0.07}> ()
    c_out = Greater (m, limit)
""", count="", condition="yes", inputs="s, x", formals="seq(float) s_in, float[n, 3] h_in", results="seq(float) s_out, float[n, 3] h_out, int64 k", outputs="s2, h2, ks") + """
  y = ConcatFromSequence <axis = -1> (s2)
  k = SequenceLength (s2)
""", "float[a, b] y, int64 k, int64[c] ks"),
    # Pieces that a loop within a loop makes.
    "pieces_nested": main_graph(EMPTY + loop("""
""" + loop("""
      n1 = Add (j, i)
      stop = Unsqueeze (n1, at0)
      e = Slice (x, at0, stop, at0)
      t_out = SequenceInsert (t_in, e)
      d_out = Identity (d_in)
""", inputs="s_in", formals="seq(float) t_in", results="seq(float) t_out", outputs="s_out").replace("bool c_in", "bool d_in").replace("bool c_out", "bool d_out").replace("int64 i", "int64 j") + """
    c_out = Identity (c_in)
""") + "  y = ConcatFromSequence <axis = 0> (s2)\n", "float[a, b] y"),
    # Few iterations, of constant number: each with another shape.
    "unrolled": main_graph(EMPTY + """
  five = Constant <value = int64 {5}> ()
""" + loop("""
    n = Add (i, one)
    stop = Unsqueeze (n, at0)
    e = Slice (x, at0, stop, at0)
    s_out = SequenceInsert (s_in, e)
    c_out = Identity (c_in)
""", count="five") + """
  y = ConcatFromSequence <axis = 0> (s2)
  e = SequenceAt (s2, two)
""", "float[a, b] y, float[c, d] e", "float[7, 3] x"),
    # A known sequence walked by a loop, whose elements have other shapes in each iteration.
    "walked": main_graph("""
  parts = Constant <value = int64[4] {1, 4, 1, 1}> ()
  s00 = SplitToSequence <axis = 0> (x, parts)
  s0 = SequenceErase (s00, two)
  k = SequenceLength (s0)
  s = SequenceEmpty ()
""" + loop("""
    p = SequenceAt (s0, i)
    e = ReduceSum <keepdims = 1> (p, at0)
    s_out = SequenceInsert (s_in, e)
    c_out = Identity (c_in)
""", count="k") + "  y = ConcatFromSequence <axis = 0> (s2)\n", "float[a, b] y", "float[7, 3] x"),
    # The rows of an input, as many as there are, without one in the middle and with another one there.
    "rows_cut": main_graph("""
  rows = SplitToSequence <axis = 0, keepdims = 0> (x)
  row = SequenceAt (rows, zero)
  fewer = SequenceErase (rows, one)
  more = SequenceInsert (rows, row, one)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (fewer)
  z = ConcatFromSequence <axis = 0, new_axis = 1> (more)
""", "float[a, b] y, float[c, d] z", "float[n, 3] x"),
    # The rows of an input, as many as there are, mapped, and joined with what a loop made.
    "map_of_rows": main_graph("""
  rows = SplitToSequence <axis = 0, keepdims = 0> (x)
  m = SequenceMap <body = f (float[3] r, float h) => (float[3] a, float b) { t = Mul (r, h)  a = Sin (t)  b = ReduceSum <keepdims = 0> (a) }> (rows, half)
""".replace("  m =", "  m, sums =") + """
  y = ConcatFromSequence <axis = 0, new_axis = 1> (m)
  z = ConcatFromSequence <axis = 0, new_axis = 1> (sums)
""", "float[a, b] y, float[c] z", "float[n, 3] x"),
    # Elements of several shapes, two sequences side by side, a value from around.
    "map_of_known": main_graph("""
  parts = Constant <value = int64[3] {1, 4, 2}> ()
  s0 = SplitToSequence <axis = 0> (x, parts)
  r = Relu (x)
  s1 = SplitToSequence <axis = 0> (r, parts)
  m = SequenceMap <body = f (float[k, 3] p, float[k, 3] q, float h) => (float[k, 3] a) { t = Mul (q, h)  u = Add (t, p)  a = Mul (u, bias) }> (s0, s1, half)
  y = ConcatFromSequence <axis = 0> (m)
""".replace("  r = Relu", "  bias = Exp (half)\n  r = Relu"), "float[a, b] y", "float[7, 3] x"),
    # Over what a loop made.
    "map_of_gathered": main_graph("""
  s = SequenceConstruct (x)
""" + loop() + """
  m = SequenceMap <body = f (float[n, 3] p) => (float[n, 3] a) { t = Sin (p)  a = Add (t, half) }> (s2)
  y = ConcatFromSequence <axis = 1, new_axis = 1> (m)
""", "float[a, b, c] y"),
    # Branches that give as many elements.
    "branches": main_graph("""
  sum = ReduceSum <keepdims = 0> (x)
  c = Greater (sum, half)
  s0 = SequenceConstruct (x)
  s = If <then_branch = t () => (seq(float) a) { r = Relu (x)  q = Sin (x)  a1 = SequenceInsert (s0, r)  a = SequenceInsert (a1, q) },
          else_branch = o () => (seq(float) b) { r2 = Neg (x)  b1 = SequenceInsert (s0, r2)  b = SequenceInsert (b1, x) }> (c)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
  e = SequenceAt (s, one)
""", "float[a, b, c] y, float[d, f] e", "float[n, 3] x"),
    # Branches that do not, and one that gives none.
    "branches_of_lengths": main_graph("""
  sum = ReduceSum <keepdims = 0> (x)
  c = Greater (sum, half)
  s = If <then_branch = t () => (seq(float) a) { r = Relu (x)  a = SequenceConstruct (r, x, r) },
          else_branch = o () => (seq(float) b) { b = SequenceConstruct (x) }> (c)
  e0 = SequenceEmpty ()
  s1 = If <then_branch = t1 () => (seq(float) a1) { a1 = SequenceConstruct (x, x) },
           else_branch = o1 () => (seq(float) b1) { b1 = Identity (e0) }> (c)
  z = SequenceInsert (s1, x)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
  w = ConcatFromSequence <axis = 0, new_axis = 1> (z)
  k = SequenceLength (s1)
""", "float[a, b, c] y, float[d, e, f] w, int64 k", "float[n, 3] x"),
    # Optionals that branches give, and a loop carries.
    "optionals": main_graph("""
  sum = ReduceSum <keepdims = 0> (x)
  c = Greater (sum, half)
  o = If <then_branch = t () => (optional(float[n, 3]) a) { r = Relu (x)  a = Optional (r) },
          else_branch = o () => (optional(float[n, 3]) b) { b = Optional (x) }> (c)
  h = OptionalHasElement (o)
  g = OptionalGetElement (o)
  y = Add (g, x)
""", "float[a, b] y, bool h", "float[n, 3] x"),
}


def inputs_of(model, number):
    """Random inputs; the set's number decides extents and counts."""
    rng = np.random.default_rng(number)
    inputs = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [dim.dim_value or 4 - number for dim in kind.shape.dim]
        if kind.elem_type == onnx.TensorProto.INT64:
            inputs[value.name] = np.array([4, 1, 7][number], np.int64)
        else:
            inputs[value.name] = rng.standard_normal(shape).astype(np.float32)
    return inputs


def write(folder, name):
    """The model, and three data sets with the outputs of ONNX Runtime."""
    model = onnx.parser.parse_model(MODELS[name])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in model.graph.output]
    all_inputs = [inputs_of(model, number) for number in range(3)]
    data_sets = [(inputs, dict(zip(names, session.run(None, inputs)))) for inputs in all_inputs]
    write_model(folder, model, data_sets, {output: bounds_of(peak, 1e-5) for output, peak in peaks_of(data_sets).items()})


if __name__ == "__main__":
    sys.exit(compare(__doc__, MODELS, write))
