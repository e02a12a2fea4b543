"""ONNX models as bytes, written by hand: tests of programs need no package for it."""
import struct


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    """A field of a message of protobuf: a number, a text, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def float_tensor(name, dims, *elements):
    return b"".join(field(1, extent) for extent in dims) + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(elements)}f", *elements))


def int8_tensor(name, dims, *elements):
    return b"".join(field(1, extent) for extent in dims) + field(2, 3) + field(8, name) + field(9, struct.pack(f"<{len(elements)}b", *elements))


def int64_tensor(name, *elements):
    """A scalar."""
    return field(2, 7) + field(8, name) + field(9, struct.pack(f"<{len(elements)}q", *elements))


def node(op, reads, makes, name=None, body=None):
    """A node; `body` is a graph for its attribute of that name."""
    fields = [*(field(1, x) for x in reads), *(field(2, x) for x in makes), field(3, name or makes[0] + "_node"), field(4, op)]
    return b"".join([*fields, field(5, field(1, "body") + field(6, body) + field(20, 5)) if body else b""])


def value(name, *extents, type_=1):
    """What is said of an input or an output; type 1 is FP32, 7 INT64, 9 a boolean. A text is an extent's name."""
    axes = b"".join(field(1, field(2, e) if isinstance(e, str) else field(1, e)) for e in extents)
    return field(1, name) + field(2, field(1, field(1, type_) + field(2, axes)))


def graph(nodes, weights, inputs, outputs):
    parts = [*(field(1, x) for x in nodes), field(2, "g"), *(field(5, x) for x in weights)]
    return b"".join([*parts, *(field(11, x) for x in inputs), *(field(12, x) for x in outputs)])


def model(*parts):
    """A file of the graph that these make."""
    return field(1, 8) + field(7, graph(*parts)) + field(8, field(2, 17))
