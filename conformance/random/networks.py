"""Networks that grow at random: every node is run by ONNX Runtime when it is added, at each of the network's sizes.

So a node's author (operators.py) needs no rule of shapes: what comes out is looked at, and a node that ONNX Runtime
refuses, or that makes numbers that are not finite or too large, is not added (`Skip`).
"""
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LARGEST = 300.0  # magnitude of a float: halves have to hold it
FLOATS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
OPSETS = (13, 14, 17, 18, 19, 21, 23)


class Skip(Exception):
    """A node that cannot be."""


class Value:
    """A tensor of the network with what it is at each size; a constant is the same at all."""

    is_list = False

    def __init__(self, name, arrays, is_constant=False, from_floats=False):
        self.name, self.arrays, self.is_constant = name, [np.asarray(array) for array in arrays], is_constant
        self.from_floats = from_floats or self.is_float

    dtype = property(lambda self: self.arrays[0].dtype)
    shape = property(lambda self: self.arrays[0].shape)
    rank = property(lambda self: self.arrays[0].ndim)
    is_float = property(lambda self: self.arrays[0].dtype == np.float32)
    is_integer = property(lambda self: self.arrays[0].dtype in (np.int32, np.int64))
    is_bool = property(lambda self: self.arrays[0].dtype == np.bool_)
    is_empty = property(lambda self: any(array.size == 0 for array in self.arrays))
    shapes = property(lambda self: [array.shape for array in self.arrays])

    def varies(self, axis):
        return len({array.shape[axis] for array in self.arrays}) > 1

    def fixed_axes(self):
        return [axis for axis in range(self.rank) if not self.varies(axis)]


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def element_type(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice(OPSETS))
        self.is_large = self.chance(0.1)  # other kernels run then
        self.most_elements = 400_000 if self.is_large else 40_000  # of a tensor
        self.sizes = self.random_sizes()
        self.inputs, self.constants, self.nodes, self.values = [], [], [], []
        self.prefix, self.num_bodies = "", 0  # of names; those of bodies have others
        self.float32_constants = set()  # names of those that stay so in a network of halves
        self.distinct_symbols = self.chance(0.2)

    # Choices.
    def chance(self, probability):
        return self.rng.random() < probability

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def integer(self, low, high):
        """Both included."""
        return int(self.rng.integers(low, high + 1))

    def sized(self, small, large):
        return self.choice(large if self.is_large else small)

    def extent(self, most=70):
        kind = self.rng.random()
        if self.is_large and kind < 0.6:
            return self.choice((32, 64, 96, 128, 129, 192, 256, 300))
        if kind < 0.2:
            return 1
        if kind < 0.55:
            return min(self.choice((2, 3, 5, 7, 9, 13)), most)
        if kind < 0.8:
            return min(self.choice((4, 8, 16, 32, 64)), most)
        return 0 if kind > 0.998 else self.integer(1, most)

    def random_sizes(self):
        """Extents of the axis that varies: the optimum, then others; one if nothing varies."""
        if self.chance(0.4):
            return (self.extent(16),)
        if self.is_large:
            return self.choice(((8, 1, 16), (2, 1, 3), (1, 1, 2)))
        return self.choice(((3, 1, 8), (1, 1, 4), (2, 1, 2), (8, 3, 33), (16, 1, 64), (4, 0, 5) if self.chance(0.1) else (5, 2, 6)))

    def shape(self, rank):
        """With None for the axis that varies."""
        shape = [self.extent() for _ in range(rank)]
        if rank and len(self.sizes) > 1 and self.chance(0.8):
            shape[0 if self.chance(0.75) else self.integer(0, rank - 1)] = None
        while np.prod([max(self.sizes) if d is None else d for d in shape]) > self.most_elements // 2:
            largest = max((d, i) for i, d in enumerate(shape) if d is not None)[1]
            shape[largest] = max(1, shape[largest] // 2)
        return shape

    def floats(self, shape, scale=1.0):
        """Returns numbers of so few digits that halves of both kinds hold them; `scale` is a power of two."""
        return (np.round(np.clip(self.rng.standard_normal(shape), -3.9, 3.9) * 64) / 64 * scale).astype(np.float32)

    def numbers(self, shape, dtype):
        if dtype == np.float32:
            return self.floats(shape)
        return self.rng.integers(0, 2, shape).astype(np.bool_) if dtype == np.bool_ else self.rng.integers(-9, 10, shape).astype(dtype)

    # Values.
    def constant(self, array, keeps_type=False):
        array = np.asarray(array)
        value = Value(f"{self.prefix}c{len(self.constants)}", [array] * len(self.sizes), is_constant=True)
        self.constants.append(value)
        if keeps_type:
            self.float32_constants.add(value.name)
        return value

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def input(self, shape, dtype=np.float32):
        """`shape` has None where it varies, or is a list of shapes, one a size."""
        shapes = shape if shape and isinstance(shape[0], tuple) else [tuple(size if d is None else d for d in shape) for size in self.sizes]
        value = Value(f"x{len(self.inputs)}", [self.numbers(s, dtype) for s in shapes])
        self.inputs.append(value)
        self.values.append(value)
        return value

    def pick(self, test, make=None):
        """A value, mostly a late one; a new input made by `make` where there is none."""
        found = [value for value in self.values if test(value)]
        if make and len(self.inputs) < 4 and (not found or self.chance(0.08)):
            value = make()
            if test(value):
                return value
        if not found:
            raise Skip
        value = found[-1 - min(int(self.rng.exponential(1.5)), len(found) - 1)]
        return self.frozen(value) if self.chance(0.06) else value

    def frozen(self, like):
        """A constant where a value could be. What varies is cut to the size of the run, so that nothing folds it."""
        most = self.constant(self.numbers(np.max(like.shapes, axis=0) if like.rank else [], like.dtype))
        if len(set(like.shapes)) == 1:
            return most
        return self.add("Slice", [most, self.ints(*[0] * like.rank), self.add("Shape", [like])])

    def add(self, op_type, inputs, count=1, captured=(), **attributes):
        """Inputs are values, or None for those left out; `captured` are values that bodies in attributes read. Returns
        the output, or a list of several."""
        outputs = [f"{self.prefix}v{len(self.nodes)}_{i}" for i in range(count)]
        while inputs[-1] is None:  # ONNX Runtime crashes on a last input without a name
            inputs = inputs[:-1]
        names = [x.name if x else "" for x in inputs]
        node = helper.make_node(op_type, names, outputs, f"{self.prefix}{op_type}_{len(self.nodes)}", **attributes)
        present = {x.name: x for x in [*inputs, *captured] if x}.values()
        arrays = self.run_node(node, present, outputs)
        from_floats = any(x.from_floats for x in present) and op_type not in ("Shape", "Size")
        values = [Value(name, [at_size[i] for at_size in arrays], from_floats=from_floats) for i, name in enumerate(outputs)]
        for value in values:
            self.accept(value)
        self.nodes.append((node, list(present), values))
        self.values.extend(values)
        return values[0] if count == 1 else values

    def accept(self, value):
        for array in value.arrays:
            if array.size > self.most_elements or array.ndim > 6 or (array.size == 0 and 0 not in self.sizes and self.chance(0.9)):
                raise Skip
            if value.is_float and array.size and not np.abs(array).max() <= LARGEST:  # NaN, too
                raise Skip
            if value.is_integer and array.size and np.abs(array).max() > 2**20:
                raise Skip

    def run_node(self, node, present, outputs):
        def dims(x):  # Resize counts its sizes
            return list(x.shape) if x.rank == 1 and not x.varies(0) else [None] * x.rank

        fed = [x for x in present if not x.is_constant]
        graph = helper.make_graph(
            [node], "node", [helper.make_tensor_value_info(x.name, element_type(x.arrays[0]), dims(x)) for x in fed],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(x.arrays[0], x.name) for x in present if x.is_constant])
        try:
            session = session_of(self.model_of(graph))
            return [session.run(None, {x.name: x.arrays[i] for x in fed}) for i in range(len(self.sizes))]
        except Exception as refusal:
            raise Skip from refusal

    def model_of(self, graph):
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)

    # The whole network.
    def drop_unused(self, outputs):
        """Leaves only what the outputs need."""
        needed, nodes = {value.name for value in outputs}, []
        for node in reversed(self.nodes):
            if any(value.name in needed for value in node[2]):
                nodes.insert(0, node)
                needed.update(value.name for value in node[1])
        self.nodes = nodes
        self.inputs = [value for value in self.inputs if value.name in needed]
        self.constants = [value for value in self.constants if value.name in needed]

    def dims_of(self, value):
        return [f"n{'_'.join(str(s[axis]) for s in value.shapes)}" + (f"_{value.name}" if self.distinct_symbols else "")
                if value.varies(axis) else value.shape[axis] for axis in range(value.rank)]

    def model(self, outputs, float_type="f32", noise=None):
        """`noise` makes weights of other weights."""
        def written(array, name):
            array = noise(array) if noise and array.dtype == np.float32 and name not in self.float32_constants else array
            return tensor_proto(array, name, "f32" if name in self.float32_constants else float_type)

        def info(value, dims):
            kind = FLOATS[float_type] if value.is_float else element_type(value.arrays[0])
            return helper.make_tensor_value_info(value.name, kind, dims)

        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node, _, _ in self.nodes]

        def convert(nodes):
            """Gives nodes, and those in their bodies, the type of floats that the network has."""
            for node in nodes:
                if node.op_type == "ConstantOfShape":
                    node.attribute.append(helper.make_attribute("value", tensor_proto(np.zeros(1, np.float32), "", float_type)))
                if node.op_type == "SequenceEmpty":
                    node.attribute.append(helper.make_attribute("dtype", FLOATS[float_type]))
                for attribute in node.attribute:
                    if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                        attribute.i = FLOATS[float_type]
                    if attribute.type == onnx.AttributeProto.GRAPH:
                        convert_body(attribute.g)

        def convert_body(graph):
            for constant in graph.initializer:
                constant.CopyFrom(written(numpy_helper.to_array(constant), constant.name))
            for value in [*graph.input, *graph.output]:
                is_list = value.type.WhichOneof("value") == "sequence_type"
                kind = value.type.sequence_type.elem_type.tensor_type if is_list else value.type.tensor_type
                if kind.elem_type == TensorProto.FLOAT:
                    kind.elem_type = FLOATS[float_type]
            convert(graph.node)

        convert(nodes)
        graph = helper.make_graph(nodes, "random", [info(x, self.dims_of(x)) for x in self.inputs], [info(y, [None] * y.rank) for y in outputs],
                                  [written(c.arrays[0], c.name) for c in self.constants])
        for name, y in zip(graph.output, outputs):
            for dim, text in zip(name.type.tensor_type.shape.dim, self.dims_of(y)):
                if isinstance(text, int):
                    dim.dim_value = text
        return self.model_of(graph)


def tensor_proto(array, name, float_type):
    if array.dtype != np.float32 or float_type == "f32":
        return numpy_helper.from_array(np.asarray(array, order="C"), name)
    if float_type == "f16":
        return numpy_helper.from_array(np.asarray(array, order="C").astype(np.float16), name)
    bits = np.asarray(array, order="C").view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")
    return TensorProto(name=name, data_type=TensorProto.BFLOAT16, dims=array.shape, raw_data=rounded.tobytes())


def spread_under(network, outputs, relative, times):
    """How far outputs move, at each size, when inputs and weights move by `relative`; the outputs without any."""
    def run(noise):
        names = [y.name for y in outputs]
        fed = [{x.name: noise(x.arrays[i]) if noise and x.is_float else x.arrays[i] for x in network.inputs}
               for i in range(len(network.sizes))]
        try:
            session = session_of(network.model(outputs, noise=noise))
            return [session.run(names, feed) for feed in fed]
        except Exception as refusal:  # shapes that it could not follow, or that noise decides
            raise Skip from refusal

    rng = np.random.default_rng(1)
    noisy = lambda array: np.asarray(array * (1 + relative * rng.uniform(-1, 1, array.shape)), np.float32)
    plain = run(None)
    moved = np.zeros(len(outputs))
    for _ in range(times):
        for at_size, expected in zip(run(noisy), plain):
            for k, (a, e) in enumerate(zip(at_size, expected)):
                if a.shape != e.shape:
                    raise Skip  # noise decides a size
                if a.size:
                    moved[k] = max(moved[k], np.abs(a.astype(np.float64) - e.astype(np.float64)).max())
    return moved, plain


def bounds_of(network, outputs):
    """Returns, for each output, the largest difference in single precision and in halves; None where it cannot be said.

    Half a dozen times what noise of the type's size in inputs and weights does, and a share of the largest element."""
    moved, plain = spread_under(network, outputs, 1e-6, 3)
    moved_in_halves, _ = spread_under(network, outputs, 2e-3, 3)
    bounds = {}
    for k, y in enumerate(outputs):
        largest = max((np.abs(array.astype(np.float64)).max() for array in y.arrays if array.size), default=0)
        if not y.is_float:
            bounds[y.name] = {"single": None if moved[k] else 0, "half": None if y.from_floats else 0}
            continue
        if any(at_size[k].shape != y.arrays[i].shape for i, at_size in enumerate(plain)):
            raise Skip  # a size is decided by numbers that ONNX Runtime's optimisations move
        off = max((np.abs(at_size[k] - y.arrays[i]).max() for i, at_size in enumerate(plain) if at_size[k].size), default=0)
        if off > 1e-4 * largest + 10 * moved[k] + 1e-6:
            raise Skip  # ONNX Runtime is not of one mind
        bounds[y.name] = {"single": 3e-5 * largest + 10 * moved[k] + 1e-6, "half": 1e-2 * largest + 6 * moved_in_halves[k] + 1e-3}
    return bounds


def write(network, outputs, bounds, folder, float_type):
    os.makedirs(folder, exist_ok=True)
    onnx.save(network.model(outputs, float_type), os.path.join(folder, "model.onnx"))
    for bound in bounds.values():
        bound["bf16"] = bound["half"] and 8 * bound["half"]  # three digits less
        if float_type != "f32":
            bound["single"] = bound["half"] = bound["half" if float_type == "f16" else "bf16"]
    with open(os.path.join(folder, "bounds.json"), "w") as file:
        json.dump(bounds, file)
    for i in range(len(network.sizes)):
        data_set = os.path.join(folder, f"test_data_set_{i}")
        os.makedirs(data_set, exist_ok=True)
        for kind, values in (("input", network.inputs), ("output", outputs)):
            for k, value in enumerate(values):
                with open(os.path.join(data_set, f"{kind}_{k}.pb"), "wb") as file:
                    file.write(tensor_proto(value.arrays[i], value.name, float_type).SerializeToString())


def generate(seed, folder, operators):
    """Writes the network of a seed; false where none came of it."""
    network = Network(seed)
    target = network.integer(3, 6 if network.is_large else 12)
    names, weights = zip(*operators.items())
    weights = np.array(weights) / sum(weights)
    for _ in range(4 * target):
        if len(network.nodes) >= target:
            break
        try:
            names[int(network.rng.choice(len(names), p=weights))](network)
        except Skip:
            pass  # what a pattern had begun may stay
    read = {x.name for _, inputs, _ in network.nodes for x in inputs}
    produced = [value for _, _, values in network.nodes for value in values if not value.is_list]
    produced = [value for value in produced if value.dtype != np.float64]  # which an engine's outputs cannot have
    outputs = [value for value in produced if value.name not in read or network.chance(0.08)][-6:]
    if not outputs:
        return False
    network.drop_unused(outputs)
    float_type = str(network.rng.choice(("f32", "f16", "bf16"), p=(0.75, 0.2, 0.05)))
    try:
        if float_type == "bf16":  # whose noise may decide sizes that that of FP16 does not
            spread_under(network, outputs, 1.6e-2, 3)
        write(network, outputs, bounds_of(network, outputs), folder, float_type)
    except Skip:
        return False
    return True
