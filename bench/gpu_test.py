#!/usr/bin/env python3
"""Tests of what gpu.py computes without a GPU: work of a network counted by hand, and the peer's table."""
import os
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

import gpu
import roofline


def model():
    """A convolution, and a product of its result in a shape that is computed of shapes."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Shape", ["c"], ["batch"], start=0, end=1),
        helper.make_node("Concat", ["batch", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["c", "shape"], ["flat"]),
        helper.make_node("MatMul", ["flat", "v"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.zeros((4, 3, 3, 3), np.float32), "w"),
        numpy_helper.from_array(np.array([-1], np.int64), "rest"),
        numpy_helper.from_array(np.zeros((4 * 8 * 8, 10), np.float32), "v"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


class Roofline(unittest.TestCase):
    def test_counts_contractions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            save(model(), path)
            work = roofline.work_of(path, {"n": 2})
        conv, product = 2 * (2 * 4 * 8 * 8) * 27, 2 * (2 * 10) * 256
        self.assertEqual(work.flops, conv + product)
        conv_bytes = 2 * (2 * 3 * 64 + 4 * 27 + 2 * 4 * 64)
        product_bytes = 2 * (2 * 256 + 2560 + 20)
        self.assertEqual(work.bytes, conv_bytes + product_bytes)
        self.assertAlmostEqual(work.ms, 1e3 * (conv_bytes + product_bytes) / roofline.BYTES_A_SECOND)


class Table(unittest.TestCase):
    def test_reads_rows_of_several_batches(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
            file.write("| network | batch | eager | compile | s |\n|---|---|---|---|---|\n"
                       "| net | 1 / 8 | 1.0 / 2.0 | 0.5 / not measured yet | 272 * |\n")
            file.flush()
            self.assertEqual(gpu.read_table(file.name), {("net", 1): 0.5})


class HalfIo(unittest.TestCase):
    def test_halves_floats_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "net"))
            save(model(), os.path.join(folder, "net", "model.onnx"))
            case = gpu.Case("net:2", folder, half_io=True).prepare(folder)
            self.assertEqual(case.formats, ["--inputIOFormats=fp16:chw", "--outputIOFormats=fp16:chw"])
            self.assertEqual(case.inputs["x"].dtype, np.float16)
            self.assertEqual(os.path.getsize(case.files["x"]), 2 * 2 * 3 * 8 * 8)
            self.assertEqual(gpu.Case("net:2", folder).prepare(folder).formats, [])
        self.assertEqual(gpu.at_the_edge(np.ones(1, np.int64), True).dtype, np.int64)


class Cases(unittest.TestCase):
    def test_know_the_peers_names(self):
        self.assertEqual(gpu.Case("bert_base:8x128", "zoo").peer, ("bert_base_s128", "bert_base, sequence 128"))
        self.assertIsNone(gpu.Case("bert_base:8x64", "zoo").peer)

    def test_compare_the_first_and_the_last_row(self):
        self.assertEqual(gpu.rows(np.arange(5), 0).tolist(), [0, 4])


class Outputs(unittest.TestCase):
    """Compares what trtexec --exportOutput writes with the reference's first and last row."""

    def off_by(self, values):
        case = gpu.Case("net:3", "zoo")
        case.folder, case.outputs = "", {"y": (0, np.array([[1, 2], [5, -10]], np.float32))}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(f'[\n  {{ "name" : "y"\n  , "dimensions" : "3x2"\n  , "values" : [ {values} ]\n  }}\n]\n')
            file.flush()
            return gpu.Kiln("trtexec", case, []).off_by(file.name)

    def test_rows_between_do_not_count(self):
        self.assertEqual(self.off_by("1, 2, 77, 88, 5, -10"), 0)

    def test_a_difference_is_a_share_of_the_largest(self):
        self.assertAlmostEqual(self.off_by("1, 2, 0, 0, 5.5, -10"), 0.05, places=6)

    def test_what_is_no_number_is_as_far_off_as_can_be(self):
        self.assertEqual(self.off_by("1, nan, 0, 0, 5, -10"), float("inf"))


if __name__ == "__main__":
    unittest.main()
