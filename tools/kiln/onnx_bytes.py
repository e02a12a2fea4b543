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
