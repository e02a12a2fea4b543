#!/usr/bin/env python3
"""Decoders that run in an ONNX Loop against ONNX Runtime: decoders.py RUN_NETWORK FOLDER [NAME...] [-- FLAG...]

RUN_NETWORK runs the models that are made in FOLDER, all data sets in one engine. FLAGs are its own. 77, for skipped,
where packages are missing.
"""
import os
import subprocess
import sys
import warnings

from command_line import read_command_line

try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    import transformers
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

VOCABULARY = 100


def value(name, dtype, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def with_prefix(graph, prefix, kept):
    """Renames all values of a graph and of those within it, but those in `kept`."""
    def renamed(name):
        return name if not name or name in kept else prefix + name

    def rename(inner):
        for node in inner.node:
            node.name = prefix + node.name
            for names in (node.input, node.output):
                names[:] = [renamed(name) for name in names]
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    rename(attribute.g)
        for named in [*inner.initializer, *inner.input, *inner.output, *inner.value_info]:
            named.name = renamed(named.name)

    rename(graph)
    return graph


class Encoder(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, ids, mask):
        return self.network.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state


class Decoder(torch.nn.Module):
    """The scores of the next token."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, tokens, hidden, mask):
        outputs = self.network(decoder_input_ids=tokens, encoder_outputs=(hidden,), attention_mask=mask)
        return outputs.logits[:, -1]


def network_of(kind):
    if kind == "t5":
        return transformers.T5ForConditionalGeneration(transformers.T5Config(
            vocab_size=VOCABULARY, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2, num_heads=4,
            decoder_start_token_id=0, use_cache=False))
    return transformers.BartForConditionalGeneration(transformers.BartConfig(
        vocab_size=VOCABULARY, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=64,
        use_cache=False))


def export_part(module, inputs, names, output, path, dynamo):
    if dynamo:
        dynamic = torch.export.Dim.DYNAMIC
        how = {"dynamo": True, "external_data": False, "dynamic_shapes": tuple({0: dynamic, 1: dynamic} for _ in names)}
    else:
        axes = {name: {0: "b", 1: "t" if name == "tokens" else "s"} for name in names}
        how = {"dynamo": False, "opset_version": 18, "dynamic_axes": axes}
    torch.onnx.export(module, inputs, path, input_names=names, output_names=[output], **how)
    return onnx.load(path)


def step_graph(decoder):
    """An iteration: the best next token of each row, the end token where the row has ended; whether any goes on."""
    nodes = [
        helper.make_node("ArgMax", ["logits"], ["best"], axis=-1, keepdims=1),
        helper.make_node("Where", ["ended", "end", "best"], ["next"]),
        helper.make_node("Concat", ["tokens", "next"], ["tokens_out"], axis=1),
        helper.make_node("Equal", ["next", "end"], ["ends"]),
        helper.make_node("Or", ["ended", "ends"], ["ended_out"]),
        helper.make_node("Cast", ["ended_out"], ["flags"], to=TensorProto.INT32),
        helper.make_node("ReduceMin", ["flags"], ["all_flags"], keepdims=0),
        helper.make_node("Cast", ["all_flags"], ["all_ended"], to=TensorProto.BOOL),
        helper.make_node("Not", ["all_ended"], ["go_on"]),
        helper.make_node("ReduceMax", ["logits"], ["score"], keepdims=0),
    ]
    inputs = [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("tokens", TensorProto.INT64),
              value("ended", TensorProto.BOOL)]
    outputs = [value("go_on", TensorProto.BOOL, []), value("tokens_out", TensorProto.INT64),
               value("ended_out", TensorProto.BOOL), value("score", TensorProto.FLOAT, [])]
    return helper.make_graph([*decoder.node, *nodes], "step", inputs, outputs, list(decoder.initializer))


def greedy_search(kind, dynamo, path):
    network = network_of(kind).eval()
    for parameter in network.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, 0, 0.2)
    ids, mask = torch.randint(1, VOCABULARY, (2, 7)), torch.ones(2, 7, dtype=torch.long)
    tokens, hidden = torch.randint(1, VOCABULARY, (2, 5)), torch.randn(2, 7, 64)
    encoder = export_part(Encoder(network), (ids, mask), ["ids", "mask"], "hidden", path + ".part", dynamo)
    decoder = export_part(Decoder(network), (tokens, hidden, mask), ["tokens", "hidden", "mask"], "logits",
                          path + ".part", dynamo)
    os.remove(path + ".part")
    with_prefix(encoder.graph, "encoder.", {"ids", "mask", "hidden"})
    with_prefix(decoder.graph, "decoder.", {"tokens", "hidden", "mask", "logits"})
    nodes = [
        helper.make_node("Shape", ["ids"], ["ids_shape"]),
        helper.make_node("Gather", ["ids_shape", "first"], ["rows"]),
        helper.make_node("Concat", ["rows", "one"], ["start_shape"], axis=0),
        helper.make_node("ConstantOfShape", ["start_shape"], ["start"], value=constant("", np.array([0]))),
        helper.make_node("ConstantOfShape", ["start_shape"], ["none_ended"], value=constant("", np.array([False]))),
        helper.make_node("Loop", ["steps", "yes", "start", "none_ended"], ["result", "all_ended", "scores"],
                         body=step_graph(decoder.graph)),
    ]
    constants = [constant("end", [[network.config.eos_token_id]]), constant("yes", True), constant("one", [1]),
                 constant("first", [0])]
    inputs = [value("ids", TensorProto.INT64, ["b", "s"]), value("mask", TensorProto.INT64, ["b", "s"]),
              value("steps", TensorProto.INT64, [])]
    outputs = [value("result", TensorProto.INT64, ["b", "t"]), value("scores", TensorProto.FLOAT, ["n"])]
    graph = helper.make_graph([*encoder.graph.node, *nodes], "greedy_search", inputs, outputs,
                              [*encoder.graph.initializer, *constants])
    versions = {opset.domain: opset.version for opset in [*encoder.opset_import, *decoder.opset_import]}
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(decoder.functions))
    model.ir_version = 10
    onnx.save(model, path)


def greedy_inputs():
    generator = np.random.default_rng(0)
    for rows, length, steps in ((2, 7, 20), (1, 11, 12), (3, 5, 1)):
        mask = np.ones((rows, length), np.int64)
        mask[::2, -length // 3 :] = 0
        yield [("ids", generator.integers(2, VOCABULARY, (rows, length))), ("mask", mask),
               ("steps", np.array(steps, np.int64))]


class AttentionDecoder(torch.nn.Module):
    """As in Tacotron 2: attention by content and place over a memory, two recurrent cells, frames until a gate closes."""

    def __init__(self, memory=32, state=48, frame=16):
        super().__init__()
        self.before = torch.nn.Linear(frame, 24)
        self.attention_cell = torch.nn.LSTMCell(24 + memory, state)
        self.query = torch.nn.Linear(state, 20, bias=False)
        self.keys = torch.nn.Linear(memory, 20, bias=False)
        self.place = torch.nn.Conv1d(2, 6, 7, padding=3, bias=False)
        self.place_keys = torch.nn.Linear(6, 20, bias=False)
        self.score = torch.nn.Linear(20, 1, bias=False)
        self.decoder_cell = torch.nn.LSTMCell(state + memory, state)
        self.frame = torch.nn.Linear(state + memory, frame)
        self.gate = torch.nn.Linear(state + memory, 1)
        self.sizes = (memory, state, frame)

    def forward(self, memory, limit: int):
        rows, length = memory.size(0), memory.size(1)
        frame = torch.zeros(rows, self.sizes[2])
        h, c = torch.zeros(rows, self.sizes[1]), torch.zeros(rows, self.sizes[1])
        h2, c2 = torch.zeros(rows, self.sizes[1]), torch.zeros(rows, self.sizes[1])
        weights, sum_of_weights = torch.zeros(rows, length), torch.zeros(rows, length)
        context = torch.zeros(rows, self.sizes[0])
        keys = self.keys(memory)
        frames, alignments = torch.zeros(rows, 0, self.sizes[2]), torch.zeros(rows, 0, length)
        goes_on = torch.ones(1, dtype=torch.bool)
        i = 0
        while i < limit and bool(goes_on):
            h, c = self.attention_cell(torch.cat([torch.relu(self.before(frame)), context], 1), (h, c))
            place = self.place_keys(self.place(torch.stack([weights, sum_of_weights], 1)).transpose(1, 2))
            weights = torch.softmax(self.score(torch.tanh(self.query(h).unsqueeze(1) + keys + place)).squeeze(2), 1)
            sum_of_weights = sum_of_weights + weights
            context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            h2, c2 = self.decoder_cell(torch.cat([h, context], 1), (h2, c2))
            both = torch.cat([h2, context], 1)
            frame = self.frame(both)
            frames = torch.cat([frames, frame.unsqueeze(1)], 1)
            alignments = torch.cat([alignments, weights.unsqueeze(1)], 1)
            goes_on = torch.sigmoid(self.gate(both)).min() < 0.56
            i += 1
        return frames, alignments


def attention_decoder(path):
    decoder = AttentionDecoder().eval()
    for parameter in decoder.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, 0, 0.3)
    torch.onnx.export(torch.jit.script(decoder), (torch.randn(2, 9, 32), torch.tensor(40)), path,
                      input_names=["memory", "limit"], output_names=["frames", "alignments"], dynamo=False,
                      opset_version=17, dynamic_axes={"memory": {0: "b", 1: "t"}})


def decoder_inputs():
    generator = np.random.default_rng(1)
    for rows, length, limit in ((2, 9, 40), (1, 20, 7), (3, 5, 60)):
        yield [("memory", generator.standard_normal((rows, length, 32)).astype(np.float32)),
               ("limit", np.array(limit, np.int64))]


NETWORKS = {
    "t5": (lambda path: greedy_search("t5", False, path), greedy_inputs),
    "bart": (lambda path: greedy_search("bart", False, path), greedy_inputs),
    "bart_dynamo": (lambda path: greedy_search("bart", True, path), greedy_inputs),
    "tacotron": (attention_decoder, decoder_inputs),
}


def write_data_sets(path, folder, inputs_of):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for index, inputs in enumerate(inputs_of()):
        outputs = session.run(None, dict(inputs))
        data_set = os.path.join(folder, f"test_data_set_{index}")
        os.makedirs(data_set, exist_ok=True)
        for part, tensors in (("input", inputs), ("output", zip(names, outputs))):
            for i, (name, array) in enumerate(tensors):
                with open(os.path.join(data_set, f"{part}_{i}.pb"), "wb") as file:
                    file.write(constant(name, array).SerializeToString())
        print(os.path.basename(folder), index, *(output.shape for output in outputs))


def main():
    asked = read_command_line(__doc__)
    warnings.filterwarnings("ignore")
    agree = True
    for name in filter(asked.wants, NETWORKS):
        make, inputs_of = NETWORKS[name]
        torch.manual_seed(0)
        inside = os.path.join(asked.folder, name)
        os.makedirs(inside, exist_ok=True)
        path = os.path.join(inside, "model.onnx")
        if not os.path.exists(path):
            make(path)
        write_data_sets(path, inside, inputs_of)
        flags = asked.flags or ["--config", "noTF32", "--rel-to-max", "1e-4"]
        command = [asked.program, inside, "--allow-reference", *flags]
        agree &= subprocess.run(command).returncode == 0
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
