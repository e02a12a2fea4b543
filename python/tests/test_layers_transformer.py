"""Layers of transformers, and normalizations and slopes that are tensors."""

import numpy as np
import pytest
import tensorrt as trt

from networks import Bench, Case, check


def floats(*values):
    return np.array(values, np.float32)


QUARTERS = floats(0, np.log(3), 90, 5, 6, 7).reshape(1, 2, 3)
ONE_HEAD = floats(1, 2, 3, 4).reshape(1, 1, 1, 4)


def experts(bench, x, selected, scores):
    layer = bench.network.add_moe(x, selected, scores)
    one, two, three = (bench.constant(floats(*w).reshape(2, 1, 1)) for w in ((1, 3), (5, -5), (1, 10)))
    layer.set_gated_weights(one, two, three, trt.MoEActType.NONE)
    biases = bench.constant(floats(0, 0).reshape(2, 1))
    layer.set_gated_biases(biases, biases, biases)
    assert len(layer.quantization_block_shape) == 0
    return layer


CASES = [
    Case(
        "parametric_relu",
        trt.IParametricReLULayer,
        lambda bench, x, slopes: bench.network.add_parametric_relu(input=x, slopes=slopes),
        [floats(-1, 2, -3, -4).reshape(2, 2), floats(10, 0.5).reshape(1, 2)],
        [floats(-10, 2, -30, -2).reshape(2, 2)],
        {},
        {"type": trt.LayerType.PARAMETRIC_RELU},
    ),
    Case(
        "lrn",
        trt.ILRNLayer,
        lambda bench, x: bench.network.add_lrn(x, 5, 1.0, 0.5, 2.0),
        [floats(1, 2, 3).reshape(1, 3, 1, 1)],
        [floats(1 / 6, 2 / 15, 3 / 14).reshape(1, 3, 1, 1)],
        {"window_size": 3, "alpha": 3.0, "beta": 1.0, "k": 1.0},
        {"type": trt.LayerType.LRN},
    ),
    Case(
        "ragged_softmax",
        trt.IRaggedSoftMaxLayer,
        lambda bench, x, bounds: bench.network.add_ragged_softmax(input=x, bounds=bounds),
        [QUARTERS, np.array([[[2], [1]]], np.int32)],
        [floats(0.25, 0.75, 0, 1, 0, 0).reshape(1, 2, 3)],
        {},
        {"type": trt.LayerType.RAGGED_SOFTMAX},
    ),
    Case(
        "rotary_embedding",
        trt.IRotaryEmbeddingLayer,
        lambda bench, x, cos, sin: bench.network.add_rotary_embedding(x, cos, sin, True, 4),
        [ONE_HEAD, floats(0, 1).reshape(1, 1, 2), floats(1, 0).reshape(1, 1, 2)],
        [floats(-3, 2, 1, 4).reshape(1, 1, 1, 4)],
        {"interleaved": False, "rotary_embedding_dim": 0},
        {"type": trt.LayerType.ROTARY_EMBEDDING},
    ),
    Case(
        "kv_cache_update",
        trt.IKVCacheUpdateLayer,
        lambda bench, cache, rows, at: bench.network.add_kv_cache_update(cache, rows, at, trt.KVCacheMode.LINEAR),
        [floats(1, 2, 3).reshape(1, 1, 3, 1), floats(10, 20).reshape(1, 1, 2, 1), np.array([1], np.int32)],
        [floats(1, 10, 20).reshape(1, 1, 3, 1)],
        {"cache_mode": trt.KVCacheMode.LINEAR},
        {"type": trt.LayerType.KV_CACHE_UPDATE},
    ),
    Case(
        "dist_collective",
        trt.IDistCollectiveLayer,
        lambda bench, x: bench.network.add_dist_collective(
            x, trt.CollectiveOperation.ALL_REDUCE, trt.ReduceOperation.SUM, -1, None
        ),
        [floats(1, 2)],
        [floats(1, 2)],
        {},
        {"type": trt.LayerType.DIST_COLLECTIVE},
    ),
    Case(
        "moe",
        trt.IMoELayer,
        experts,
        [floats(2).reshape(1, 1, 1), np.array([[[0, 1]]], np.int32), floats(1, 0.5).reshape(1, 1, 2)],
        [floats(10 - 60).reshape(1, 1, 1)],
        {"swiglu_param_limit": 4.0, "swiglu_param_alpha": 1.0, "swiglu_param_beta": 1.0},
        {
            "type": trt.LayerType.MOE,
            "activation_type": trt.MoEActType.NONE,
            "quantization_to_type": trt.float32,
            "dyn_q_output_scale_type": trt.float32,
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_layer(case):
    check(case)


# One query, whose keys have the weights 1/4 and 3/4.
QUARTERS_OF_KEYS = {
    "q": floats(1).reshape(1, 1, 1, 1),
    "k": floats(0, np.log(3)).reshape(1, 1, 2, 1),
    "v": floats(4, 8).reshape(1, 1, 2, 1),
}


def test_attention():
    bench, arrays = Bench(), QUARTERS_OF_KEYS
    tensors = [bench.input(name, array) for name, array in arrays.items()]
    attention = bench.network.add_attention(*tensors, trt.AttentionNormalizationOp.SOFTMAX, True)
    assert attention.causal is True
    attention.causal = False
    assert attention.mask is None
    attention.name, attention.metadata = "heads", "block 1"
    assert (attention.name, attention.metadata) == ("heads", "block 1")
    assert (attention.num_inputs, attention.num_outputs, attention.num_ranks) == (3, 1, 1)
    assert attention.norm_op == trt.AttentionNormalizationOp.SOFTMAX
    assert bench.network.get_layer(0).attention.name == "heads"
    (y,) = bench.run(arrays, [attention.get_output(0)])
    np.testing.assert_allclose(y, floats(7).reshape(1, 1, 1, 1), rtol=1e-6)


@pytest.mark.parametrize(
    "to_type, scale, wanted", [("int8", 0.2, 0.2 * (4 + 4 * 8)), ("fp8", 0.6, 0.6 * (13 / 32 * 4 + 1.25 * 8))]
)
def test_attention_with_quantized_weights(to_type, scale, wanted):
    bench = Bench()
    tensors = [bench.input(name, array) for name, array in QUARTERS_OF_KEYS.items()]
    attention = bench.network.add_attention(*tensors, trt.AttentionNormalizationOp.SOFTMAX, False)
    assert attention.normalization_quantize_scale is None
    assert attention.normalization_quantize_to_type == trt.float32
    attention.normalization_quantize_to_type = trt.fp4
    assert "kFP8 or kINT8 is needed" in bench.log.take_errors()
    attention.normalization_quantize_to_type = getattr(trt, to_type)
    attention.normalization_quantize_scale = bench.constant(scale)
    assert attention.normalization_quantize_scale.shape == ()
    assert attention.normalization_quantize_to_type == getattr(trt, to_type)
    (y,) = bench.run(QUARTERS_OF_KEYS, [attention.get_output(0)])
    np.testing.assert_allclose(y.reshape(()), wanted, rtol=1e-5)


def test_quantized_experts():
    bench = Bench()
    x = floats(1).reshape(1, 1, 1)
    selected, scores = bench.constant([[[0]]], np.int32), bench.constant([[[1]]])
    layer = bench.network.add_moe(bench.input("x", x), selected, scores)
    weights = [bench.constant(w) for w in ([[[1, 1]]], [[[10, 20]]], [[[1], [1]]])]
    layer.set_gated_weights(*weights, trt.MoEActType.NONE)
    layer.set_quantization_static(bench.constant([3]), trt.fp8)
    assert layer.quantization_to_type == trt.fp8
    layer.set_quantization_dynamic_dbl_q(bench.constant(1), trt.fp4, trt.Dims([32]), trt.DataType.E8M0)
    assert (layer.quantization_to_type, layer.dyn_q_output_scale_type) == (trt.fp4, trt.DataType.E8M0)
    layer.quantization_block_shape, layer.dyn_q_output_scale_type = (1, 1, 2), trt.fp8
    assert tuple(layer.quantization_block_shape) == (1, 1, 2)
    (y,) = bench.run({"x": x}, [layer.get_output(0)])
    assert y.reshape(()) == 3.25 * (3 + 6)  # the block's scale is 20 / 6, which FP8 holds as 3.25


def test_an_updated_cache_is_its_inputs_memory():
    bench = Bench()
    cache, rows = bench.input("cache", (1, 1, 3, 1)), bench.input("rows", (1, 1, 2, 1))
    layer = bench.network.add_kv_cache_update(cache, rows, bench.input("at", (1,), trt.int32), trt.KVCacheMode.LINEAR)
    layer.get_output(0).name = "updated"
    bench.network.mark_output(layer.get_output(0))
    plan = bench.builder.build_serialized_network(bench.network, bench.builder.create_builder_config())
    engine = trt.Runtime(bench.log).deserialize_cuda_engine(plan)
    assert engine.get_aliased_input_tensor("updated") == "cache"
    assert engine.get_aliased_input_tensor("rows") is None
