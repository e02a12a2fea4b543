"""The sweep's networks of transformers: text, speech, and text beside images, in small configurations."""

import functools
import inspect

import torch
import transformers
from sweep_entry import Entry
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

WORDS = 99
# By name of a configuration's field; a configuration gets those that it has.
SMALL = {
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "dim": 32,
    "embed_dim": 32,
    "emb_dim": 32,
    "embedding_size": 32,
    "num_hidden_layers": 2,
    "num_layers": 2,
    "n_layer": 2,
    "n_layers": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "num_decoder_layers": 2,
    "num_encoder_layers": 2,
    "num_attention_heads": 4,
    "n_head": 4,
    "n_heads": 4,
    "num_heads": 4,
    "num_key_value_heads": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "num_kv_heads": 2,
    "num_encoder_attention_heads": 4,
    "num_decoder_attention_heads": 4,
    "head_dim": 8,
    "intermediate_size": 64,
    "d_ff": 64,
    "ffn_dim": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "n_inner": 64,
    "d_inner": 64,
    "ffn_hidden_size": 64,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "d_kv": 8,
    "vocab_size": WORDS,
    "vocab_size_per_layer_input": WORDS,
    "hidden_size_per_layer_input": 8,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "n_ctx": 64,
    "max_target_positions": 64,
    "max_source_positions": 64,
    "sliding_window": 4,
    "attention_window": 4,
    "block_size": 4,
    "local_attention": 4,
    "window_size": 4,
    "state_size": 8,
    "ssm_state_size": 8,
    "mamba_d_state": 8,
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
    "mamba_num_heads": 4,
    "mamba_head_dim": 16,
    "mamba_expand": 2,
    "mamba_chunk_size": 4,
    "chunk_size": 4,
    "rotary_dim": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
    "image_size": 32,
    "patch_size": 8,
    "projection_dim": 16,
    "lru_width": 32,
    "attention_hidden_size": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
# What a family wants beside that.
MORE = {
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1},
    "rwkv": {"attention_hidden_size": 32},
    "gptj": {"rotary_dim": 4},
    "codegen": {"rotary_dim": 4},
    "reformer": {
        "attn_layers": ["local"],
        "is_decoder": False,
        "axial_pos_shape": [8, 8],
        "axial_pos_embds_dim": [16, 16],
        "attention_head_size": 8,
        "local_attn_chunk_length": 4,
    },
    **{
        kind: {"num_key_value_heads": 4}
        for kind in (
            "deepseek_v2",
            "deepseek_v3",
            "deepseek_v32",
            "longcat_flash",
            "minicpm3",
            "youtu",
            "glm4_moe_lite",
            "kimi_linear",
        )
    },
    "funnel": {"block_sizes": [1, 1], "d_head": 8},
    "bloom": {"hidden_size": 32},
    "qwen3_next": {"layer_types": ["linear_attention", "full_attention"]},
    "recurrent_gemma": {"block_types": ["recurrent", "attention"]},
    "xlnet": {"d_inner": 64},
    "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2, "use_mamba_kernels": False, "mamba_dt_rank": 4},
    "bamba": {"attn_layer_indices": [1], "mamba_n_groups": 1},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"]},
    "mobilebert": {"intra_bottleneck_size": 16, "embedding_size": 16, "true_hidden_size": 16},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "deberta-v2": {"pos_att_type": ["c2p", "p2c"], "relative_attention": True},
    "deberta": {"pos_att_type": ["c2p", "p2c"], "relative_attention": True},
}


def small_config(kind):
    """A configuration of a family with the fields of SMALL that it has."""
    kind_of = CONFIG_MAPPING[kind]
    plain = kind_of()
    fields = {
        name: value
        for name, value in SMALL.items()
        if isinstance(getattr(plain, name, None), int)
        or (getattr(plain, name, None) is None and hasattr(plain, name) and name.endswith("_id"))
    }
    fields = {name: value for name, value in fields.items() if not isinstance(getattr(kind_of, name, None), property)}
    fields.update(MORE.get(kind, {}))
    layers = fields.get("num_hidden_layers", 2)
    for name in ("layer_types", "layers_block_type", "mlp_layer_types"):
        listed = getattr(plain, name, None)
        if isinstance(listed, (list, tuple)) and name not in fields:
            fields[name] = list(listed)[-layers:]
    try:
        config = kind_of(**fields)
    except Exception:
        for name in ("layer_types", "layers_block_type", "mlp_layer_types"):
            fields.pop(name, None)
        config = kind_of(**fields)
    for part in ("text_config", "vision_config"):
        inner = getattr(config, part, None)
        if inner is not None and getattr(inner, "model_type", None) in CONFIG_MAPPING and inner.model_type != kind:
            setattr(config, part, small_config(inner.model_type))
    return config


def ids_of(rows, length):
    return torch.randint(3, WORDS, (rows, length), generator=torch.Generator().manual_seed(rows * 31 + length))


def mask_of(rows, length):
    mask = torch.ones(rows, length, dtype=torch.long)
    mask[0, : length // 3] = 0
    return mask


TEXT_SHAPES = ((2, 8), (1, 12), (3, 4))


def of_class(names, kind):
    name = names[kind]
    name = name[0] if isinstance(name, (tuple, list)) else name
    kind_of = getattr(transformers, name)
    config = small_config(kind)
    accepted = inspect.signature(kind_of.__init__).parameters
    if "config" not in accepted and len(accepted) < 2:
        raise TypeError(f"{name} takes no configuration")
    config._attn_implementation = "eager"
    config._experts_implementation = (
        "batched_mm"  # the other ways are loops over data, or an operator without an export
    )
    return (
        kind_of._from_config(config, attn_implementation="eager")
        if hasattr(kind_of, "_from_config")
        else kind_of(config)
    )


class Fixed(torch.nn.Module):
    """A module with arguments that are not tensors."""

    def __init__(self, module, **fixed):
        super().__init__()
        self.module = module
        self.fixed = fixed

    def forward(self, **arrays):
        return self.module(**arrays, **self.fixed)


def text(names, kind, seq2seq=False):
    module = of_class(names, kind)
    accepted = inspect.signature(module.forward).parameters
    fixed = {"use_cache": False} if "use_cache" in accepted else {}
    sets = []
    for rows, length in TEXT_SHAPES:
        arrays = {"input_ids": ids_of(rows, length)}
        if "attention_mask" in accepted:
            arrays["attention_mask"] = mask_of(rows, length)
        if seq2seq:
            arrays["decoder_input_ids"] = ids_of(rows, length + 1)
        sets.append(arrays)
    return Fixed(module, **fixed), sets


class WithPast(torch.nn.Module):
    """A decoder's step: new tokens behind keys and values that it is given; returns scores, keys and values."""

    def __init__(self, module, layers):
        super().__init__()
        self.module = module
        self.layers = layers

    def forward(self, input_ids, attention_mask, **past):
        pairs = [(past[f"k{i}"], past[f"v{i}"]) for i in range(self.layers)]
        cache = transformers.DynamicCache(pairs)
        result = self.module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        return result.logits, result.past_key_values


def with_past(kind):
    module = of_class(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, kind)
    config = module.config
    heads = (
        getattr(config, "num_key_value_heads", None)
        or getattr(config, "num_kv_heads", None)
        or config.num_attention_heads
    )
    if kind == "falcon":
        heads = 1
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    layers = config.num_hidden_layers
    sets = []
    for rows, new, old in ((2, 2, 6), (1, 1, 3), (3, 1, 11)):
        arrays = {"input_ids": ids_of(rows, new), "attention_mask": mask_of(rows, new + old)}
        for i in range(layers):
            arrays |= {f"k{i}": torch.randn(rows, heads, old, width), f"v{i}": torch.randn(rows, heads, old, width)}
        sets.append(arrays)
    return WithPast(module, layers), sets


AUDIO = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 32,
    "conv_dim": (16, 16, 16),
    "conv_stride": (5, 2, 2),
    "conv_kernel": (10, 3, 3),
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 4,
    "apply_spec_augment": False,
    "num_feat_extract_layers": 3,
}


def audio(names, kind, length=2000):
    plain = CONFIG_MAPPING[kind]()
    config = CONFIG_MAPPING[kind](**{name: value for name, value in AUDIO.items() if hasattr(plain, name)})
    name = names[kind]
    module = getattr(transformers, name[0] if isinstance(name, tuple) else name)._from_config(
        config, attn_implementation="eager"
    )
    if module.main_input_name == "input_features":
        width = getattr(config, "feature_projection_input_dim", None) or getattr(config, "num_mel_bins", 80)
        return module, [{"input_features": torch.randn(rows, time, width)} for rows, time in ((2, 40), (1, 64))]
    return module, [{"input_values": torch.randn(rows, time)} for rows, time in ((2, length), (1, length + 640))]


def whisper():
    config = transformers.WhisperConfig(
        vocab_size=WORDS,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=50,
        max_target_positions=32,
        num_mel_bins=16,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    module = transformers.WhisperForConditionalGeneration._from_config(config, attn_implementation="eager")
    return Fixed(module, use_cache=False), [
        {"input_features": torch.randn(rows, 16, 100), "decoder_input_ids": ids_of(rows, length)}
        for rows, length in TEXT_SHAPES
    ]


def speecht5():
    config = transformers.SpeechT5Config(
        vocab_size=WORDS,
        hidden_size=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        num_mel_bins=16,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        speech_decoder_prenet_units=16,
        speech_decoder_postnet_units=16,
        speaker_embedding_dim=8,
        num_conv_pos_embeddings=16,
        max_text_positions=64,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        speech_decoder_prenet_dropout=0.0,
    )
    module = transformers.SpeechT5ForTextToSpeech._from_config(config, attn_implementation="eager")
    return Fixed(module, use_cache=False), [
        {
            "input_ids": ids_of(rows, length),
            "attention_mask": torch.ones(rows, length, dtype=torch.long),
            "decoder_input_values": torch.randn(rows, 2 * length, 16),
            "speaker_embeddings": torch.randn(rows, 8),
        }
        for rows, length in TEXT_SHAPES
    ]


def hifigan():
    config = transformers.SpeechT5HifiGanConfig(
        model_in_dim=16, upsample_initial_channel=32, upsample_rates=[4, 4], upsample_kernel_sizes=[8, 8]
    )
    return transformers.SpeechT5HifiGan(config), [
        {"spectrogram": torch.randn(rows, length, 16)} for rows, length in TEXT_SHAPES
    ]


class Codec(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, values):
        codes = self.module.encode(values).audio_codes
        return codes, (
            self.module.decode(codes, [None]).audio_values
            if isinstance(self.module, transformers.EncodecModel)
            else self.module.decode(audio_codes=codes).audio_values
        )


def encodec():
    config = transformers.EncodecConfig(
        hidden_size=16, num_filters=4, upsampling_ratios=[4, 2], codebook_size=32, codebook_dim=16, num_lstm_layers=1
    )
    return Codec(transformers.EncodecModel(config)), [
        {"values": torch.randn(rows, 1, length)} for rows, length in ((2, 800), (1, 1200))
    ]


def dac():
    config = transformers.DacConfig(
        encoder_hidden_size=8,
        downsampling_ratios=[2, 4],
        decoder_hidden_size=32,
        n_codebooks=3,
        codebook_size=32,
        codebook_dim=4,
        upsampling_ratios=[4, 2],
    )
    return Codec(transformers.DacModel(config)), [
        {"values": torch.randn(rows, 1, length)} for rows, length in ((2, 800), (1, 1200))
    ]


def vits():
    config = transformers.VitsConfig(
        vocab_size=40,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        ffn_dim=64,
        flow_size=32,
        spectrogram_bins=33,
        upsample_initial_channel=32,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        wavenet_dilation_rate=1,
        prior_encoder_num_flows=2,
        duration_predictor_num_flows=2,
        noise_scale=0.0,
        noise_scale_duration=0.0,
        use_stochastic_duration_prediction=False,
        posterior_encoder_num_wavenet_layers=2,
    )
    return transformers.VitsModel(config), [
        {"input_ids": ids_of(rows, length) % 40, "attention_mask": torch.ones(rows, length, dtype=torch.long)}
        for rows, length in ((1, 8), (1, 12))
    ]


def musicgen_decoder():
    config = transformers.MusicgenDecoderConfig(
        vocab_size=WORDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        ffn_dim=64,
        num_codebooks=2,
        pad_token_id=WORDS,
        bos_token_id=WORDS,
    )
    module = transformers.MusicgenForCausalLM._from_config(config, attn_implementation="eager")
    return Fixed(module, use_cache=False), [
        {"input_ids": ids_of(2 * rows, length), "encoder_hidden_states": torch.randn(rows, 5, 32)}
        for rows, length in TEXT_SHAPES
    ]


def clap():
    config = transformers.ClapConfig(
        text_config=dict(
            vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
        ),
        audio_config=dict(
            spec_size=64,
            num_mel_bins=16,
            patch_size=4,
            hidden_size=64,
            patch_embeds_hidden_size=16,
            depths=[1, 1],
            num_attention_heads=[2, 2],
            window_size=4,
            num_hidden_layers=2,
        ),
        projection_dim=16,
    )
    return transformers.ClapModel(config), [
        {
            "input_ids": ids_of(rows, length),
            "attention_mask": mask_of(rows, length),
            "input_features": torch.randn(rows, 1, 256, 16),
        }
        for rows, length in TEXT_SHAPES
    ]


CAUSAL = """afmoe apertus arcee bamba bart bert-generation big_bird biogpt bitnet blenderbot-small bloom codegen cohere
cohere2 cpmant ctrl dbrx deepseek_v2 deepseek_v3 diffllama doge dots1 ernie4_5 ernie4_5_moe exaone4 falcon falcon_h1
falcon_mamba flex_olmo gemma gemma2 gemma3_text gemma3n_text glm glm4 glm4_moe gpt2 gpt_bigcode gpt_neo gpt_neox
gpt_neox_japanese gpt_oss gptj granite granitemoe granitemoehybrid granitemoeshared helium hunyuan_v1_dense jamba jetmoe
lfm2 lfm2_moe llama llama4_text longcat_flash mamba mamba2 minimax minimax_m2 ministral mistral mixtral modernbert-decoder mpt
nanochat nemotron nemotron_h olmo olmo2 olmo3 olmoe openai-gpt opt persimmon phi phi3 phimoe qwen2 qwen2_moe qwen3 qwen3_moe
qwen3_next recurrent_gemma rwkv seed_oss smollm3 stablelm starcoder2 vaultgemma xglm xlstm zamba zamba2 gemma4_text kimi_linear
deepseek_v32 minicpm3 youtu olmo_hybrid""".split()
PAST = """llama qwen2 qwen3 gemma gemma2 gemma3_text mistral mixtral phi phi3 gpt_neox gpt2 olmo2 cohere stablelm starcoder2 granite
falcon glm opt smollm3 qwen3_moe olmoe gptj deepseek_v3 bloom nemotron exaone4 gpt_oss persimmon""".split()
SEQ2SEQ = (
    """bart bigbird_pegasus blenderbot fsmt led longt5 m2m_100 marian mbart mt5 mvp nllb-moe pegasus pegasus_x plbart
prophetnet switch_transformers t5 umt5""".split()
)
MASKED = (
    """albert bert big_bird convbert deberta deberta-v2 distilbert electra ernie esm eurobert flaubert fnet funnel ibert
layoutlm longformer luke megatron-bert mobilebert modernbert mpnet mra nomic_bert nystromformer reformer rembert roberta
roberta-prelayernorm roc_bert roformer squeezebert tapas xlm xlm-roberta-xl xmod yoso""".split()
)
SPEECH = (
    """data2vec-audio hubert parakeet_ctc sew sew-d unispeech unispeech-sat wav2vec2 wav2vec2-bert wav2vec2-conformer
wavlm""".split()
)


def entries():
    rows = {}
    for kind in CAUSAL:
        rows[f"causal/{kind}"] = Entry(
            functools.partial(text, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, kind), ("dynamo",)
        )
    for kind in CAUSAL[::3]:
        rows[f"causal_ts/{kind}"] = Entry(
            functools.partial(text, modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, kind), ("script",)
        )
    for kind in PAST:
        rows[f"past/{kind}"] = Entry(functools.partial(with_past, kind), ("dynamo",))
    for kind in SEQ2SEQ:
        names = modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
        rows[f"seq2seq/{kind}"] = Entry(functools.partial(text, names, kind, seq2seq=True), ("dynamo",))
    for kind in MASKED:
        rows[f"masked/{kind}"] = Entry(
            functools.partial(text, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, kind), ("script",)
        )
    for kind in SPEECH:
        rows[f"speech/{kind}"] = Entry(
            functools.partial(audio, modeling_auto.MODEL_FOR_CTC_MAPPING_NAMES, kind), ("dynamo", "script")
        )
    for make in (whisper, speecht5, hifigan, encodec, dac, vits, musicgen_decoder, clap):
        rows[f"sound/{make.__name__}"] = Entry(make)
    return rows
