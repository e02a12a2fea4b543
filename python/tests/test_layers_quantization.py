"""Layers from floats to narrow numbers and back."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check

X = np.array([[0.5, -0.74, 100.0, 0.25], [3.0, -300.0, 1.0, -1.5]], np.float32)
Q = np.clip(np.rint(X / np.float32(0.5)), -128, 127).astype(np.int8)
BY_ROW = np.array([0.5, 0.25], np.float32).reshape(2, 1)
Q_BY_ROW = np.clip(np.rint(X / BY_ROW), -128, 127).astype(np.int8)
BY_BLOCK = np.array([[0.5, 127.0]], np.float32) / np.float32(127)
BLOCKS = np.array([[0.5, -0.25, 127.0, 3.4]], np.float32)
Q_BLOCKS = np.array([[127, -64, 127, 3]], np.int8)

CASES = [
    Case(
        "quantize",
        trt.IQuantizeLayer,
        lambda bench, x: bench.network.add_quantize(x, bench.constant(0.5)),
        [X],
        [Q],
        {},
        {"type": trt.LayerType.QUANTIZE, "axis": -1, "to_type": trt.int8},
    ),
    Case(
        "quantize-rows",
        trt.IQuantizeLayer,
        lambda bench, x: bench.network.add_quantize(x, bench.constant([0.5, 0.25]), trt.int8),
        [X],
        [Q_BY_ROW],
        {"axis": 0, "block_shape": (1, -1), "to_type": trt.int8},
    ),
    Case(
        "dequantize",
        trt.IDequantizeLayer,
        lambda bench, q: bench.network.add_dequantize(q, bench.constant(0.5)),
        [Q],
        [Q * np.float32(0.5)],
        {},
        {"type": trt.LayerType.DEQUANTIZE, "axis": -1, "to_type": trt.float32},
    ),
    Case(
        "dequantize-rows",
        trt.IDequantizeLayer,
        lambda bench, q: bench.network.add_dequantize(
            input=q, scale=bench.constant([0.5, 0.25]), output_type=trt.float32
        ),
        [Q_BY_ROW],
        [(Q_BY_ROW * BY_ROW).astype(np.float16)],
        {"axis": 0, "block_shape": (1, -1), "to_type": trt.float16},
    ),
    Case(
        "dynamic_quantize",
        trt.IDynamicQuantizeLayer,
        lambda bench, x: bench.network.add_dynamic_quantize(x, 0, 16, trt.fp4, trt.fp8),
        [BLOCKS],
        [Q_BLOCKS, BY_BLOCK],
        {"axis": 1, "block_size": 2, "to_type": trt.int8, "scale_type": trt.float32},
        {"type": trt.LayerType.DYNAMIC_QUANTIZE},
    ),
    Case(
        "dynamic_quantize_v2",
        trt.IDynamicQuantizeLayer,
        lambda bench, x: bench.network.add_dynamic_quantize_v2(x, (1, -1), trt.int8, trt.float32),
        [BLOCKS],
        [Q_BLOCKS, BY_BLOCK],
        {"block_shape": (1, 2)},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_layer(case):
    check(case)


def test_wrong_block_is_an_error():
    bench = Bench()
    x = bench.input("x", X)
    layer = bench.network.add_dynamic_quantize(x, 1, 3, trt.fp4, trt.fp8)
    with pytest.raises(AssertionError, match="blocks of 3 do not divide axis 1"):
        bench.run({"x": X}, [layer.get_output(1)])
