"""The sweep's single forms, which exporters write in ways of their own, networks of libraries beside PyTorch's, and
files that tools rewrote: ONNX Runtime's optimizers, onnxconverter_common's halves, ONNX's converter of versions."""

import os

import torch
import torch.nn.functional as F
from sweep_entry import Entry
from torch import nn


class ByPosition(nn.Module):
    """A function of tensors, or a module, by the position of its inputs."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, **arrays):
        return self.function(*arrays.values())


def drawn(what):
    """An input: a tensor, the extents of normal ones, or a function that makes it."""
    if isinstance(what, torch.Tensor):
        return what
    return what() if callable(what) else torch.randn(what)


def ints(high, *extents):
    return lambda: torch.randint(0, high, extents)


def positive(*extents):
    return lambda: torch.rand(extents) + 0.1


def form(function, *sets):
    return lambda: (ByPosition(function), [{f"x{i}": drawn(what) for i, what in enumerate(given)} for given in sets])


def made(make, *sets):
    return lambda: form(make(), *sets)()


MATRICES = ([(4, 6)], [(3, 9)])
IMAGES = ([(2, 4, 8, 8)], [(1, 4, 10, 7)])


def assigned(x):
    x = x.clone()
    x[:, 1, ::2, 1:3] = 5.0
    x[..., -1] = x[..., 0] * 2
    x[0] += 1
    x[:, [0, 2]] *= 3
    x[x > 2] = 0.5
    return x


def greedy(scores):
    """CTC's best path: what repeats and what is blank goes."""
    best = scores.argmax(-1)
    keep = torch.cat([torch.ones(1, dtype=torch.bool), best[1:] != best[:-1]]) & (best != 0)
    return best[keep]


def sinkhorn(x):
    for _ in range(5):
        x = x - x.logsumexp(1, keepdim=True)
        x = x - x.logsumexp(0, keepdim=True)
    return x.exp()


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(6, 8, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(self.cell(packed)[0], batch_first=True)[0]


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True, add_bias_kv=True, add_zero_attn=True)

    def forward(self, x, padding):
        return self.attention(x, x, x, key_padding_mask=padding)


FORMS = {
    "pool_indices": form(lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), *IMAGES),
    "deconv_weights": form(
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        [(2, 4, 8, 8), (4, 3, 3, 3)],
        [(1, 4, 5, 8), (4, 3, 3, 3)],
    ),
    "conv_weights": form(
        lambda x, w: F.conv2d(x.reshape(1, -1, 8, 8), w.reshape(-1, 4, 3, 3), padding=1, groups=2),
        [(2, 4, 8, 8), (2, 6, 4, 3, 3)],
    ),
    "no_nan": form(lambda x: (x / (x > 0)).nan_to_num(0.5, 9.0, -9.0), *MATRICES),
    "all_masked": form(lambda x: torch.where(x > 99, x, float("-inf")).softmax(-1).nan_to_num(), *MATRICES),
    "is_what": form(lambda x: (x > 0, (x > 0) & (x < 1), x.isnan(), x.isinf(), x.ne(0)), *MATRICES),
    "int_matmul": form(lambda x, y: x @ y, [ints(9, 3, 4), ints(9, 4, 5)], [ints(9, 2, 4), ints(9, 4, 1)]),
    "wide_sum": form(lambda *xs: sum((i + 1) * x for i, x in enumerate(xs)).relu(), [(4, 6)] * 20, [(3, 5)] * 20),
    "masked_select": form(lambda x: x[x > 0] * 2, *MATRICES),
    "unique": form(lambda x: torch.unique(x, return_inverse=True, return_counts=True), [ints(5, 20)], [ints(9, 31)]),
    "greedy": form(greedy, [(20, 5)], [(31, 5)]),
    "sinkhorn": form(sinkhorn, [(4, 6)], [(5, 5)]),
    "assigned": form(assigned, *IMAGES),
    "put": form(
        lambda x, i: torch.zeros_like(x).index_put((i, i % 4), torch.ones(i.shape), accumulate=True),
        [(5, 6), ints(5, 9)],
        [(7, 4), ints(7, 4)],
    ),
    "indexed": form(
        lambda x, i: (x[i], x[:, i % 3], x[i, :, i % 2], x[..., i % 2, :], x[None, i[:, None], (i % 2)[None]]),
        [(5, 4, 3), ints(4, 6)],
        [(7, 5, 4), ints(4, 3)],
    ),
    "distances": form(lambda x, y: torch.cdist(x, y), [(2, 5, 3), (2, 4, 3)], [(1, 7, 3), (1, 2, 3)]),
    "divisions": form(
        lambda x, y: (torch.div(x, y, rounding_mode="floor"), -x % y, torch.fmod(-x, y), x / y),
        [ints(99, 4, 5), lambda: torch.randint(1, 9, (4, 5))],
        [ints(99, 3, 5), lambda: torch.randint(1, 9, (3, 5))],
    ),
    "extremes": form(lambda x: (x.amin(0), x.amax(), x.max(-1), x.argmin(0), x.argmax(), x.var(-1)), *MATRICES),
    "norms": form(lambda x: (x.norm(1, -1), x.norm(float("inf"), 0), x.norm(3, 0), x.logsumexp(0)), *MATRICES),
    "half_top": form(lambda x: x.topk(x.shape[-1] // 2, -1), *MATRICES),
    "power_pool": form(lambda x: (F.lp_pool2d(x, 2, 3, 2), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)), *IMAGES),
    "large_pool": form(nn.AvgPool2d(9, ceil_mode=True), [(2, 4, 1, 3)], [(1, 4, 5, 9)]),
    "pads": form(lambda x: (F.pad(x, (1, 2, 3, 1), "reflect"), F.pad(x, (1, 2, 0, 1), "circular")), *IMAGES),
    "cubic": form(
        lambda x: (F.interpolate(x, scale_factor=2, mode="bicubic"), F.interpolate(x, scale_factor=1.7)), *IMAGES
    ),
    "like": form(
        lambda x, y: F.interpolate(x, size=y.shape[-2:], mode="bilinear"),
        [(2, 4, 8, 8), (2, 1, 13, 9)],
        [(1, 4, 5, 6), (1, 1, 7, 16)],
    ),
    "grid_cubic": form(
        lambda x, grid: F.grid_sample(x, grid.tanh(), "bicubic", "border", align_corners=True),
        [(2, 4, 8, 8), (2, 3, 5, 2)],
        [(1, 4, 6, 7), (1, 4, 4, 2)],
    ),
    "grid_border": form(  # positions beyond the picture, too
        lambda x, grid: F.grid_sample(x, 2 * grid, "bicubic", "border", align_corners=False),
        [(2, 4, 8, 8), (2, 3, 5, 2)],
        [(1, 4, 6, 7), (1, 4, 4, 2)],
    ),
    "corners": form(  # of scales that make no whole extents
        lambda x: (
            F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=True),
            F.interpolate(x, scale_factor=0.6, mode="bicubic", align_corners=True),
        ),
        *IMAGES,
    ),
    "hard": form(
        lambda x, u: F.one_hot((x - (-(0.9 * u).log()).log()).argmax(-1), x.shape[-1]).float() @ x.T,
        [(4, 6), positive(4, 6)],
        [(3, 6), positive(3, 6)],
    ),
    "bags": form(nn.EmbeddingBag(20, 6, mode="mean"), [ints(20, 4, 5)], [ints(20, 3, 5)]),
    "repeated": form(  # as often as data says
        lambda x, n: x.repeat_interleave(n, 0),
        [(4, 6), torch.tensor([1, 0, 3, 2])],
        [(3, 6), torch.tensor([2, 2, 1])],
    ),
    "empty": form(lambda x: x.relu() @ torch.arange(12.0).view(6, 2), [(4, 6)], [(0, 6)], [(1, 6)]),
    "packed": made(Packed, [(3, 7, 6), torch.tensor([7, 4, 5])], [(2, 5, 6), torch.tensor([2, 5])]),
    "padded": made(
        Attending,
        [(2, 5, 16), torch.tensor([[False] * 3 + [True] * 2, [False] * 5])],
        [(1, 4, 16), torch.tensor([[False] * 4])],
    ),
}

# Forms that dynamo=True alone exports, or exports in another way.
NEWER_FORMS = {
    "antialiased": form(
        lambda x: (
            F.interpolate(x, size=(5, 3), mode="bilinear", antialias=True),
            F.interpolate(x, scale_factor=0.4, mode="bicubic", antialias=True),
            F.interpolate(x, size=(13, 5), mode="bicubic", antialias=True),
        ),
        *IMAGES,
    ),
    "weighted_bags": made(
        lambda: (lambda bag: lambda i, w: bag(i, per_sample_weights=w))(nn.EmbeddingBag(20, 6, mode="sum")),
        [ints(20, 4, 5), (4, 5)],
        [ints(20, 3, 5), (3, 5)],
    ),
}


# Networks of other libraries, which need not be there: what lacks one is not exported.
def kornia(function):
    def make():
        import kornia

        return lambda *arrays: function(kornia, *arrays)

    return make


class Inverse(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, y):
        return self.module.inverse(y)


def autoregressive(around=lambda module: module):
    def make():
        from nflows.transforms import MaskedAffineAutoregressiveTransform

        return around(MaskedAffineAutoregressiveTransform(6, 16, num_blocks=1))

    return make


def spline_flow():
    from nflows.nn.nets import ResidualNet
    from nflows.transforms import PiecewiseRationalQuadraticCouplingTransform

    return PiecewiseRationalQuadraticCouplingTransform(
        torch.tensor([1, 0, 1, 0, 1, 0]),
        lambda wide, narrow: ResidualNet(wide, narrow, 16, num_blocks=1),
        num_bins=5,
        tails="linear",
        tail_bound=3.0,
    )


class Integrated(nn.Module):
    """Steps of Runge and Kutta through a field that is learned."""

    def __init__(self):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))

    def forward(self, x):
        from torchdiffeq import odeint

        return odeint(lambda _, y: self.field(y), x, torch.linspace(0, 1, 4), method="rk4")


def medical(name, *arguments, **more):
    def make():
        import monai.networks.nets

        return getattr(monai.networks.nets, name)(*arguments, **more)

    return make


def speaker():
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN

    kernels = {"kernel_sizes": [5, 3, 3, 3, 1], "dilations": [1, 2, 3, 4, 1]}
    widths = {"channels": [16, 16, 16, 16, 48], "attention_channels": 8, "se_channels": 8, "lin_neurons": 16}
    return ECAPA_TDNN(20, **kernels, **widths, res2net_scale=4)


PICTURES = ([positive(2, 3, 16, 16)], [positive(1, 3, 12, 20)])
VOLUMES = ([(1, 1, 32, 32, 32)], [(2, 1, 32, 32, 32)])
LIBRARIES = {
    "kornia_filters": made(
        kornia(lambda k, x: (k.filters.gaussian_blur2d(x, (5, 5), (1.5, 1.5)), k.filters.median_blur(x, (3, 3)))),
        *PICTURES,
    ),
    "kornia_color": made(
        kornia(lambda k, x: (k.color.rgb_to_hsv(x), k.color.rgb_to_lab(x), k.color.rgb_to_hls(x))), *PICTURES
    ),
    "kornia_warp": made(
        kornia(lambda k, x, m: k.geometry.transform.warp_perspective(x, m + 3 * torch.eye(3), (10, 12))),
        [positive(2, 3, 16, 16), (2, 3, 3)],
        [positive(1, 3, 12, 20), (1, 3, 3)],
    ),
    "kornia_rotation": made(kornia(lambda k, v: k.geometry.axis_angle_to_rotation_matrix(v)), [(4, 3)], [(2, 3)]),
    "nflows_spline": made(spline_flow, [(5, 6)], [(2, 6)]),
    "nflows_masked": made(autoregressive(), [(5, 6)], [(2, 6)]),
    "nflows_inverse": made(autoregressive(Inverse), [(5, 6)], [(2, 6)]),
    "ode": made(Integrated, [(5, 4)], [(2, 4)]),
    "monai_segresnet": made(
        medical("SegResNet", init_filters=8, in_channels=1, out_channels=2, blocks_down=(1, 1), blocks_up=(1,)),
        *VOLUMES,
    ),
    "monai_dynunet": made(
        medical("DynUNet", 3, 1, 2, (3, 3, 3), (1, 2, 2), (2, 2), filters=(4, 8, 16)), *VOLUMES
    ),
    "speaker": made(speaker, [(2, 40, 20)], [(1, 60, 20)]),
}


# Files that tools rewrite behind the export.
def optimized(kind, **options):
    def finish(path, sets):
        from onnxruntime.transformers import fusion_options, optimizer

        wanted = fusion_options.FusionOptions(kind)
        for name, value in options.items():
            setattr(wanted, name, value)
        how = {"num_heads": 4, "hidden_size": 32, "optimization_options": wanted, "opt_level": 0}
        optimizer.optimize_model(path, kind, **how).save_model_to_file(path)

    return finish


def saved_by_runtime(level):
    def finish(path, sets):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        options.optimized_model_filepath = path + ".saved"
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        os.replace(path + ".saved", path)

    return finish


def halved(path, sets):
    import onnx
    from onnxconverter_common import float16

    onnx.save(float16.convert_float_to_float16(onnx.load(path), keep_io_types=True), path)


def of_version(version):
    def finish(path, sets):
        import onnx
        from onnx import version_converter

        onnx.save(version_converter.convert_version(onnx.load(path), version), path)

    return finish


def few_bits(bits, is_symmetric):
    def finish(path, sets):
        import onnx
        from onnxruntime.quantization import matmul_nbits_quantizer

        quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
            onnx.load(path), block_size=16, bits=bits, is_symmetric=is_symmetric
        )
        quantizer.process()
        quantizer.model.save_model_to_file(path)

    return finish


REWRITTEN = {
    "optimized": (
        ("masked/bert", optimized("bert")),
        ("masked/roberta-prelayernorm", optimized("bert")),
        ("masked/distilbert", optimized("bert")),
        ("causal/gpt2", optimized("gpt2")),
        ("seq2seq/t5", optimized("t5")),
        ("vision/clip", optimized("clip")),
    ),
    "optimized_heads": (("masked/bert", optimized("bert", use_multi_head_attention=True)),),
    "saved_basic": (("masked/bert", saved_by_runtime("ORT_ENABLE_BASIC")),),
    "saved_extended": (
        ("masked/bert", saved_by_runtime("ORT_ENABLE_EXTENDED")),
        ("tv/resnet18", saved_by_runtime("ORT_ENABLE_EXTENDED")),
    ),
    "halved": (("masked/bert", halved), ("small/lstm", halved), ("tv/deeplab", halved)),
    "version23": (("masked/bert", of_version(23)), ("small/windows", of_version(23)), ("tv/deeplab", of_version(23))),
    "bits4": (("causal/llama", few_bits(4, True)),),
    "bits8": (("causal/llama", few_bits(8, False)),),
}


def entries():
    import sweep_language
    import sweep_other
    import sweep_vision

    sources = {**sweep_other.entries(), **sweep_language.entries(), **sweep_vision.entries()}
    rows = {f"form/{name}": Entry(make, ("script",), stirred=False) for name, make in FORMS.items()}
    rows |= {f"form/{name}": Entry(make, ("dynamo",), stirred=False) for name, make in NEWER_FORMS.items()}
    for name, make in LIBRARIES.items():
        rows[f"library/{name}"] = Entry(make, ("script",), stirred=not name.startswith("kornia"))
    for kind, files in REWRITTEN.items():
        for name, finish in files:
            tolerance = 1e-2 if kind == "halved" else None
            rows[f"{kind}/{name}"] = Entry(sources[name].make, ("script",), finish=finish, tolerance=tolerance)
    return rows
