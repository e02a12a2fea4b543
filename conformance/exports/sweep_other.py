"""The sweep's networks of other kinds: graphs, points, flows, sound of torchaudio, parts of diffusers, halves, quantized files."""

import os

import numpy as np
import torch
from sweep_entry import Entry
from torch import nn

with_cuda = torch.version.cuda
torch.version.cuda = None  # torchaudio compares it with its own and refuses, though nothing here runs on a GPU
try:
    import torchaudio
finally:
    torch.version.cuda = with_cuda
import diffusers
import torch_geometric.nn as geometric


# Graph networks: nodes, and edges as two rows of indices.
class Graph(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x, edges):
        return self.second(torch.relu(self.first(x, edges)), edges)


def graph(make):
    def sets():
        for nodes, edges in ((10, 24), (17, 40), (5, 9)):
            generator = torch.Generator().manual_seed(nodes)
            yield {
                "x": torch.randn(nodes, 8, generator=generator),
                "edges": torch.randint(0, nodes, (2, edges), generator=generator),
            }

    return lambda: (Graph(make(8, 16), make(16, 4)), list(sets()))


GRAPHS = {
    "gcn": lambda i, o: geometric.GCNConv(i, o, add_self_loops=False),
    "gat": lambda i, o: geometric.GATConv(i, o, add_self_loops=False),
    "gat_v2": lambda i, o: geometric.GATv2Conv(i, o, add_self_loops=False),
    "gin": lambda i, o: geometric.GINConv(nn.Sequential(nn.Linear(i, o), nn.ReLU(), nn.Linear(o, o))),
    "sage": geometric.SAGEConv,
    "sage_max": lambda i, o: geometric.SAGEConv(i, o, aggr="max"),
    "graph": geometric.GraphConv,
    "transformer": geometric.TransformerConv,
    "tag": geometric.TAGConv,
    "arma": geometric.ARMAConv,
    "leaf": geometric.LEConv,
    "cheb": lambda i, o: geometric.ChebConv(i, o, 2, normalization="sym"),
    "gated": lambda i, o: geometric.ResGatedGraphConv(i, o),
    "film": geometric.FiLMConv,
    "edge": lambda i, o: geometric.EdgeConv(nn.Linear(2 * i, o)),
    "sg": lambda i, o: geometric.SGConv(i, o, add_self_loops=False),
    "general": geometric.GeneralConv,
    "mf": geometric.MFConv,
    "supergat": lambda i, o: geometric.SuperGATConv(i, o, add_self_loops=False),
    "cluster": geometric.ClusterGCNConv,
}


def radius_of(x, y):
    return ((x.unsqueeze(2) - y.unsqueeze(1)) ** 2).sum(-1)


class Points(nn.Module):
    """PointNet++ in small: nearest neighbours by TopK, gathered, pooled."""

    def __init__(self):
        super().__init__()
        self.local, self.whole = nn.Linear(6, 16), nn.Linear(16, 10)

    def forward(self, points):
        near = radius_of(points, points).topk(4, dim=-1, largest=False).indices
        rows = points.shape[0]
        gathered = points[torch.arange(rows).view(-1, 1, 1), near]
        both = torch.cat([gathered - points.unsqueeze(2), points.unsqueeze(2).expand_as(gathered)], -1)
        return self.whole(torch.relu(self.local(both)).amax(2).amax(1))


class Flow(nn.Module):
    """RealNVP with an invertible product and its log of the determinant."""

    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8)) for _ in range(4))
        self.mix = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        log = torch.zeros(x.shape[0])
        for net in self.nets:
            x = x @ torch.triu(self.mix)
            kept, changed = x.chunk(2, -1)
            scale, shift = net(kept).chunk(2, -1)
            scale = torch.tanh(scale)
            x = torch.cat([changed * scale.exp() + shift, kept], -1)
            log = log + scale.sum(-1)
        return x, log - 0.5 * (x**2).sum(-1)


class Spline(nn.Module):
    """A rational quadratic spline: cumulative sums, searchsorted by comparisons, gathers."""

    def forward(self, x, w):
        widths = torch.softmax(w, -1)
        edges = torch.nn.functional.pad(widths.cumsum(-1), (1, 0))
        at = (x.unsqueeze(-1) >= edges).sum(-1, keepdim=True).clamp(1, w.shape[-1]) - 1
        left = edges.gather(-1, at).squeeze(-1)
        return left + (x - left) ** 2 / widths.gather(-1, at).squeeze(-1)


class Einsums(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.Parameter(torch.randn(3, 4, 5))

    def forward(self, a, b):
        c = torch.einsum("bif,bjf->bij", a, b)
        d = torch.einsum("bij,bif,bjf->bf", c, a, b)
        e = torch.einsum("bix,xyz,bjz->bijy", a[..., :3], self.core, b[..., :5])
        return c, d, e, torch.einsum("bii->bi", c @ c.mT), torch.einsum("...ij->...ji", e)


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.cell = kind(8, 12, num_layers=2, batch_first=True, bidirectional=True, **more)

    def forward(self, x):
        return self.cell(x)


class Spectrum(nn.Module):
    def forward(self, x):
        both = torch.stft(x, 32, 8, window=torch.hann_window(32), return_complex=True)
        return torch.view_as_real(both).pow(2).sum(-1).clamp(min=1e-9).log()


class Windows(nn.Module):
    """fold, unfold, roll and as many ways to index as exporters know."""

    def forward(self, x):
        columns = torch.nn.functional.unfold(x, 3, padding=1)
        back = torch.nn.functional.fold(columns, (8, 8), 3, padding=1)
        rolled = torch.roll(x, (1, -2), (2, 3))
        x = x.clone()
        x[:, 1:, ::2] = rolled[:, 1:, 1::2]
        x[..., 0] += 1.0
        return columns, back, x.flip(2), x[:, [2, 0]], torch.where(x > 0, x, 0.1 * x), x[x.sum((1, 2, 3)) > -1e9]


class Sampler(nn.Module):
    def forward(self, x, theta):
        grid = nn.functional.affine_grid(theta, (x.shape[0], 3, 6, 7), align_corners=False)
        return nn.functional.grid_sample(x, grid, align_corners=False), nn.functional.grid_sample(
            x, grid, "nearest", "reflection"
        )


def small_moe():
    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.experts = nn.Linear(16, 4), nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

        def forward(self, x):
            weights, chosen = torch.softmax(self.gate(x), -1).topk(2, -1)
            result = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                result = result + expert(x) * (weights * (chosen == i)).sum(-1, keepdim=True)
            return result

    return Experts(), [{"x": torch.randn(n, 16)} for n in (6, 1, 9)]


def shapes(module, *sets):
    return lambda: (module(), [{name: torch.randn(shape) for name, shape in given.items()} for given in sets])


SMALL = {
    "points": shapes(Points, {"points": (2, 12, 3)}, {"points": (1, 30, 3)}),
    "flow": shapes(Flow, {"x": (5, 8)}, {"x": (1, 8)}),
    "spline": shapes(Spline, {"x": (5, 3), "w": (5, 3, 6)}, {"x": (2, 3), "w": (2, 3, 6)}),
    "einsums": shapes(Einsums, {"a": (2, 4, 7), "b": (2, 4, 7)}, {"a": (3, 4, 7), "b": (3, 4, 7)}),
    "lstm": shapes(lambda: Recurrent(nn.LSTM), {"x": (2, 7, 8)}, {"x": (3, 4, 8)}),
    "lstm_projected": shapes(lambda: Recurrent(nn.LSTM, proj_size=5), {"x": (2, 7, 8)}, {"x": (3, 4, 8)}),
    "gru": shapes(lambda: Recurrent(nn.GRU), {"x": (2, 7, 8)}, {"x": (3, 4, 8)}),
    "rnn": shapes(lambda: Recurrent(nn.RNN), {"x": (2, 7, 8)}, {"x": (3, 4, 8)}),
    "spectrum": shapes(Spectrum, {"x": (2, 160)}, {"x": (1, 160)}),
    "windows": shapes(Windows, {"x": (2, 3, 8, 8)}, {"x": (3, 3, 8, 8)}),
    "sampler": shapes(Sampler, {"x": (2, 3, 8, 8), "theta": (2, 2, 3)}, {"x": (1, 3, 8, 8), "theta": (1, 2, 3)}),
    "moe": small_moe,
    "transformer": lambda: (
        nn.Transformer(16, 2, 2, 2, 32, batch_first=True),
        [{"src": torch.randn(n, 6, 16), "tgt": torch.randn(n, 4, 16)} for n in (2, 3)],
    ),
    "wavenet": shapes(
        lambda: nn.Sequential(
            *(
                nn.Sequential(nn.ConstantPad1d((2**i, 0), 0.0), nn.Conv1d(4, 8, 2, dilation=2**i), nn.GLU(1))
                for i in range(4)
            )
        ),
        {"input": (2, 4, 30)},
        {"input": (1, 4, 17)},
    ),
    "pixel_shuffle": shapes(
        lambda: nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.PixelUnshuffle(2), nn.Mish()),
        {"input": (2, 3, 8, 8)},
        {"input": (1, 3, 6, 10)},
    ),
}


# Sound.
def lengths(module, width, **more):
    return lambda: (
        module(),
        [
            {"input": torch.randn(rows, time, width), "lengths": torch.full((rows,), time)}
            for rows, time in ((2, 20), (3, 20))
        ],
    )


AUDIO = {
    "conv_tasnet": shapes(
        lambda: torchaudio.models.ConvTasNet(2, 8, 32, 3, 16, 32, 2, 2), {"input": (2, 1, 400)}, {"input": (1, 1, 400)}
    ),
    "wav2letter": shapes(lambda: torchaudio.models.Wav2Letter(10, "mfcc", 13), {"x": (2, 13, 50)}, {"x": (1, 13, 70)}),
    "deepspeech": shapes(
        lambda: torchaudio.models.DeepSpeech(16, 32, 10), {"x": (2, 1, 20, 16)}, {"x": (3, 1, 20, 16)}
    ),
    "conformer": lengths(lambda: torchaudio.models.Conformer(16, 2, 32, 2, 7), 16),
    "wavernn": shapes(
        lambda: torchaudio.models.WaveRNN([2, 2, 2], 16, 8, 2, 16, 16, 5, 8, 16, 16),
        {"waveform": (2, 1, 48), "specgram": (2, 1, 8, 10)},
        {"waveform": (1, 1, 48), "specgram": (1, 1, 8, 10)},
    ),
    "hdemucs": shapes(
        lambda: torchaudio.models.HDemucs(["a", "b"], audio_channels=1, channels=8, depth=3, nfft=256),
        {"input": (1, 1, 2048)},
    ),
    "squim": shapes(
        lambda: torchaudio.models.squim_objective_model(16, 8, 16, 8, 1, 1, 8, 71), {"x": (2, 400)}, {"x": (1, 400)}
    ),
    "melspectrogram": shapes(
        lambda: torchaudio.transforms.MelSpectrogram(16000, 64, n_mels=10), {"waveform": (2, 800)}
    ),
    "mfcc": shapes(
        lambda: torchaudio.transforms.MFCC(16000, 8, melkwargs={"n_fft": 64, "n_mels": 12}), {"waveform": (2, 800)}
    ),
    "resample": shapes(
        lambda: torchaudio.transforms.Resample(16000, 12000), {"waveform": (2, 800)}, {"waveform": (1, 500)}
    ),
}


# Diffusion.
def diffusion(make, sets):
    def both():
        module = make()
        return Keywords(module), [
            {
                name: torch.randn(value) if isinstance(value, tuple) else torch.tensor(value)
                for name, value in given.items()
            }
            for given in sets
        ]

    return both


class Keywords(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, **arrays):
        grouped = {name: value for name, value in arrays.items() if not name.startswith("added_")}
        added = {name[6:]: value for name, value in arrays.items() if name.startswith("added_")}
        return self.module(**grouped, **({"added_cond_kwargs": added} if added else {}), return_dict=False)


UNET = dict(block_out_channels=(16, 32), norm_num_groups=8, layers_per_block=1, sample_size=8)
VAE = dict(block_out_channels=(16, 32), norm_num_groups=8, layers_per_block=1, latent_channels=4)
TWO = dict(down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)


def flux_sets():
    return [
        {
            "hidden_states": (n, 16, 8),
            "encoder_hidden_states": (n, 5, 32),
            "pooled_projections": (n, 16),
            "timestep": [0.3] * n,
            "img_ids": (16, 3),
            "txt_ids": (5, 3),
        }
        for n in (2, 1)
    ]


DIFFUSION = {
    "unet2d": diffusion(
        lambda: diffusers.UNet2DModel(
            **UNET,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=8,
        ),
        [{"sample": (n, 3, 8, 8), "timestep": 7} for n in (2, 1)],
    ),
    "unet_condition": diffusion(
        lambda: diffusers.UNet2DConditionModel(
            **UNET,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
            cross_attention_dim=24,
            attention_head_dim=4,
        ),
        [{"sample": (n, 4, 8, 8), "timestep": 7, "encoder_hidden_states": (n, 5, 24)} for n in (2, 1)],
    ),
    "unet_xl": diffusion(
        lambda: diffusers.UNet2DConditionModel(
            **UNET,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=24,
            attention_head_dim=4,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=64,
            use_linear_projection=True,
        ),
        [
            {
                "sample": (n, 4, 8, 8),
                "timestep": 7,
                "encoder_hidden_states": (n, 5, 24),
                "added_text_embeds": (n, 16),
                "added_time_ids": (n, 6),
            }
            for n in (2, 1)
        ],
    ),
    "unet3d": diffusion(
        lambda: diffusers.UNet3DConditionModel(
            **UNET,
            down_block_types=("CrossAttnDownBlock3D", "DownBlock3D"),
            up_block_types=("UpBlock3D", "CrossAttnUpBlock3D"),
            cross_attention_dim=24,
            attention_head_dim=8,
        ),
        [{"sample": (n, 4, 3, 8, 8), "timestep": 7, "encoder_hidden_states": (n, 5, 24)} for n in (2, 1)],
    ),
    "unet1d": diffusion(
        lambda: diffusers.UNet1DModel(
            sample_size=32,
            in_channels=2,
            out_channels=2,
            extra_in_channels=32,
            block_out_channels=(32, 32),
            down_block_types=("DownBlock1DNoSkip", "DownBlock1D"),
            up_block_types=("UpBlock1D", "UpBlock1DNoSkip"),
            layers_per_block=1,
        ),
        [{"sample": (n, 2, 32), "timestep": 7} for n in (2, 1)],
    ),
    "vae": diffusion(lambda: diffusers.AutoencoderKL(**VAE, **TWO), [{"sample": (n, 3, 16, 16)} for n in (2, 1)]),
    "vae_tiny": diffusion(
        lambda: diffusers.AutoencoderTiny(
            encoder_block_out_channels=(8, 8),
            decoder_block_out_channels=(8, 8),
            num_encoder_blocks=(1, 1),
            num_decoder_blocks=(1, 1),
        ),
        [{"sample": (n, 3, 16, 16)} for n in (2, 1)],
    ),
    "vq": diffusion(
        lambda: diffusers.VQModel(block_out_channels=(16, 32), norm_num_groups=8, num_vq_embeddings=16, **TWO),
        [{"sample": (n, 3, 16, 16)} for n in (2, 1)],
    ),
    "dc_ae": diffusion(
        lambda: diffusers.AutoencoderDC(
            attention_head_dim=8,
            encoder_block_out_channels=(16, 32),
            decoder_block_out_channels=(16, 32),
            encoder_layers_per_block=(1, 1),
            decoder_layers_per_block=(1, 1),
            encoder_block_types=("ResBlock", "EfficientViTBlock"),
            decoder_block_types=("ResBlock", "EfficientViTBlock"),
            encoder_qkv_multiscales=((), (5,)),
            latent_channels=4,
            decoder_qkv_multiscales=((), (5,)),
            decoder_norm_types="rms_norm",
            decoder_act_fns="silu",
        ),
        [{"sample": (n, 3, 16, 16)} for n in (2, 1)],
    ),
    "dit": diffusion(
        lambda: diffusers.DiTTransformer2DModel(
            2, 8, in_channels=4, num_layers=2, sample_size=8, norm_num_groups=4, num_embeds_ada_norm=20
        ),
        [{"hidden_states": (n, 4, 8, 8), "timestep": [3] * n, "class_labels": [1] * n} for n in (2, 1)],
    ),
    "pixart": diffusion(
        lambda: diffusers.PixArtTransformer2DModel(
            2,
            8,
            in_channels=4,
            out_channels=8,
            num_layers=2,
            sample_size=8,
            cross_attention_dim=16,
            caption_channels=12,
            norm_num_groups=4,
            use_additional_conditions=False,
        ),
        [{"hidden_states": (n, 4, 8, 8), "encoder_hidden_states": (n, 5, 12), "timestep": [3] * n} for n in (2, 1)],
    ),
    "sd3": diffusion(
        lambda: diffusers.SD3Transformer2DModel(
            sample_size=8,
            in_channels=4,
            num_layers=2,
            attention_head_dim=8,
            num_attention_heads=2,
            joint_attention_dim=24,
            caption_projection_dim=16,
            pooled_projection_dim=16,
            out_channels=4,
            pos_embed_max_size=8,
        ),
        [
            {
                "hidden_states": (n, 4, 8, 8),
                "encoder_hidden_states": (n, 5, 24),
                "pooled_projections": (n, 16),
                "timestep": [3.0] * n,
            }
            for n in (2, 1)
        ],
    ),
    "flux": diffusion(
        lambda: diffusers.FluxTransformer2DModel(
            patch_size=1,
            in_channels=8,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=16,
            axes_dims_rope=(4, 6, 6),
        ),
        flux_sets(),
    ),
    "aura": diffusion(
        lambda: diffusers.AuraFlowTransformer2DModel(
            sample_size=8,
            in_channels=4,
            num_mmdit_layers=1,
            num_single_dit_layers=1,
            attention_head_dim=8,
            num_attention_heads=2,
            joint_attention_dim=24,
            caption_projection_dim=16,
            pos_embed_max_size=16,
        ),
        [{"hidden_states": (n, 4, 8, 8), "encoder_hidden_states": (n, 5, 24), "timestep": [0.3] * n} for n in (2, 1)],
    ),
    "sana": diffusion(
        lambda: diffusers.SanaTransformer2DModel(
            in_channels=4,
            out_channels=4,
            num_attention_heads=2,
            attention_head_dim=8,
            num_layers=1,
            num_cross_attention_heads=2,
            cross_attention_head_dim=8,
            cross_attention_dim=16,
            caption_channels=12,
            sample_size=8,
        ),
        [{"hidden_states": (n, 4, 8, 8), "encoder_hidden_states": (n, 5, 12), "timestep": [3] * n} for n in (2, 1)],
    ),
    "prior": diffusion(
        lambda: diffusers.PriorTransformer(2, 8, 2, 16, num_embeddings=5, additional_embeddings=4),
        [
            {
                "hidden_states": (n, 16),
                "timestep": [3] * n,
                "proj_embedding": (n, 16),
                "encoder_hidden_states": (n, 5, 16),
            }
            for n in (2, 1)
        ],
    ),
    "controlnet": diffusion(
        lambda: diffusers.ControlNetModel(
            block_out_channels=(16, 32),
            norm_num_groups=8,
            layers_per_block=1,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            cross_attention_dim=24,
            attention_head_dim=4,
            conditioning_embedding_out_channels=(8, 16),
        ),
        [
            {
                "sample": (n, 4, 8, 8),
                "timestep": 7,
                "encoder_hidden_states": (n, 5, 24),
                "controlnet_cond": (n, 3, 16, 16),
            }
            for n in (2, 1)
        ],
    ),
    "ltx": diffusion(
        lambda: diffusers.AutoencoderKLTemporalDecoder(
            block_out_channels=(32, 32),
            layers_per_block=1,
            down_block_types=("DownEncoderBlock2D",) * 2,
            latent_channels=4,
        ),
        [{"sample": (2, 3, 16, 16)}],
    ),
}


class Denoise(nn.Module):
    """Three steps of DDIM around a small network, as a pipeline that is exported whole."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 3, 3, padding=1)
        self.scheduler = diffusers.DDIMScheduler(num_train_timesteps=50, clip_sample=False)
        self.scheduler.set_timesteps(3)

    def forward(self, x):
        for step in self.scheduler.timesteps:
            x = self.scheduler.step(self.net(x), int(step), x).prev_sample
        return x


# Files that something rewrites behind the export.
def quantize_dynamic(path, sets):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    os.rename(path, path + ".float")
    quantize_dynamic(path + ".float", path, weight_type=QuantType.QInt8)


def quantize_static(form, per_channel):
    def finish(path, sets):
        from onnxruntime import quantization

        class Reader(quantization.CalibrationDataReader):
            def __init__(self):
                self.rest = iter([{name: tensor.numpy() for name, tensor in given.items()} for given in sets])

            def get_next(self):
                return next(self.rest, None)

        os.rename(path, path + ".float")
        quantization.quantize_static(
            path + ".float",
            path,
            Reader(),
            quant_format=getattr(quantization.QuantFormat, form),
            per_channel=per_channel,
        )

    return finish


class Halves(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module.half()

    def forward(self, **arrays):
        return self.module(
            **{name: array.half() if array.is_floating_point() else array for name, array in arrays.items()}
        )


def entries():
    import sweep_language
    import sweep_vision

    rows = {f"graph/{name}": Entry(graph(make)) for name, make in GRAPHS.items()}
    rows |= {f"small/{name}": Entry(make) for name, make in SMALL.items()}
    rows |= {f"torchaudio/{name}": Entry(make) for name, make in AUDIO.items()}
    rows |= {f"diffusers/{name}": Entry(make) for name, make in DIFFUSION.items()}
    rows["diffusers/denoise"] = Entry(shapes(Denoise, {"x": (2, 3, 8, 8)}, {"x": (1, 3, 8, 8)}))
    sources = {**sweep_language.entries(), **sweep_vision.entries(), **rows}
    for name in (
        "tv/resnet18",
        "tv/mobilenet_v3_small",
        "timm/test_vit",
        "timm/test_convnext",
        "masked/bert",
        "causal/llama",
        "small/lstm",
        "tv/swin",
    ):
        make = sources[name].make
        rows[f"dynamic_int8/{name}"] = Entry(make, ("script",), finish=quantize_dynamic, tolerance=2e-2)
        rows[f"half/{name}"] = Entry(make, ("dynamo", "script"), convert=Halves, tolerance=1e-2)
        if not name.startswith(("masked", "causal", "small")):
            rows[f"qdq/{name}"] = Entry(make, ("script",), finish=quantize_static("QDQ", True), tolerance=2e-2)
            rows[f"qoperator/{name}"] = Entry(
                make, ("script",), finish=quantize_static("QOperator", False), tolerance=2e-2
            )
    return rows
