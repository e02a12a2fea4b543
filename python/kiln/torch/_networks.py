"""Converters of operators of neural networks: products, convolutions, pooling, normalisation, attention, resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from ._emitter import FLOATS, Emitter, Unsupported, aten, converter, expression, value_of


def _pair(values: Sequence[int] | int, n: int) -> list[int]:
    values = [values] if isinstance(values, int) else list(values)
    return values * n if len(values) == 1 else values


# Products.


@converter(aten("mm"), aten("bmm"), aten("matmul"), aten("mv"), aten("dot"))
def _matmul(cx: Emitter, a: Any, b: Any) -> str:
    return cx.op("MatMul", _product_operand(cx, a), _product_operand(cx, b))


def _product_operand(cx: Emitter, x: Any) -> str:
    if cx.dtype(x) not in FLOATS:
        raise Unsupported(f"a product of {cx.dtype(x)}")
    return cx.tensor(x)


def _times(cx: Emitter, name: str, factor: Any) -> str:
    return name if factor == 1 else cx.op("Mul", name, cx.tensor(factor, cx.out_dtype))


@converter(aten("addmm"), aten("baddbmm"), aten("addmv"))
def _addmm(cx: Emitter, bias: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> str:
    product = _times(cx, _matmul(cx, a, b), alpha)
    return product if beta == 0 else cx.op("Add", product, _times(cx, cx.tensor(bias), beta))


@converter(aten("linear"))
def _linear(cx: Emitter, x: Any, weight: Any, bias: Any = None) -> str:
    if cx.rank(weight) != 2:
        raise Unsupported("linear with a weight of one axis")
    product = cx.op("MatMul", _product_operand(cx, x), cx.op("Transpose", cx.tensor(weight), perm=[1, 0]))
    return product if bias is None else cx.op("Add", product, cx.tensor(bias))


# Convolutions.


@converter(aten("convolution"))
def _convolution(cx: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
                 transposed: bool, output_padding: Any, groups: int) -> str:  # fmt: skip
    n = cx.rank(weight) - 2
    if cx.rank(x) != n + 2 or cx.dtype(x) not in FLOATS:
        raise Unsupported(f"a convolution of {cx.rank(x)} axes of {cx.dtype(x)}")
    pads = _pair(padding, n)
    common: dict[str, Any] = {
        "strides": _pair(stride, n),
        "dilations": _pair(dilation, n),
        "pads": pads + pads,
        "group": groups,
    }
    inputs = [cx.tensor(x), cx.tensor(weight)] + ([cx.tensor(bias)] if bias is not None else [])
    if transposed:
        extra = _pair(output_padding, n)
        return cx.op("ConvTranspose", *inputs, **common, output_padding=extra if any(extra) else None)
    return cx.op("Conv", *inputs, **common)


@converter(aten("conv1d"), aten("conv2d"), aten("conv3d"))
def _conv(cx: Emitter, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> str:
    return _convolution(cx, x, weight, bias, stride, padding, dilation, False, [0], groups)


# Pooling.


@converter(aten("max_pool2d_with_indices"), aten("max_pool3d_with_indices"), aten("max_pool1d"), aten("max_pool2d"))
def _max_pool(cx: Emitter, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
              ceil_mode: bool = False) -> Any:  # fmt: skip
    val = value_of(cx.node)
    is_pair = isinstance(val, (tuple, list))
    n = int("".join(c for c in str(cx.node.target).split("_pool")[1] if c.isdigit())[0])
    pads = _pair(padding, n)
    result = _batched(cx, x, n, lambda value: cx.op(
        "MaxPool", value, kernel_shape=_pair(kernel, n), strides=_pair(stride or kernel, n), pads=pads + pads,
        dilations=_pair(dilation, n), ceil_mode=int(ceil_mode)))  # fmt: skip
    return [result, None] if is_pair else result


@converter(aten("avg_pool1d"), aten("avg_pool2d"), aten("avg_pool3d"))
def _avg_pool(cx: Emitter, x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
              count_include_pad: bool = True, divisor_override: Any = None) -> str:  # fmt: skip
    n = int(str(cx.node.target).split("avg_pool")[1][0])
    if divisor_override is not None:
        raise Unsupported("avg_pool with another divisor")
    pads = _pair(padding, n)
    return _batched(cx, x, n, lambda value: cx.op(
        "AveragePool", value, kernel_shape=_pair(kernel, n), strides=_pair(stride or kernel, n), pads=pads + pads,
        ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad)))  # fmt: skip


def _batched(cx: Emitter, x: Any, n: int, make: Any) -> str:
    """Pools with a batch axis; PyTorch's may lack it."""
    if cx.rank(x) == n + 2:
        return make(cx.tensor(x))
    pooled = make(cx.op("Unsqueeze", cx.tensor(x), cx.ints([0])))
    return cx.op("Squeeze", pooled, cx.ints([0]))


@converter(aten("_adaptive_avg_pool2d"), aten("adaptive_avg_pool2d"), aten("adaptive_avg_pool1d"),
           aten("_adaptive_avg_pool3d"), aten("adaptive_avg_pool3d"))  # fmt: skip
def _adaptive_avg_pool(cx: Emitter, x: Any, size: Any) -> str:
    n = len(size)
    if all(extent == 1 for extent in size):
        axes = range(cx.rank(x) - n, cx.rank(x))
        return cx.op("ReduceMean", cx.tensor(x), cx.ints(axes), keepdims=1)
    given = cx.shape(x)[-n:]
    wanted = list(size)
    if not all(isinstance(a, int) and isinstance(b, int) and a % b == 0 for a, b in zip(given, wanted)):
        raise Unsupported("adaptive pooling whose windows differ")
    kernel = [a // b for a, b in zip(given, wanted)]
    return _batched(cx, x, n, lambda value: cx.op("AveragePool", value, kernel_shape=kernel, strides=kernel))


# Normalisation.


@converter(aten("_native_batch_norm_legit_no_training"))
def _batch_norm(cx: Emitter, x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    return [_normalize_by_channel(cx, x, weight, bias, mean, var, eps), None, None]


@converter(aten("batch_norm"), aten("cudnn_batch_norm"), aten("native_batch_norm"))
def _batch_norm_of_layer(cx: Emitter, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool,
                         momentum: float, eps: float, *_: Any) -> Any:  # fmt: skip
    if training or mean is None or var is None:
        raise Unsupported("batch_norm by the batch's own mean")
    result = _normalize_by_channel(cx, x, weight, bias, mean, var, eps)
    return [result, None, None] if isinstance(value_of(cx.node), (tuple, list)) else result


def _normalize_by_channel(cx: Emitter, x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> str:
    channels = cx.shape(mean)[0]
    dtype = cx.dtype(mean)

    def vector(arg: Any, otherwise: float) -> str:
        if arg is not None:
            return cx.tensor(arg)
        return cx.graph.constant([otherwise] * channels, dtype)

    return cx.op("BatchNormalization", cx.tensor(x), vector(weight, 1.0), vector(bias, 0.0), cx.tensor(mean),
                 cx.tensor(var), epsilon=float(eps))  # fmt: skip


@converter(aten("native_layer_norm"))
def _native_layer_norm(cx: Emitter, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return [_layer_norm(cx, x, shape, weight, bias, eps), None, None]


@converter(aten("layer_norm"))
def _layer_norm(cx: Emitter, x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                *_: Any) -> str:  # fmt: skip
    dtype = cx.dtype(x)
    if weight is None:
        scale = cx.op("Expand", cx.tensor(1.0, dtype), cx.extents(shape))
    else:
        scale = cx.tensor(weight, dtype)
    inputs = [cx.tensor(x), scale] + ([cx.tensor(bias, dtype)] if bias is not None else [])
    return cx.op("LayerNormalization", *inputs, axis=-len(shape), epsilon=float(eps))


@converter(aten("rms_norm"))
def _rms_norm(cx: Emitter, x: Any, shape: Any, weight: Any = None, eps: Any = None) -> str:
    import torch

    dtype = cx.dtype(x)
    eps = torch.finfo(value_of(x).dtype).eps if eps is None else eps
    scale = cx.tensor(weight, dtype) if weight is not None else cx.op(
        "Expand", cx.tensor(1.0, dtype), cx.extents(shape))  # fmt: skip
    return cx.op("RMSNormalization", cx.tensor(x), scale, axis=-len(shape), epsilon=float(eps))


@converter(aten("_fused_rms_norm"))
def _fused_rms_norm(cx: Emitter, x: Any, shape: Any, weight: Any, eps: Any) -> Any:
    return [_rms_norm(cx, x, shape, weight, eps), None]


@converter(aten("native_group_norm"))
def _native_group_norm(cx: Emitter, x: Any, weight: Any, bias: Any, n: Any, c: Any, hw: Any, groups: int,
                       eps: float) -> Any:  # fmt: skip
    return [_group_norm(cx, x, groups, weight, bias, eps), None, None]


@converter(aten("group_norm"))
def _group_norm(cx: Emitter, x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5,
                *_: Any) -> str:  # fmt: skip
    channels = cx.shape(x)[1]
    if not isinstance(channels, int):
        raise Unsupported("group_norm of channels that a run decides")
    dtype = cx.dtype(x)
    scale = cx.tensor(weight, dtype) if weight is not None else cx.graph.constant([1.0] * channels, dtype)
    shift = cx.tensor(bias, dtype) if bias is not None else cx.graph.constant([0.0] * channels, dtype)
    return cx.op("GroupNormalization", cx.tensor(x), scale, shift, num_groups=groups, epsilon=float(eps))


@converter(aten("instance_norm"))
def _instance_norm(cx: Emitter, x: Any, weight: Any, bias: Any, mean: Any, var: Any, use_input_stats: bool,
                   momentum: float, eps: float, *_: Any) -> str:  # fmt: skip
    if not use_input_stats:
        raise Unsupported("instance_norm with given statistics")
    channels = cx.shape(x)[1]
    dtype = cx.dtype(x)
    scale = cx.tensor(weight) if weight is not None else cx.graph.constant([1.0] * channels, dtype)
    shift = cx.tensor(bias) if bias is not None else cx.graph.constant([0.0] * channels, dtype)
    return cx.op("InstanceNormalization", cx.tensor(x), scale, shift, epsilon=float(eps))


@converter(aten("_native_batch_norm_legit.no_stats"))
def _norm_by_own_mean(cx: Emitter, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    """What PyTorch makes of instance_norm: a batch of one, with a channel for each channel of each sample."""
    if not training or cx.shape(x)[0] != 1:
        raise Unsupported("batch_norm by the batch's own mean")
    dtype = cx.dtype(x)
    channels = cx.extents([cx.shape(x)[1]])

    def vector(arg: Any, otherwise: float) -> str:
        return cx.tensor(arg, dtype) if arg is not None else cx.op("Expand", cx.tensor(otherwise, dtype), channels)

    result = cx.op("InstanceNormalization", cx.tensor(x), vector(weight, 1.0), vector(bias, 0.0), epsilon=float(eps))
    return [result, None, None]


@converter(aten("_softmax"), aten("softmax.int"), aten("_log_softmax"), aten("log_softmax.int"))
def _softmax(cx: Emitter, x: Any, dim: int, *_: Any) -> str:
    kind = "LogSoftmax" if "log_softmax" in str(cx.node.target) else "Softmax"
    if cx.rank(x) == 0:
        raise Unsupported("softmax of a scalar")
    return cx.op(kind, cx.tensor(x, cx.out_dtype), axis=cx.axis(dim, cx.rank(x)))


# Attention.


def _attention(cx: Emitter, query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: Any) -> str:
    if cx.rank(query) != 4:
        raise Unsupported("attention of other than four axes")
    if scale is not None and not isinstance(scale, float):
        scale = float(scale) if isinstance(scale, int) else None
    heads = cx.shape(query)[1], cx.shape(key)[1]
    if heads[0] != heads[1] and not all(isinstance(h, int) for h in heads):
        raise Unsupported("attention with a number of heads that a run decides")
    dtype = cx.dtype(query)
    inputs = [cx.tensor(query), cx.tensor(key, dtype), cx.tensor(value, dtype)]
    if mask is not None:
        inputs.append(cx.tensor(mask) if cx.dtype(mask) == "bool" else cx.tensor(mask, dtype))
    return cx.op("Attention", *inputs, is_causal=int(is_causal) or None, scale=scale)


@converter(aten("scaled_dot_product_attention"))
def _sdpa(cx: Emitter, q: Any, k: Any, v: Any, mask: Any = None, dropout: float = 0.0, is_causal: bool = False,
          scale: Any = None, *_: Any) -> str:  # fmt: skip
    _no_dropout(dropout)
    return _attention(cx, q, k, v, mask, is_causal, scale)


@converter(aten("_scaled_dot_product_flash_attention_for_cpu"))
def _sdpa_cpu(cx: Emitter, q: Any, k: Any, v: Any, dropout: float = 0.0, is_causal: bool = False, mask: Any = None,
              scale: Any = None) -> Any:  # fmt: skip
    _no_dropout(dropout)
    return [_attention(cx, q, k, v, mask, is_causal, scale), None]


@converter(aten("_scaled_dot_product_flash_attention"))
def _sdpa_flash(cx: Emitter, q: Any, k: Any, v: Any, dropout: float = 0.0, is_causal: bool = False,
                return_debug_mask: bool = False, scale: Any = None, *_: Any) -> Any:  # fmt: skip
    _no_dropout(dropout)
    return [_attention(cx, q, k, v, None, is_causal, scale)] + [None] * 8


@converter(aten("_scaled_dot_product_efficient_attention"))
def _sdpa_efficient(cx: Emitter, q: Any, k: Any, v: Any, mask: Any, logsumexp: bool, dropout: float = 0.0,
                    is_causal: bool = False, scale: Any = None, *_: Any) -> Any:  # fmt: skip
    _no_dropout(dropout)
    return [_attention(cx, q, k, v, mask, is_causal, scale)] + [None] * 3


@converter(aten("_scaled_dot_product_cudnn_attention"))
def _sdpa_cudnn(cx: Emitter, q: Any, k: Any, v: Any, mask: Any, logsumexp: bool, dropout: float = 0.0,
                is_causal: bool = False, return_debug_mask: bool = False, scale: Any = None, *_: Any) -> Any:  # fmt: skip
    _no_dropout(dropout)
    return [_attention(cx, q, k, v, mask, is_causal, scale)] + [None] * 8


def _no_dropout(probability: Any) -> None:
    if probability:
        raise Unsupported("attention with dropout")


# Resizing.


def _resize(cx: Emitter, x: Any, mode: str, coordinates: str, **attributes: Any) -> str:
    shape = cx.shape(cx.node)
    return cx.op("Resize", cx.tensor(x), None, None, cx.extents(shape), mode=mode,
                 coordinate_transformation_mode=coordinates, **attributes)  # fmt: skip


def _given_scales_agree(cx: Emitter, x: Any, scales: Sequence[Any]) -> None:
    """Raises where PyTorch uses a scale that is not the ratio of the extents."""
    rank = cx.rank(x)
    for i, scale in enumerate(scales):
        if scale is None:
            continue
        axis = rank - len(scales) + i
        before, after = expression(cx.shape(x)[axis]), expression(cx.shape(cx.node)[axis])
        exact = sympy.nsimplify(scale) if isinstance(scale, (int, float)) else None
        if exact is None or sympy.simplify(after - exact * before) != 0:
            raise Unsupported("a resize whose scale is not the ratio of the extents")


@converter(*(aten(f"upsample_nearest{n}d") for n in (1, 2, 3)))
def _nearest(cx: Emitter, x: Any, size: Any, *scales: Any) -> str:
    _given_scales_agree(cx, x, scales)
    return _resize(cx, x, "nearest", "asymmetric", nearest_mode="floor")


@converter(*(aten(f"upsample_nearest{n}d.vec") for n in (1, 2, 3)))
def _nearest_vec(cx: Emitter, x: Any, size: Any, scales: Any) -> str:
    _given_scales_agree(cx, x, scales or ())
    return _resize(cx, x, "nearest", "asymmetric", nearest_mode="floor")


@converter(*(aten(f"_upsample_nearest_exact{n}d") for n in (1, 2, 3)))
def _nearest_exact(cx: Emitter, x: Any, size: Any, *scales: Any) -> str:
    _given_scales_agree(cx, x, scales)
    return _resize(cx, x, "nearest", "half_pixel", nearest_mode="round_prefer_ceil")


def _linear_coordinates(align_corners: bool) -> str:
    return "align_corners" if align_corners else "half_pixel"


@converter(aten("upsample_linear1d"), aten("upsample_bilinear2d"), aten("upsample_trilinear3d"))
def _linear_resize(cx: Emitter, x: Any, size: Any, align_corners: bool, *scales: Any) -> str:
    _given_scales_agree(cx, x, () if align_corners else scales)
    return _resize(cx, x, "linear", _linear_coordinates(align_corners))


@converter(aten("upsample_linear1d.vec"), aten("upsample_bilinear2d.vec"), aten("upsample_trilinear3d.vec"))
def _linear_resize_vec(cx: Emitter, x: Any, size: Any, align_corners: bool, scales: Any) -> str:
    _given_scales_agree(cx, x, () if align_corners else scales or ())
    return _resize(cx, x, "linear", _linear_coordinates(align_corners))


@converter(aten("upsample_bicubic2d"))
def _cubic_resize(cx: Emitter, x: Any, size: Any, align_corners: bool, *scales: Any) -> str:
    _given_scales_agree(cx, x, () if align_corners else scales)
    return _resize(cx, x, "cubic", _linear_coordinates(align_corners), cubic_coeff_a=-0.75)


@converter(aten("upsample_bicubic2d.vec"))
def _cubic_resize_vec(cx: Emitter, x: Any, size: Any, align_corners: bool, scales: Any) -> str:
    _given_scales_agree(cx, x, () if align_corners else scales or ())
    return _resize(cx, x, "cubic", _linear_coordinates(align_corners), cubic_coeff_a=-0.75)


@converter(aten("grid_sampler_2d"), aten("grid_sampler"), aten("grid_sampler_3d"))
def _grid_sample(cx: Emitter, x: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> str:
    return cx.op("GridSample", cx.tensor(x), cx.tensor(grid), mode=("linear", "nearest", "cubic")[mode],
                 padding_mode=("zeros", "border", "reflection")[padding], align_corners=int(align_corners))  # fmt: skip
