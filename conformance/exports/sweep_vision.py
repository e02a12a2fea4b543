"""The sweep's networks of images: torchvision, timm, and those of transformers."""

import functools

import timm
import torch
import torchvision
import transformers
from sweep_entry import Entry

models = torchvision.models


class First(torch.nn.Module):
    """A module by the position of its inputs."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, **arrays):
        return self.module(*arrays.values())


def images(make, *sizes, name="x"):
    return lambda: (First(make()), [{name: torch.randn(size)} for size in sizes])


FREE = ((2, 3, 64, 64), (1, 3, 96, 64))
FIXED = ((2, 3, 64, 64), (1, 3, 64, 64))


def tv(name, sizes=FREE, **more):
    return images(lambda: getattr(models, name)(weights=None, **more), *sizes)


TORCHVISION = {
    "resnet18": tv("resnet18"),
    "mobilenet_v3_small": tv("mobilenet_v3_small"),
    "shufflenet": tv("shufflenet_v2_x0_5"),
    "squeezenet": tv("squeezenet1_1"),
    "mnasnet": tv("mnasnet0_5"),
    "regnet": tv("regnet_y_400mf"),
    "googlenet": tv("googlenet", init_weights=False, aux_logits=False),
    "efficientnet": tv("efficientnet_b0"),
    "densenet": images(lambda: models.DenseNet(8, (2, 2, 2), 16), *FREE),
    "swin": images(lambda: models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4]), *FIXED),
    "swin_open": images(lambda: models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4]), *FREE),
    "swin_v2": images(
        lambda: models.SwinTransformer(
            [4, 4],
            16,
            [2, 2],
            [2, 4],
            [4, 4],
            block=models.swin_transformer.SwinTransformerBlockV2,
            downsample_layer=models.swin_transformer.PatchMergingV2,
        ),
        *FIXED,
    ),
    "maxvit": images(lambda: models.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 8, 0.0), *FIXED),
    "vit": images(lambda: models.VisionTransformer(64, 16, 2, 4, 32, 64), *FIXED),
    "convnext": images(
        lambda: models.ConvNeXt([models.convnext.CNBlockConfig(16, 32, 1), models.convnext.CNBlockConfig(32, None, 1)]),
        *FREE,
    ),
    "fcn": images(lambda: models.segmentation.fcn_resnet50(weights=None, weights_backbone=None, num_classes=3), *FREE),
    "deeplab": images(
        lambda: models.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=3),
        *FREE,
    ),
    "lraspp": images(
        lambda: models.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=3), *FREE
    ),
    "r3d": images(lambda: models.video.r3d_18(weights=None), (2, 3, 4, 32, 32), (1, 3, 8, 32, 32)),
    "r2plus1d": images(lambda: models.video.r2plus1d_18(weights=None), (2, 3, 4, 32, 32), (1, 3, 8, 32, 32)),
    "s3d": images(lambda: models.video.s3d(weights=None), (2, 3, 16, 64, 64), (1, 3, 16, 64, 64)),
    "swin3d": images(
        lambda: models.video.SwinTransformer3d([2, 4, 4], 16, [1, 1], [2, 4], [2, 4, 4]),
        (2, 3, 4, 32, 32),
        (1, 3, 4, 32, 32),
    ),
    "mvit": images(
        lambda: models.video.MViT(
            (32, 32),
            4,
            [
                models.video.mvit.MSBlockConfig(1, 16, 16, [3, 3, 3], [1, 2, 2], [], [1, 2, 2]),
                models.video.mvit.MSBlockConfig(2, 16, 32, [3, 3, 3], [1, 1, 1], [1, 2, 2], []),
            ],
            residual_pool=True,
            residual_with_cls_embed=False,
            rel_pos=True,
            proj_after_attn=True,
        ),
        (2, 3, 4, 32, 32),
        (1, 3, 4, 32, 32),
    ),
    "raft": lambda: (
        First(models.optical_flow.raft_small(weights=None, num_flow_updates=2)),
        [{"a": torch.randn(1, 3, 128, 128), "b": torch.randn(1, 3, 128, 128)}],
    ),
    "deform": lambda: (First(Deformed()), [{"x": torch.randn(n, 4, 8, 8)} for n in (2, 1)]),
    "roi": lambda: (
        Rois(),
        [
            {"x": torch.randn(2, 4, 16, 16), "boxes": torch.tensor([[0, 1.0, 2, 9, 11], [1, 3, 3, 12, 8]] * n)}
            for n in (1, 2)
        ],
    ),
}


class Deformed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offset, self.mask = torch.nn.Conv2d(4, 18, 3, padding=1), torch.nn.Conv2d(4, 9, 3, padding=1)
        self.conv = torchvision.ops.DeformConv2d(4, 6, 3, padding=1)

    def forward(self, x):
        return self.conv(x, self.offset(x), self.mask(x).sigmoid())


class Rois(torch.nn.Module):
    def forward(self, x, boxes):
        kept = torchvision.ops.nms(boxes[:, 1:], boxes[:, 1], 0.5)
        return torchvision.ops.roi_align(x, boxes, 4, 0.5, 2, aligned=True), torchvision.ops.roi_pool(x, boxes, 3), kept


# The smallest of their kinds, those with names of "test" being made for tests.
TIMM = """test_byobnet test_convnext test_convnext2 test_convnext3 test_efficientnet test_efficientnet_gn test_efficientnet_ln test_efficientnet_evos
test_mambaout test_nfnet test_resnet test_vit test_vit2 test_vit3 test_vit4 beit_base_patch16_224 botnet26t_256 caformer_s18 cait_xxs24_224
coat_tiny coatnet_nano_rw_224 convformer_s18 convit_tiny crossvit_tiny_240 cs3darknet_focus_s cspresnet50 davit_tiny deit_tiny_patch16_224 dla34
dpn48b dm_nfnet_f0 eca_halonext26ts edgenext_xx_small efficientformer_l1 efficientformerv2_s0 efficientvit_b0 efficientvit_m0 eva02_tiny_patch14_224
fastvit_t8 focalnet_tiny_srf fbnetc_100 gcvit_xxtiny gernet_s ghostnet_050 ghostnetv2_100 gmixer_12_224 gmlp_ti16_224 halonet26t hardcorenas_a
hgnet_tiny hgnetv2_b0 hiera_tiny_224 hrnet_w18_small inception_next_tiny inception_resnet_v2 lambda_resnet26t lcnet_035 legacy_senet154 levit_128s
maxvit_pico_rw_256 mixer_s32_224 mixnet_s mnasnet_small mobilenet_edgetpu_v2_xs mobilenetv4_conv_small mobilenetv4_hybrid_medium mobileone_s0
mobilevit_xxs mobilevitv2_050 mvitv2_tiny nasnetalarge nest_tiny nextvit_small pit_ti_224 poolformer_s12 pvt_v2_b0 rdnet_tiny regnetx_002
repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_14w_8s resmlp_12_224 resnest14d rexnet_100 samvit_base_patch16 sebotnet33ts_256 selecsls42 sequencer2d_s
shvit_s1 skresnet18 starnet_s1 swiftformer_xs swin_tiny_patch4_window7_224 swinv2_cr_tiny_ns_224 swinv2_tiny_window8_256 tiny_vit_5m_224 tinynet_e
tnt_s_patch16_224 tresnet_m twins_pcpvt_small vgg11 visformer_tiny vit_tiny_patch16_224 vit_relpos_small_patch16_224 vitamin_small_224 vovnet39a
volo_d1_224 xception41 xcit_nano_12_p16_224 naflexvit_base_patch16_gap vit_tiny_r_s16_p8_224 mobilenetv5_base hieradet_small csatv2 resnetv2_50
convmixer_768_32 bat_resnext26ts eva02_small_patch14_224 ese_vovnet19b_dw densenet121 vit_so150m_patch16_reg4_gap_256 sehalonet33ts""".split()
GAINS = {"nextvit_small": 0.8}  # else the scores of its third attention reach 3e6, of which FP32 keeps quarters
# Models whose size is their kind's: others are cut to two blocks a stage where the constructor takes depths.
LARGE = {
    "nasnetalarge",
    "legacy_senet154",
    "inception_resnet_v2",
    "samvit_base_patch16",
    "dm_nfnet_f0",
    "convmixer_768_32",
}


def of_timm(name):
    module = timm.create_model(name, pretrained=False, num_classes=10)
    size = module.default_cfg.get("input_size", (3, 224, 224))
    if not module.default_cfg.get("fixed_input_size", False) and not any(
        part in name for part in ("vit", "halo", "bot", "swin", "coat")
    ):
        size = (3, 96, 96)
    return First(module), [{"x": torch.randn(rows, *size)} for rows in (2, 1)]


def tiny(kind, config, pixels, **inputs):
    def make():
        settings = getattr(transformers, config[0])(**config[1])
        module = getattr(transformers, kind)._from_config(settings, attn_implementation="eager")
        sets = []
        for rows in (2, 1):
            arrays = {"pixel_values": torch.randn(rows, *pixels)}
            for name, make_input in inputs.items():
                arrays[name] = make_input(rows)
            sets.append(arrays)
        return module, sets

    return make


def ids(rows, length=8):
    return torch.randint(3, 98, (rows, length))


def ones(rows, length=8):
    return torch.ones(rows, length, dtype=torch.long)


BASE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
VIT = dict(**BASE, image_size=32, patch_size=8)
TEXT = dict(**BASE, vocab_size=99, max_position_embeddings=16)
RESNET = transformers.ResNetConfig(
    embedding_size=16,
    hidden_sizes=[16, 24, 32, 32],
    depths=[1, 1, 1, 1],
    layer_type="basic",
    out_features=["stage2", "stage3", "stage4"],
)
DETR = dict(
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=64,
    decoder_ffn_dim=64,
    num_queries=12,
    num_labels=5,
    backbone_config=RESNET,
)
MASK64 = {"pixel_mask": lambda rows: torch.ones(rows, 64, 64, dtype=torch.long)}
PIXELS = (3, 32, 32)


def stages(name, fields, kind):
    return tiny(kind, (name, fields), (3, 64, 64))


VISION = {
    "vit": tiny("ViTForImageClassification", ("ViTConfig", VIT), PIXELS),
    "deit": tiny("DeiTForImageClassification", ("DeiTConfig", VIT), PIXELS),
    "beit": tiny("BeitForImageClassification", ("BeitConfig", dict(**VIT, use_relative_position_bias=True)), PIXELS),
    "data2vec": tiny(
        "Data2VecVisionForImageClassification",
        ("Data2VecVisionConfig", dict(**VIT, use_shared_relative_position_bias=True)),
        PIXELS,
    ),
    "dinov2": tiny(
        "Dinov2Model",
        ("Dinov2Config", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)),
        (3, 40, 40),
    ),
    "dinov2_registers": tiny(
        "Dinov2WithRegistersModel",
        (
            "Dinov2WithRegistersConfig",
            dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8),
        ),
        PIXELS,
    ),
    "dinov3": tiny("DINOv3ViTModel", ("DINOv3ViTConfig", VIT), PIXELS),
    "ijepa": tiny("IJepaForImageClassification", ("IJepaConfig", VIT), PIXELS),
    "vit_mae": tiny("ViTMSNForImageClassification", ("ViTMSNConfig", VIT), PIXELS),
    "swin": stages(
        "SwinConfig",
        dict(image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
        "SwinForImageClassification",
    ),
    "swinv2": stages(
        "Swinv2Config",
        dict(image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
        "Swinv2ForImageClassification",
    ),
    "swin2sr": tiny(
        "Swin2SRForImageSuperResolution",
        ("Swin2SRConfig", dict(image_size=32, patch_size=1, embed_dim=16, depths=[2], num_heads=[2], window_size=4)),
        (3, 24, 24),
    ),
    "donut": stages(
        "DonutSwinConfig",
        dict(image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
        "DonutSwinModel",
    ),
    "maskformer_swin": stages(
        "MaskFormerSwinConfig",
        dict(image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
        "MaskFormerSwinBackbone",
    ),
    "convnextv2": stages(
        "ConvNextV2Config", dict(hidden_sizes=[16, 32], depths=[1, 1], num_stages=2), "ConvNextV2ForImageClassification"
    ),
    "cvt": stages(
        "CvtConfig", dict(embed_dim=[16, 32, 32], num_heads=[1, 2, 2], depth=[1, 1, 1]), "CvtForImageClassification"
    ),
    "focalnet": stages(
        "FocalNetConfig",
        dict(
            image_size=64, embed_dim=16, hidden_sizes=[16, 32], depths=[1, 1], focal_levels=[2, 2], focal_windows=[3, 3]
        ),
        "FocalNetForImageClassification",
    ),
    "hiera": stages(
        "HieraConfig",
        dict(
            image_size=[64, 64],
            embed_dim=16,
            depths=[1, 1],
            num_heads=[1, 2],
            query_stride=[2, 2],
            masked_unit_size=[4, 4],
            num_query_pool=1,
        ),
        "HieraForImageClassification",
    ),
    "levit": stages(
        "LevitConfig",
        dict(
            image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8]
        ),
        "LevitForImageClassification",
    ),
    "mobilevit": stages("MobileViTConfig", dict(image_size=64), "MobileViTForImageClassification"),
    "mobilevitv2": stages("MobileViTV2Config", dict(image_size=64), "MobileViTV2ForSemanticSegmentation"),
    "pvt": stages(
        "PvtConfig",
        dict(image_size=64, hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2]),
        "PvtForImageClassification",
    ),
    "pvt_v2": stages(
        "PvtV2Config",
        dict(image_size=64, hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2]),
        "PvtV2ForImageClassification",
    ),
    "segformer": stages(
        "SegformerConfig",
        dict(
            hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=32
        ),
        "SegformerForSemanticSegmentation",
    ),
    "swiftformer": stages(
        "SwiftFormerConfig", dict(depths=[1, 1, 1, 1], embed_dims=[16, 16, 32, 32]), "SwiftFormerForImageClassification"
    ),
    "poolformer": stages(
        "PoolFormerConfig", dict(hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1]), "PoolFormerForImageClassification"
    ),
    "glpn": stages(
        "GLPNConfig",
        dict(
            hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 2], decoder_hidden_size=32
        ),
        "GLPNForDepthEstimation",
    ),
    "dpt": tiny(
        "DPTForDepthEstimation",
        (
            "DPTConfig",
            dict(
                hidden_size=32,
                num_hidden_layers=4,
                num_attention_heads=4,
                intermediate_size=64,
                image_size=32,
                patch_size=8,
                backbone_out_indices=[0, 1, 2, 3],
                neck_hidden_sizes=[8, 8, 16, 16],
                fusion_hidden_size=16,
            ),
        ),
        PIXELS,
    ),
    "superpoint": tiny(
        "SuperPointForKeypointDetection",
        (
            "SuperPointConfig",
            dict(encoder_hidden_sizes=[8, 8, 16, 16], decoder_hidden_size=16, descriptor_decoder_dim=16),
        ),
        (3, 64, 64),
    ),
    "detr": tiny("DetrForObjectDetection", ("DetrConfig", DETR), (3, 64, 64), **MASK64),
    "conditional_detr": tiny(
        "ConditionalDetrForObjectDetection", ("ConditionalDetrConfig", DETR), (3, 64, 64), **MASK64
    ),
    "dab_detr": tiny(
        "DabDetrForObjectDetection",
        ("DabDetrConfig", {**{k: v for k, v in DETR.items() if k != "d_model"}, "hidden_size": 32}),
        (3, 64, 64),
        **MASK64,
    ),
    "deformable_detr": tiny(
        "DeformableDetrForObjectDetection",
        ("DeformableDetrConfig", dict(**DETR, num_feature_levels=3)),
        (3, 64, 64),
        **MASK64,
    ),
    "deformable_two_stage": tiny(
        "DeformableDetrForObjectDetection",
        (
            "DeformableDetrConfig",
            dict(**DETR, num_feature_levels=3, two_stage=True, with_box_refine=True, two_stage_num_proposals=12),
        ),
        (3, 64, 64),
        **MASK64,
    ),
    "rt_detr": tiny(
        "RTDetrForObjectDetection",
        (
            "RTDetrConfig",
            dict(
                encoder_hidden_dim=32,
                encoder_in_channels=[24, 32, 32],
                d_model=32,
                decoder_in_channels=[32] * 3,
                num_queries=12,
                decoder_layers=2,
                encoder_ffn_dim=32,
                decoder_ffn_dim=32,
                decoder_attention_heads=4,
                encoder_attention_heads=4,
                num_labels=5,
                backbone_config=transformers.RTDetrResNetConfig(
                    embedding_size=16,
                    hidden_sizes=[16, 24, 32, 32],
                    depths=[1, 1, 1, 1],
                    layer_type="basic",
                    out_features=["stage2", "stage3", "stage4"],
                ),
            ),
        ),
        (3, 64, 64),
    ),
    "yolos": tiny(
        "YolosForObjectDetection",
        ("YolosConfig", dict(**BASE, image_size=[32, 32], patch_size=8, num_detection_tokens=5)),
        PIXELS,
    ),
    "mask2former": tiny(
        "Mask2FormerForUniversalSegmentation",
        (
            "Mask2FormerConfig",
            dict(
                backbone_config=transformers.SwinConfig(
                    image_size=64,
                    embed_dim=16,
                    depths=[1, 1, 1, 1],
                    num_heads=[2, 2, 2, 2],
                    window_size=4,
                    out_features=["stage1", "stage2", "stage3", "stage4"],
                ),
                feature_size=32,
                mask_feature_size=32,
                hidden_dim=32,
                encoder_feedforward_dim=32,
                encoder_layers=1,
                decoder_layers=3,
                num_attention_heads=4,
                dim_feedforward=32,
                num_queries=8,
            ),
        ),
        (3, 64, 64),
    ),
    "clip": tiny(
        "CLIPModel",
        ("CLIPConfig", dict(text_config=TEXT, vision_config=VIT, projection_dim=16)),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "siglip": tiny(
        "SiglipModel",
        ("SiglipConfig", dict(text_config=TEXT, vision_config=VIT)),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "clipseg": tiny(
        "CLIPSegForImageSegmentation",
        (
            "CLIPSegConfig",
            dict(
                text_config=TEXT,
                vision_config=VIT,
                projection_dim=16,
                extract_layers=[0, 1],
                reduce_dim=16,
                decoder_intermediate_size=32,
                conditional_layer=0,
                decoder_num_attention_heads=2,
            ),
        ),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "owlvit": tiny(
        "OwlViTForObjectDetection",
        ("OwlViTConfig", dict(text_config=TEXT, vision_config=VIT, projection_dim=32)),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "owlv2": tiny(
        "Owlv2ForObjectDetection",
        ("Owlv2Config", dict(text_config=TEXT, vision_config=VIT, projection_dim=32)),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "blip": tiny(
        "BlipForImageTextRetrieval",
        (
            "BlipConfig",
            dict(text_config=dict(**TEXT, encoder_hidden_size=32), vision_config=VIT, image_text_hidden_size=16),
        ),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "groupvit": tiny(
        "GroupViTModel",
        (
            "GroupViTConfig",
            dict(
                text_config=TEXT,
                vision_config=dict(
                    hidden_size=32,
                    depths=[1, 1, 1],
                    num_hidden_layers=3,
                    num_group_tokens=[8, 4, 0],
                    num_output_groups=[8, 4, 4],
                    num_attention_heads=4,
                    intermediate_size=64,
                    image_size=32,
                    patch_size=8,
                ),
                projection_dim=16,
                projection_intermediate_dim=32,
            ),
        ),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "vilt": tiny(
        "ViltModel",
        ("ViltConfig", dict(**VIT, vocab_size=99, max_position_embeddings=16, max_image_length=-1)),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
    ),
    "flava": tiny("FlavaImageModel", ("FlavaImageConfig", VIT), PIXELS),
    "videomae": tiny("VideoMAEForVideoClassification", ("VideoMAEConfig", dict(**VIT, num_frames=4)), (4, *PIXELS)),
    "timesformer": tiny(
        "TimesformerForVideoClassification", ("TimesformerConfig", dict(**VIT, num_frames=4)), (4, *PIXELS)
    ),
    "vivit": tiny(
        "VivitForVideoClassification",
        ("VivitConfig", dict(**BASE, image_size=32, num_frames=4, tubelet_size=[2, 8, 8])),
        (4, *PIXELS),
    ),
    "sam_encoder": tiny(
        "SamVisionModel",
        (
            "SamVisionConfig",
            dict(
                hidden_size=32,
                output_channels=16,
                num_hidden_layers=2,
                num_attention_heads=4,
                image_size=64,
                patch_size=8,
                window_size=3,
                global_attn_indexes=[1],
                mlp_dim=64,
            ),
        ),
        (3, 64, 64),
    ),
    "sam": tiny(
        "SamModel",
        (
            "SamConfig",
            dict(
                vision_config=dict(
                    hidden_size=32,
                    output_channels=32,
                    num_hidden_layers=2,
                    num_attention_heads=4,
                    image_size=64,
                    patch_size=8,
                    window_size=3,
                    global_attn_indexes=[1],
                    mlp_dim=64,
                ),
                prompt_encoder_config=dict(hidden_size=32, image_size=64, patch_size=8, mask_input_channels=4),
                mask_decoder_config=dict(hidden_size=32, mlp_dim=64, num_attention_heads=4, iou_head_hidden_dim=32),
            ),
        ),
        (3, 64, 64),
        input_points=lambda rows: torch.rand(rows, 1, 2, 2) * 60,
        input_labels=lambda rows: torch.ones(rows, 1, 2, dtype=torch.long),
    ),
    "layoutlmv3": tiny(
        "LayoutLMv3Model",
        (
            "LayoutLMv3Config",
            dict(**TEXT, input_size=32, patch_size=8, coordinate_size=4, shape_size=8, max_2d_position_embeddings=64),
        ),
        PIXELS,
        input_ids=ids,
        attention_mask=ones,
        bbox=lambda rows: torch.tensor([[1, 2, 9, 12]] * 8).expand(rows, 8, 4).contiguous(),
    ),
    "trocr": tiny("ViTModel", ("ViTConfig", VIT), PIXELS),
    "regnet": stages(
        "RegNetConfig",
        dict(embedding_size=16, hidden_sizes=[16, 16, 32, 32], depths=[1, 1, 1, 1], groups_width=8),
        "RegNetForImageClassification",
    ),
    "bit": stages(
        "BitConfig",
        dict(embedding_size=16, hidden_sizes=[16, 16, 32, 32], depths=[1, 1, 1, 1], num_groups=4),
        "BitForImageClassification",
    ),
    "textnet": stages("TextNetConfig", {}, "TextNetForImageClassification"),
    "hgnet_v2": stages("HGNetV2Config", {}, "HGNetV2ForImageClassification"),
    "upernet": stages(
        "UperNetConfig",
        dict(
            backbone_config=transformers.ConvNextConfig(
                hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage1", "stage2", "stage3", "stage4"]
            ),
            hidden_size=16,
            auxiliary_in_channels=16,
            auxiliary_channels=8,
        ),
        "UperNetForSemanticSegmentation",
    ),
}


def entries():
    rows = {f"tv/{name}": Entry(make) for name, make in TORCHVISION.items()}
    rows |= {f"vision/{name}": Entry(make) for name, make in VISION.items()}
    for i, name in enumerate(TIMM):
        if name not in LARGE:
            rows[f"timm/{name}"] = Entry(
                functools.partial(of_timm, name),
                ("dynamo", "script") if "test_" in name else (("dynamo", "script")[i % 2],),
                gain=GAINS.get(name, 1.0),
            )
    return rows
