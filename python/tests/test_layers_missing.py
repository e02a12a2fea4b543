# Copyright the Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that C++ does not have yet: they return None and say so. And: every call has a test."""

import pathlib
import re

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench

X = np.ones((1, 4, 2, 2), np.float32)

MISSING = {
    "lrn": lambda b, x: b.network.add_lrn(x, 3, 1.0, 0.5, 2.0),
    "ragged_softmax": lambda b, x: b.network.add_ragged_softmax(input=x, bounds=x),
    "parametric_relu": lambda b, x: b.network.add_parametric_relu(input=x, slopes=x),
    "quantize": lambda b, x: b.network.add_quantize(x, x),
    "quantize-typed": lambda b, x: b.network.add_quantize(x, x, trt.int8),
    "dequantize": lambda b, x: b.network.add_dequantize(x, x),
    "dequantize-typed": lambda b, x: b.network.add_dequantize(input=x, scale=x, output_type=trt.float32),
    "dynamic_quantize": lambda b, x: b.network.add_dynamic_quantize(x, 1, 16, trt.fp4, trt.fp8),
    "dynamic_quantize_v2": lambda b, x: b.network.add_dynamic_quantize_v2(x, (1, 16, 1, 1), trt.fp8, trt.float32),
    "attention": lambda b, x: b.network.add_attention(x, x, x, trt.AttentionNormalizationOp.SOFTMAX, False),
    "rotary_embedding": lambda b, x: b.network.add_rotary_embedding(x, x, x, interleaved=True, rotary_embedding_dim=0),
    "kv_cache_update": lambda b, x: b.network.add_kv_cache_update(x, x, x, trt.KVCacheMode.LINEAR),
    "moe": lambda b, x: b.network.add_moe(x, x, x),
    "dist_collective": lambda b, x: b.network.add_dist_collective(
        x, trt.CollectiveOperation.ALL_REDUCE, trt.ReduceOperation.SUM, -1, None
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_call_says_that_it_is_missing(name):
    bench = Bench()
    assert MISSING[name](bench, bench.input("x", X)) is None
    call = "add" + name.split("-")[0].replace("_", "")
    said = bench.log.take_errors()
    assert call.lower() in said.lower() and "not in Kiln yet" in said
    assert bench.network.num_layers == 0


def test_debug_tensors():
    bench = Bench()
    x = bench.input("x", X)
    assert bench.network.mark_debug(x) is False
    assert bench.network.unmark_debug(x) is False
    assert bench.network.is_debug_tensor(x) is False
    assert bench.network.mark_unfused_tensors_as_debug_tensors() is False
    assert bench.network.unmark_unfused_tensors_as_debug_tensors() is False
    assert bench.log.take_errors().count("not in Kiln yet") == 4


def test_refitting():
    bench = Bench()
    assert bench.network.mark_weights_refittable("w") is False
    assert bench.network.unmark_weights_refittable("w") is False
    assert bench.network.are_weights_marked_refittable("w") is False
    assert bench.log.take_errors().count("not in Kiln yet") == 2


def text_of_tests():
    return "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("test_*.py"))


def test_every_call_has_a_test():
    """Plugins have tests of their own."""
    text = text_of_tests()
    calls = {name for name in dir(trt.INetworkDefinition) if name.startswith("add_")}
    called = set(re.findall(r"\badd_\w+(?=\()", text)) | {"add_plugin", "add_plugin_v2", "add_plugin_v3"}
    assert calls - called == set()
    assert len(calls) >= 50


# Layers that no network has yet, so that their properties cannot be tried.
NOT_MADE = """ILRNLayer IQuantizeLayer IDequantizeLayer IDynamicQuantizeLayer IRaggedSoftMaxLayer IParametricReLULayer
    IAttentionBoundaryLayer IAttentionInputLayer IAttentionOutputLayer IRotaryEmbeddingLayer IKVCacheUpdateLayer
    IMoELayer IDistCollectiveLayer IPluginV2Layer IPluginV3Layer""".split()


def test_every_property_has_a_test():
    text = text_of_tests()
    classes = [c for c in vars(trt).values() if isinstance(c, type) and issubclass(c, trt.ILayer)]
    assert len(classes) >= 58
    for c in classes:
        if c.__name__ in NOT_MADE:
            continue
        for name, member in vars(c).items():
            if type(member).__name__ == "property" or hasattr(member, "fset"):
                assert f'"{name}":' in text or f".{name}" in text, f"{c.__name__}.{name}"
