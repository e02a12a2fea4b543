"""Each converter of `kiln.torch`: a small function of PyTorch as one engine, against PyTorch itself."""

import pytest

torch = pytest.importorskip("torch")

from torch_devices import DEVICES, device  # noqa: F401  (a fixture of each test)

import kiln.torch

F = torch.nn.functional


def x(*shape, low=-2.0, high=2.0):
    return torch.rand(shape) * (high - low) + low


def constant(*shape):
    """A tensor that a function holds, on each device."""
    made = x(*shape)
    return {device: made.to(device) for device in DEVICES}


def ints(*shape, high=5, low=0):
    return torch.randint(low, high, shape)


def bools(*shape):
    return torch.rand(shape) > 0.5


def _unary():
    plain = ("abs", "asinh", "atan", "ceil", "cos", "cosh", "erf", "exp", "floor", "neg", "relu", "round", "sigmoid",
             "sign", "sin", "sinh", "tan", "tanh", "trunc", "square", "exp2", "isinf", "isnan")  # fmt: skip
    for name in plain:
        yield name, getattr(torch, name), (x(3, 5),)
    for name in ("log", "sqrt", "rsqrt", "log2", "log10", "reciprocal"):
        yield name, getattr(torch, name), (x(3, 5, low=0.1),)
    yield "log1p", torch.log1p, (torch.tensor([-0.9, -1e-6, 0.0, 1e-9, 3e-5, 0.5, 2.0, 1e5, torch.inf]),)
    yield "expm1", torch.expm1, (torch.tensor([-90.0, -1.5, -1e-6, 0.0, 1e-9, 3e-5, 0.5, 2.0, 80.0, 1e3]),)
    for name in ("acos", "asin", "atanh"):
        yield name, getattr(torch, name), (x(3, 5, low=-0.9, high=0.9),)
    yield "acosh", torch.acosh, (x(3, 5, low=1.1),)
    yield "sqrt of ints", torch.sqrt, (ints(3, 5),)
    yield "floor of ints", lambda a: torch.floor(a) + 1, (ints(3, 5),)
    yield "logical_not", torch.logical_not, (bools(3, 5),)
    yield "bitwise_not", lambda a: ~a, (bools(3, 5),)
    yield "bitwise_not of ints", lambda a: ~a, (ints(3, 5),)


def _activations():
    for name in ("gelu", "silu", "hardswish", "hardsigmoid", "mish", "selu", "relu6", "elu", "celu", "softplus",
                 "leaky_relu", "hardtanh", "softsign", "logsigmoid"):  # fmt: skip
        yield name, getattr(F, name), (x(3, 5, low=-4, high=4),)
    yield "gelu by tanh", lambda a: F.gelu(a, approximate="tanh"), (x(3, 5),)
    yield "softplus of large", lambda a: F.softplus(a, beta=2.0, threshold=5.0), (x(3, 5, low=-9, high=9),)
    yield "elu of alpha", lambda a: F.elu(a, alpha=0.5), (x(3, 5),)
    yield "prelu", F.prelu, (x(2, 4, 3, 3), x(4))
    yield "glu", lambda a: F.glu(a, dim=1), (x(2, 6),)


def _binary():
    a, b = x(2, 3, 4), x(3, 1)
    yield "add", torch.add, (a, b)
    yield "add of alpha", lambda a, b: torch.add(a, b, alpha=3), (a, b)
    yield "add of a number", lambda a: a + 1.5, (a,)
    yield "add of ints and floats", lambda a, b: a + b, (ints(2, 3), x(2, 3))
    yield "sub", torch.sub, (a, b)
    yield "rsub", lambda a: 3 - a, (a,)
    yield "mul", torch.mul, (a, b)
    yield "mul of bool and float", lambda a, b: a * b, (bools(2, 3), x(2, 3))
    yield "div", torch.div, (a, x(3, 1, low=0.5))
    yield "div of ints", lambda a: a / 2, (ints(3, 4),)
    yield "div floor", lambda a, b: torch.div(a, b, rounding_mode="floor"), (a, x(3, 1, low=0.5))
    yield "div trunc", lambda a, b: torch.div(a, b, rounding_mode="trunc"), (a, x(3, 1, low=0.5))
    yield "floor_divide of ints", lambda a, b: a // b, (ints(4, 5, low=-9, high=9), ints(5, low=1))
    yield "remainder", torch.remainder, (a, x(3, 1, low=0.5))
    yield "remainder of ints", lambda a: a % 3, (ints(4, 5, low=-9, high=9),)
    yield "fmod", torch.fmod, (a, x(3, 1, low=0.5))
    # A quotient that is rounded to the next whole number, and divisors of many times fewer bits than the dividend.
    edges = torch.tensor([1.0, -1.0, 0.6, 7.0, 1e8, -1e8, 5.0]), torch.tensor([0.1, 0.1, 0.2, 0.1, 3.0, 3.0, -torch.inf])
    yield "floor_divide at edges", torch.floor_divide, edges
    yield "remainder at edges", torch.remainder, edges
    least = torch.tensor([-128, -127, 127, 100, -5], dtype=torch.int8), torch.tensor([127, 100, -128, 7, 3], dtype=torch.int8)
    yield "floor_divide of int8", lambda a, b: (a // b, a % b), least
    yield "floor_divide of the least int", lambda a: a // 3, (torch.tensor([-(2**31), 2**31 - 1], dtype=torch.int32),)
    yield "floor_divide of uint8", lambda a: (a // 3, a % 3), (torch.tensor([0, 200, 255], dtype=torch.uint8),)
    yield "atan2", torch.atan2, (torch.tensor([1.0, -1, 1, -1, 0, 2, -2]), torch.tensor([2.0, 2, -2, -2, -1, 0, 0]))
    yield "pow", lambda a, b: torch.pow(a, b), (x(3, 4, low=0.2), x(4))
    yield "pow of 2", lambda a: a**2, (a,)
    yield "pow of 3", lambda a: a**3, (a,)
    yield "pow of -0.5", lambda a: a**-0.5, (x(3, 4, low=0.2),)
    yield "2 to the power", lambda a: 2**a, (a,)
    yield "maximum", torch.maximum, (a, b)
    yield "minimum", torch.minimum, (a, b)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield name, getattr(torch, name), (ints(4, 5), ints(4, 5))
        yield f"{name} of a number", lambda a, name=name: getattr(torch, name)(a, 2.5), (ints(4, 5),)
    for name in ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"):
        yield name, getattr(torch, name), (bools(4, 5), bools(4, 5))
    yield "where", torch.where, (bools(4, 5), x(4, 5), x(5))
    yield "where of a number", lambda c, a: torch.where(c, a, 0.0), (bools(4, 5), x(4, 5))
    yield "masked_fill", lambda a, m: a.masked_fill(m, -1e4), (x(4, 5), bools(4, 5))
    yield "clamp", lambda a: a.clamp(-1, 1), (a,)
    yield "clamp by tensors", torch.clamp, (x(4), x(4, low=-1, high=0), x(4, low=0, high=1))
    yield "clamp_min", lambda a: a.clamp_min(0.5), (a,)
    yield "addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.5), (x(4), x(4), x(4))
    yield "lerp", lambda a, b: torch.lerp(a, b, 0.3), (x(4), x(4))
    yield "to float16 and back", lambda a: (a.half() + 1).float(), (a,)
    yield "to int", lambda a: a.to(torch.int32) + 1, (a,)


def _views():
    a = x(2, 3, 4)
    yield "view", lambda a: a.view(6, 4) + 0, (a,)
    yield "flatten", lambda a: a.flatten(1) + 0, (a,)
    yield "permute", lambda a: a.permute(2, 0, 1) + 0, (a,)
    yield "transpose", lambda a: a.transpose(-1, 0) + 0, (a,)
    yield "t", lambda a: a.t() + 0, (x(2, 3),)
    yield "unsqueeze and squeeze", lambda a: a.unsqueeze(1).squeeze(1) + 0, (a,)
    yield "expand", lambda a: a.expand(5, 3, 4) + 0, (x(1, 3, 1),)
    yield "slice", lambda a: a[:, 1:, ::2] + 0, (a,)
    yield "slice from the end", lambda a: a[..., -2:] + 0, (a,)
    yield "select", lambda a: a[:, -1] + 0, (a,)
    yield "flip", lambda a: a.flip(0, 2), (a,)
    yield "roll", lambda a: a.roll((1, -1), (0, 2)), (a,)
    yield "repeat", lambda a: a.repeat(2, 1, 3, 1), (a,)
    yield "repeat_interleave", lambda a: a.repeat_interleave(2, dim=1) + 0, (a,)
    yield "cat", lambda a, b: torch.cat([a, b], 1), (a, x(2, 2, 4))
    yield "cat of types", lambda a, b: torch.cat([a, b], 0), (x(2), ints(3))
    yield "stack", lambda a, b: torch.stack([a, b], -1), (a, x(2, 3, 4))
    yield "split", lambda a: [p + 1 for p in a.split(2, 1)], (a,)
    yield "split by sizes", lambda a: [p + 1 for p in a.split([1, 2], 1)], (a,)
    yield "chunk", lambda a: [p + 1 for p in a.chunk(2, -1)], (a,)
    yield "unbind", lambda a: [p + 1 for p in a.unbind(1)], (a,)
    yield "pixel_shuffle", lambda a: F.pixel_shuffle(a, 2), (x(1, 8, 3, 3),)
    yield "pixel_unshuffle", lambda a: F.pixel_unshuffle(a, 2) + 0, (x(1, 2, 4, 4),)
    yield "tril", lambda a: a.tril(1), (x(4, 5),)
    yield "triu", lambda a: a.triu(-1), (x(4, 5),)
    for mode in ("constant", "reflect", "replicate"):
        yield f"pad by {mode}", lambda a, mode=mode: F.pad(a, (1, 2, 0, 1), mode=mode), (x(1, 2, 4, 4),)
    yield "pad by 3", lambda a: F.pad(a, (1, 2), value=3.0), (x(2, 3),)
    yield "full_like", lambda a: torch.full_like(a, 3) + a, (a,)
    yield "zeros and ones", lambda a: torch.zeros(2, 3, 4) + torch.ones(4) + a, (a,)
    yield "arange", lambda a: a + torch.arange(4), (a,)
    yield "arange by a step", lambda a: a + torch.arange(1, 9, 2), (a,)
    yield "arange of fractions", lambda a: a + torch.arange(0, 1, 0.25), (a,)


def _gathers():
    table = constant(7, 4)
    yield "embedding", lambda i: F.embedding(i, table[i.device.type]), (ints(2, 3, high=7),)
    yield "index_select", lambda i: table[i.device.type].index_select(1, i), (ints(6, high=4),)
    yield "gather", lambda a, i: a.gather(1, i), (x(3, 4), ints(3, 6, high=4))
    yield "index by one list", lambda a, i: a[:, i], (x(3, 4, 2), ints(5, high=4))
    yield "index by two lists", lambda a, i, j: a[i, j], (x(3, 4, 2), ints(5, high=3), ints(5, high=4))
    yield "index by two lists behind", lambda a, i, j: a[:, i, j], (x(2, 3, 4), ints(5, high=3), ints(2, 1, high=4))
    yield "index by negative numbers", lambda a, i: a[i], (x(5, 2), ints(4, low=-5, high=5))
    yield "scatter", lambda a, i, s: a.scatter(1, i, s), (x(3, 4), torch.tensor([[0, 2], [1, 3], [3, 0]]), x(3, 2))
    yield "scatter of a number", lambda a, i: a.scatter(1, i, 9.0), (x(3, 4), ints(3, 2, high=4))
    yield "scatter_add", lambda a, i, s: a.scatter_add(1, i, s), (x(3, 4), ints(3, 6, high=4), x(3, 6))
    yield "scatter_reduce", lambda a, i, s: a.scatter_reduce(1, i, s, "amax"), (x(3, 4), ints(3, 6, high=4), x(3, 6))
    yield "index_put", lambda a, i, s: a.index_put((i,), s), (x(5, 3), torch.tensor([3, 0, -1]), x(3, 3))
    yield "index_put of two lists", lambda a, i, j, s: a.index_put((i, j), s), (
        x(5, 3), torch.tensor([3, 0]), torch.tensor([1, 2]), x(2))  # fmt: skip
    yield "index_put that adds", lambda a, i, s: a.index_put((i,), s, accumulate=True), (
        x(5, 3), torch.tensor([3, 0, 3]), x(3, 3))  # fmt: skip
    yield "index_put by a mask", lambda a, m: a.masked_fill(m, 0.5).index_put((m,), torch.tensor(2.0)), (
        x(5, 3), bools(5, 3))  # fmt: skip
    yield "slice_scatter", lambda a, b: torch.slice_scatter(a, b, 1, 1, 3), (x(3, 4), x(3, 2))
    yield "select_scatter", lambda a, b: torch.select_scatter(a, b, 1, 2), (x(3, 4), x(3))


def _products():
    w, b = constant(5, 4), constant(5)
    yield "mm", torch.mm, (x(3, 4), x(4, 5))
    yield "bmm", torch.bmm, (x(2, 3, 4), x(2, 4, 5))
    yield "matmul", torch.matmul, (x(2, 1, 3, 4), x(2, 4, 5))
    yield "mv", torch.mv, (x(3, 4), x(4))
    yield "linear", lambda a: F.linear(a, w[a.device.type], b[a.device.type]), (x(2, 3, 4),)
    yield "addmm", lambda a, c, d: torch.addmm(a, c, d, beta=0.5, alpha=2), (x(3, 5), x(3, 4), x(4, 5))
    yield "baddbmm", torch.baddbmm, (x(2, 3, 5), x(2, 3, 4), x(2, 4, 5))
    yield "einsum", lambda a, c: torch.einsum("bij,bjk->bik", a, c), (x(2, 3, 4), x(2, 4, 5))


def _convolutions():
    yield "conv1d", lambda a, w, b: F.conv1d(a, w, b, padding=1), (x(2, 3, 8), x(4, 3, 3), x(4))
    yield "conv2d", lambda a, w: F.conv2d(a, w, stride=2, padding=(1, 0)), (x(2, 4, 9, 9), x(6, 4, 3, 3))
    yield "conv2d of groups", lambda a, w: F.conv2d(a, w, groups=4, dilation=2), (x(1, 4, 9, 9), x(4, 1, 3, 3))
    yield "conv3d", lambda a, w: F.conv3d(a, w), (x(1, 2, 5, 5, 5), x(3, 2, 3, 3, 3))
    yield "conv_transpose2d", lambda a, w: F.conv_transpose2d(a, w, stride=2, padding=1, output_padding=1), (
        x(1, 3, 5, 5), x(3, 2, 3, 3))  # fmt: skip
    yield "max_pool2d", lambda a: F.max_pool2d(a, 3, 2, 1), (x(1, 2, 9, 9),)
    yield "max_pool2d by ceil", lambda a: F.max_pool2d(a, 2, ceil_mode=True), (x(1, 2, 9, 9),)
    yield "max_pool2d without a batch", lambda a: F.max_pool2d(a, 2), (x(2, 8, 8),)
    yield "avg_pool2d", lambda a: F.avg_pool2d(a, 3, 2, 1), (x(1, 2, 9, 9),)
    yield "avg_pool2d of what is there", lambda a: F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), (x(1, 2, 9, 9),)
    yield "avg_pool1d", lambda a: F.avg_pool1d(a, 2), (x(1, 2, 8),)
    yield "adaptive_avg_pool2d to 1", lambda a: F.adaptive_avg_pool2d(a, 1), (x(1, 2, 7, 5),)
    yield "adaptive_avg_pool2d", lambda a: F.adaptive_avg_pool2d(a, (2, 4)), (x(1, 2, 8, 8),)


def _normalisations():
    yield "batch_norm", lambda a, m, v, w, b: F.batch_norm(a, m, v, w, b), (
        x(2, 3, 4, 4), x(3), x(3, low=0.5), x(3), x(3))  # fmt: skip
    yield "batch_norm without weights", lambda a, m, v: F.batch_norm(a, m, v), (x(2, 3, 4), x(3), x(3, low=0.5))
    yield "layer_norm", lambda a, w, b: F.layer_norm(a, (4,), w, b), (x(2, 3, 4), x(4), x(4))
    yield "layer_norm of two axes", lambda a: F.layer_norm(a, (3, 4)), (x(2, 3, 4),)
    yield "group_norm", lambda a, w, b: F.group_norm(a, 2, w, b), (x(2, 4, 3, 3), x(4), x(4))
    yield "instance_norm", F.instance_norm, (x(2, 3, 4, 4),)
    yield "rms_norm", lambda a, w: F.rms_norm(a, (4,), w, 1e-6), (x(2, 3, 4), x(4))
    yield "softmax", lambda a: F.softmax(a, 1), (x(2, 3, 4),)
    yield "log_softmax", lambda a: F.log_softmax(a, -1), (x(2, 3, 4),)
    yield "normalize", lambda a: F.normalize(a, dim=1), (x(2, 3, 4),)


def _reductions():
    a = x(2, 3, 4)
    for name in ("mean", "sum", "amax", "amin", "argmax", "argmin", "logsumexp", "prod"):
        yield f"{name} along an axis", lambda a, name=name: getattr(torch, name)(a, 1), (a,)
        yield f"{name} kept", lambda a, name=name: getattr(torch, name)(a, -1, keepdim=True), (a,)
    for name in ("mean", "sum", "max", "min", "argmax", "prod", "var", "std"):
        yield f"{name} of all", lambda a, name=name: getattr(torch, name)(a), (a,)
    yield "sum of ints", lambda a: a.sum(1), (ints(3, 4),)
    yield "sum of bools", lambda a: a.sum(1), (bools(3, 4),)
    yield "mean of two axes", lambda a: a.mean((0, 2)), (a,)
    yield "max with places", lambda a: torch.max(a, 1), (a,)
    yield "min with places", lambda a: torch.min(a, -1, keepdim=True), (a,)
    yield "any", lambda a: a.any(1), (bools(3, 4),)
    yield "all", lambda a: a.all(), (bools(3, 4),)
    yield "var", lambda a: a.var(1), (a,)
    yield "var of the population", lambda a: a.var(1, unbiased=False), (a,)
    yield "std", lambda a: a.std((0, 1), keepdim=True), (a,)
    yield "var_mean", lambda a: torch.var_mean(a, 1), (a,)
    yield "norm", lambda a: torch.linalg.vector_norm(a, dim=1), (a,)
    yield "cumsum", lambda a: a.cumsum(1), (a,)
    yield "topk", lambda a: a.topk(2, 1), (a,)
    yield "sort", lambda a: a.sort(-1, descending=True), (a,)


def _attention():
    q, k, v = x(2, 3, 5, 8), x(2, 3, 7, 8), x(2, 3, 7, 8)
    sdpa = F.scaled_dot_product_attention
    yield "attention", sdpa, (q, k, v)
    yield "attention with a mask", lambda q, k, v, m: sdpa(q, k, v, attn_mask=m), (q, k, v, x(2, 1, 5, 7))
    yield "attention with a mask of bools", lambda q, k, v: sdpa(
        q, k, v, attn_mask=torch.ones(5, 7, dtype=torch.bool).tril(2)), (q, k, v)  # fmt: skip
    yield "causal attention", lambda q, k, v: sdpa(q, k, v, is_causal=True), (q, x(2, 3, 5, 8), x(2, 3, 5, 8))
    yield "attention with a scale", lambda q, k, v: sdpa(q, k, v, scale=0.5), (q, k, v)


def _resizing():
    a = x(1, 2, 4, 6)
    yield "nearest", lambda a: F.interpolate(a, scale_factor=2), (a,)
    yield "nearest to a size", lambda a: F.interpolate(a, size=(5, 9)), (a,)
    yield "bilinear", lambda a: F.interpolate(a, scale_factor=2, mode="bilinear"), (a,)
    yield "bilinear by corners", lambda a: F.interpolate(a, size=(7, 9), mode="bilinear", align_corners=True), (a,)
    yield "bicubic", lambda a: F.interpolate(a, scale_factor=2, mode="bicubic"), (a,)
    yield "linear", lambda a: F.interpolate(a, scale_factor=3, mode="linear"), (x(1, 2, 5),)
    yield "grid_sample", lambda a, g: F.grid_sample(a, g, align_corners=False), (a, x(1, 3, 3, 2, low=-1, high=1))


CASES = [case for group in (_unary, _activations, _binary, _views, _gathers, _products, _convolutions, _normalisations,
                            _reductions, _attention, _resizing) for case in (torch.manual_seed(3), list(group()))[1]]  # fmt: skip


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *args):
        result = self._function(*args)
        return tuple(result) if isinstance(result, (list, tuple)) else result


def compare(found, wanted):
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype and a.shape == b.shape
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-5, equal_nan=True)


@pytest.mark.parametrize("name, function, inputs", CASES, ids=[case[0] for case in CASES])
def test_operator(name, function, inputs, device):
    module = Function(function).eval()
    inputs = tuple(tensor.to(device) for tensor in inputs)
    compiled = kiln.torch.compile(module, inputs, min_block_size=1, strict=True, tf32=False, optimization_level=0)
    assert compiled.engines and compiled.engines[0].device.startswith(device), str(compiled.report)
    compare(compiled(*inputs), module(*inputs))
