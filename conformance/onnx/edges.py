"""Node tests with sequences or optionals at their edges, which no network of TensorRT can have: in a copy of the case
each element is an input or an output of its own, and nodes make the sequence of the inputs and take it apart again.
"""
import os

# What the import has to know, because it decides what is in a sequence: these inputs become constants.
CONSTANTS = {
    "test_if_opt": ["cond"],
    "test_loop13_seq": ["trip_count", "cond"],
    "test_loop16_seq_none": ["trip_count", "cond"],
    "test_sequence_insert_at_front": ["position"],
    "test_split_to_sequence_1": ["split"],
}


def has_lists(model):
    values = [*model.graph.input, *model.graph.output]
    return any(value.type.WhichOneof("value") in ("sequence_type", "optional_type") for value in values)


def read(path, value):
    """What a file holds: a TensorProto, a list of them, or None, and the kind of the value."""
    import onnx

    messages = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}
    kind = value.type.WhichOneof("value")
    with open(path, "rb") as file:
        data = messages[kind].FromString(file.read())
    if kind == "optional_type":
        held = value.type.optional_type.elem_type.WhichOneof("value")
        if held == "sequence_type" and data.elem_type == onnx.OptionalProto.SEQUENCE:
            return list(data.sequence_value.tensor_values), "optional sequence"
        return (data.tensor_value, "optional") if data.elem_type == onnx.OptionalProto.TENSOR else (None, "optional")
    return (list(data.tensor_values), "sequence") if kind == "sequence_type" else (data, "tensor")


class TakenApart:
    """A copy of a model, and the tensors at its edges."""

    def __init__(self, model, name):
        import onnx

        self.model, self.constants = onnx.ModelProto(), CONSTANTS.get(name, [])
        self.model.CopyFrom(model)
        graph = self.model.graph
        for values in (graph.input, graph.output):
            del values[:]
        self.nodes = list(graph.node)
        self.inputs, self.outputs, self.before, self.after = [], [], [], []

    def _info(self, name, tensor):
        from onnx import helper

        return helper.make_tensor_value_info(name, tensor.data_type, [f"{name}_{axis}" for axis in range(len(tensor.dims))])

    def _input(self, name, tensor):
        self.model.graph.input.append(self._info(name, tensor))
        self.inputs.append(tensor)
        return name

    def add_input(self, value, data, kind):
        from onnx import helper

        name = value.name
        if kind == "tensor":
            if name in self.constants:
                self.before.append(helper.make_node("Constant", [], [name], value=data))
            else:
                self.model.graph.input.append(value)
                self.inputs.append(data)
        elif kind == "optional":
            read = [self._input(name + "_element", data)] if data is not None else []
            held = {} if read else {"type": value.type.optional_type.elem_type}
            self.before.append(helper.make_node("Optional", read, [name], **held))
        else:
            made = name if kind == "sequence" else name + "_sequence"
            elements = [self._input(f"{name}_{i}", tensor) for i, tensor in enumerate(data)]
            self.before.append(helper.make_node("SequenceConstruct" if elements else "SequenceEmpty", elements, [made]))
            if made != name:
                self.before.append(helper.make_node("Optional", [made], [name]))

    def _output(self, name, tensor, *nodes):
        self.after.extend(nodes)
        self.model.graph.output.append(self._info(name, tensor))
        self.outputs.append(tensor)

    def add_output(self, value, data, kind):
        import numpy as np
        from onnx import helper, numpy_helper

        name = value.name
        if kind == "tensor":
            self.model.graph.output.append(value)
            self.outputs.append(data)
            return
        if kind.startswith("optional"):
            has = numpy_helper.from_array(np.array(data is not None))
            self._output(name + "_has", has, helper.make_node("OptionalHasElement", [name], [name + "_has"]))
            if data is None:
                return
            got = name + "_element"
            get = helper.make_node("OptionalGetElement", [name], [got])
            if kind == "optional":
                return self._output(got, data, get)
            self.after.append(get)
            name = got
        length = numpy_helper.from_array(np.array(len(data), np.int64))
        self._output(name + "_length", length, helper.make_node("SequenceLength", [name], [name + "_length"]))
        for i, tensor in enumerate(data):
            at = helper.make_node("Constant", [], [f"{name}_at_{i}"], value_int=i)
            self._output(f"{name}_{i}", tensor, at, helper.make_node("SequenceAt", [name, f"{name}_at_{i}"], [f"{name}_{i}"]))

    def write(self, folder):
        import onnx

        del self.model.graph.node[:]
        self.model.graph.node.extend([*self.before, *self.nodes, *self.after])
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data)
        onnx.save(self.model, os.path.join(folder, "model.onnx"))
        for what, tensors in (("input", self.inputs), ("output", self.outputs)):
            for i, tensor in enumerate(tensors):
                with open(os.path.join(data, f"{what}_{i}.pb"), "wb") as file:
                    file.write(tensor.SerializeToString())


def take_apart(folder, copies):
    """Fills `copies` with a link to each case in `folder`, or a copy of it without lists at its edges. Returns the names
    of the copies."""
    import onnx

    changed = []
    for name in sorted(os.listdir(folder)):
        case = os.path.join(folder, name)
        path = os.path.join(case, "model.onnx")
        if not os.path.exists(path):
            continue
        model = onnx.load(path)
        if not has_lists(model):
            os.symlink(case, os.path.join(copies, name))
            continue
        parts = TakenApart(model, name)
        for values, what, add in ((model.graph.input, "input", parts.add_input), (model.graph.output, "output", parts.add_output)):
            for i, value in enumerate(values):
                add(value, *read(os.path.join(case, "test_data_set_0", f"{what}_{i}.pb"), value))
        parts.write(os.path.join(copies, name))
        changed.append(name)
    return changed
