// The fields of the library's creators: those of TensorRT 10.16's, in their order.
#include <gtest/gtest.h>

#include <string>

#include "library/standard_plugin.h"

namespace kiln::plugins {
namespace {

constexpr const char* kBatchedNms =
    "i shareLocation, i backgroundLabelId, i numClasses, i topK, i keepTopK, f scoreThreshold, f iouThreshold, "
    "i isNormalized, i clipBoxes, i scoreBits, i caffeSemantics";
constexpr const char* kTensorFlowNms =
    "i max_output_size_per_class, i max_total_size, f iou_threshold, f score_threshold, i pad_per_class, i clip_boxes";
constexpr const char* kSsdNms =
    "i shareLocation, i varianceEncodedInTarget, i backgroundLabelId, i numClasses, i topK, i keepTopK, "
    "f confidenceThreshold, f nmsThreshold, i inputOrder, i confSigmoid, i isNormalized, i codeType, i scoreBits, "
    "i isBatchAgnostic";
constexpr const char* kMaskRcnn = "i num_classes, i keep_topk, f score_threshold, f iou_threshold";
constexpr const char* kGridAnchor = "f minSize, f maxSize, f aspectRatios, i featureMapShapes, f variance, i numLayers";
constexpr const char* kProposal =
    "i input_height, i input_width, i rpn_stride, f roi_min_size, f nms_iou_threshold, i pre_nms_top_n, "
    "i post_nms_top_n, f anchor_sizes, f anchor_ratios";
constexpr const char* kSkip = "i type_id, i ld, f beta, f gamma, f bias";
constexpr const char* kPackedAttention =
    "i type_id, i hidden_size, i num_heads, i has_mask, f dq_probs, i var_seqlen, i use_int8_scale_max";
constexpr const char* kFixedAttention = "i type_id, i hidden_size, i num_heads, i has_mask, f dq_probs";
constexpr const char* kInterleavedAttention =
    "i hidden_size, i num_heads, f dq_probs, i use_int8_scale_max, i use_explicit_int8, f input_qkv_scale, "
    "f output_ctx_scale";
constexpr const char* kCrop = "i crop_width, i crop_height";

/// A type (c: text) and a name for each field.
struct Row {
  const char *name, *versions, *fields;
};
constexpr Row kRows[] = {
    {"BatchTilePlugin_TRT", "1", ""},
    {"BatchedNMSDynamic_TRT", "1", kBatchedNms},
    {"BatchedNMS_TRT", "1", kBatchedNms},
    {"Clip_TRT", "1", "f clipMin, f clipMax"},
    {"CoordConvAC", "1", ""},
    {"CropAndResize", "1", kCrop},
    {"CropAndResizeDynamic", "12", kCrop},
    {"CustomEmbLayerNormPluginDynamic", "123456",
     "f bert_embeddings_layernorm_beta, f bert_embeddings_layernorm_gamma, f bert_embeddings_word_embeddings, "
     "f bert_embeddings_token_type_embeddings, f bert_embeddings_position_embeddings, i output_fp16, i full_mask, "
     "i mha_type_id"},
    {"CustomFCPluginDynamic", "1", "i out_dims, i type_id, f W"},
    {"CustomGeluPluginDynamic", "12", "i type_id, f bias"},
    {"CustomQKVToContextPluginDynamic", "14", kFixedAttention},
    {"CustomQKVToContextPluginDynamic", "25", kPackedAttention},
    {"CustomQKVToContextPluginDynamic", "36", kInterleavedAttention},
    {"CustomSkipLayerNormPluginDynamic", "1256", kSkip},
    {"CustomSkipLayerNormPluginDynamic", "3478", "f beta, f gamma"},
    {"DecodeBbox3DPlugin", "1",
     "f point_cloud_range, f anchors, f anchor_bottom_height, f dir_offset, f dir_limit_offset, i num_dir_bins, "
     "f score_thresh"},
    {"DetectionLayer_TRT", "1", kMaskRcnn},
    {"DisentangledAttention_TRT", "12", "i span, f factor"},
    {"EfficientNMS_Explicit_TF_TRT", "1", kTensorFlowNms},
    {"EfficientNMS_Implicit_TF_TRT", "1", kTensorFlowNms},
    {"EfficientNMS_ONNX_TRT", "1",
     "f score_threshold, f iou_threshold, i max_output_boxes_per_class, i center_point_box"},
    {"EfficientNMS_TRT", "1",
     "f score_threshold, f iou_threshold, i max_output_boxes, i background_class, i score_activation, "
     "i class_agnostic, i box_coding"},
    {"FlattenConcat_TRT", "1", "i axis, i ignoreBatch"},
    {"GenerateDetection_TRT", "1", "i num_classes, i keep_topk, f score_threshold, f iou_threshold, i image_size"},
    {"GridAnchorRect_TRT", "1", kGridAnchor},
    {"GridAnchor_TRT", "1", kGridAnchor},
    {"GroupNormalizationPlugin", "1", "f eps, i num_groups"},
    {"InstanceNormalization_TRT", "123", "f epsilon, f scales, f bias, i relu, f alpha"},
    {"LReLU_TRT", "1", "f negSlope"},
    {"ModulatedDeformConv2d", "12", "i stride, i padding, i dilation, i group, i deformable_group"},
    {"MultilevelCropAndResize_TRT", "1", "i pooled_size, i image_size"},
    {"MultilevelProposeROI_TRT", "1", "i prenms_topk, i keep_topk, f fg_threshold, f iou_threshold, i image_size"},
    {"MultiscaleDeformableAttnPlugin_TRT", "12", ""},
    {"NMSDynamic_TRT", "1", kSsdNms},
    {"NMS_TRT", "1", kSsdNms},
    {"Normalize_TRT", "1", "f weights, i acrossSpatial, i channelShared, i nbWeights, f eps"},
    {"PillarScatterPlugin", "1", "i dense_shape"},
    {"PriorBox_TRT", "1",
     "f minSize, f maxSize, f aspectRatios, i flip, i clip, f variance, i imgH, i imgW, f stepH, f stepW, f offset"},
    {"Proposal", "1", kProposal},
    {"ProposalDynamic", "1", kProposal},
    {"ProposalLayer_TRT", "1", "i prenms_topk, i keep_topk, f iou_threshold, i image_size"},
    {"PyramidROIAlign_TRT", "1",
     "i fpn_scale, i pooled_size, i image_size, i roi_coords_absolute, i roi_coords_swap, i roi_coords_plusone, "
     "i roi_coords_transform, i sampling_ratio, i legacy"},
    {"ROIAlign_TRT", "12",
     "i coordinate_transformation_mode, i mode, i output_height, i output_width, i sampling_ratio, f spatial_scale"},
    {"RPROI_TRT", "1",
     "i poolingH, i poolingW, i featureStride, i preNmsTop, i nmsMaxOut, i anchorsRatioCount, i anchorsScaleCount, "
     "f iouThreshold, f minBoxSize, f spatialScale, f anchorsRatios, f anchorsScales"},
    {"Region_TRT", "1", "i num, i coords, i classes, i smTree"},
    {"Reorg_TRT", "12", "i stride"},
    {"ResizeNearest_TRT", "1", "f scale"},
    {"ScatterElements", "12", "c reduction, i axis"},
    {"ScatterND", "1", ""},
    {"SpecialSlice_TRT", "1", ""},
    {"Split", "1", "i axis, i output_lengths"},
    {"VoxelGeneratorPlugin", "1",
     "i max_num_points_per_voxel, i max_voxels, f point_cloud_range, i voxel_feature_num, f voxel_size"}};

std::string text_of(const Definition& definition) {
  std::string text;
  for (const nv::PluginField& field : definition.fields) {
    const char type = field.type == kInt ? 'i' : field.type == kFloat ? 'f' : 'c';
    text += str(text.empty() ? "" : ", ", type, ' ', field.name);
  }
  return text;
}

TEST(FieldNames, AreThoseOfTensorRt) {
  size_t count = 0;
  for (const Row& row : kRows)
    for (const char version : std::string(row.versions)) {
      ++count;
      bool is_there = false;
      for (const Definition& one : definitions())
        if (std::string_view(one.name) == row.name && std::string_view(one.version) == std::string(1, version)) {
          is_there = true;
          EXPECT_EQ(text_of(one), row.fields) << row.name << ' ' << version;
        }
      EXPECT_TRUE(is_there) << row.name << ' ' << version;
    }
  EXPECT_EQ(count, definitions().size());
}

}  // namespace
}  // namespace kiln::plugins
