#include "testing/examples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace kiln::plugins::testing {
namespace {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

Tensor floats(std::vector<int64_t> extents) { return {std::move(extents), {}}; }
Tensor integers(std::vector<int64_t> extents) { return {std::move(extents), {}, nv::DataType::kINT32}; }

void add_detections(std::vector<Example>& all) {
  const Attributes of_boxes = Attributes()
                                  .set("numClasses", Ints{3})
                                  .set("topK", Ints{5})
                                  .set("keepTopK", Ints{4})
                                  .set("scoreThreshold", Floats{0.1F})
                                  .set("iouThreshold", Floats{0.5F});
  for (const char* name : {"BatchedNMS_TRT", "BatchedNMSDynamic_TRT"})
    all.push_back({name, "1", of_boxes, {floats({2, 6, 1, 4}), floats({2, 6, 3})}});
  const Attributes thresholds =
      Attributes().set("score_threshold", Floats{0.1F}).set("iou_threshold", Floats{0.5F}).set("box_coding", Ints{0});
  const Attributes efficient = Attributes(thresholds).set("max_output_boxes", Ints{4});
  all.push_back({"EfficientNMS_TRT", "1", efficient, {floats({2, 6, 4}), floats({2, 6, 3})}});
  all.push_back({"EfficientNMS_TRT", "1", efficient, {floats({2, 6, 1, 4}), floats({2, 6, 3}), floats({1, 6, 4})}});
  all.push_back({"EfficientNMS_ONNX_TRT",
                 "1",
                 Attributes(thresholds).set("max_output_boxes_per_class", Ints{4}),
                 {floats({2, 6, 4}), floats({2, 6, 3})}});
  for (const char* name : {"EfficientNMS_Explicit_TF_TRT", "EfficientNMS_Implicit_TF_TRT"})
    for (const int32_t pads : {0, 1})
      all.push_back({name,
                     "1",
                     Attributes(thresholds)
                         .set("max_output_size_per_class", Ints{1})
                         .set("max_total_size", Ints{4})
                         .set("pad_per_class", Ints{pads}),
                     {floats({2, 6, 4}), floats({2, 6, 3})}});
  const Attributes ssd = Attributes()
                             .set("numClasses", Ints{3})
                             .set("topK", Ints{5})
                             .set("keepTopK", Ints{4})
                             .set("confidenceThreshold", Floats{0.1F})
                             .set("nmsThreshold", Floats{0.5F})
                             .set("inputOrder", Ints{0, 1, 2});
  for (const char* name : {"NMS_TRT", "NMSDynamic_TRT"})
    all.push_back({name, "1", ssd, {floats({2, 24, 1, 1}), floats({2, 18, 1, 1}), floats({1, 2, 24, 1})}});
  const Attributes mask_rcnn = Attributes()
                                   .set("num_classes", Ints{3})
                                   .set("keep_topk", Ints{4})
                                   .set("score_threshold", Floats{0.1F})
                                   .set("iou_threshold", Floats{0.5F});
  for (const char* name : {"DetectionLayer_TRT", "GenerateDetection_TRT"})
    all.push_back({name, "1", mask_rcnn, {floats({2, 6, 12, 1, 1}), floats({2, 6, 3, 1, 1}), floats({2, 6, 4})}});
}

void add_proposals(std::vector<Example>& all) {
  const Attributes faster = Attributes()
                                .set("input_height", Ints{32})
                                .set("input_width", Ints{32})
                                .set("rpn_stride", Ints{8})
                                .set("roi_min_size", Floats{1})
                                .set("nms_iou_threshold", Floats{0.5F})
                                .set("pre_nms_top_n", Ints{8})
                                .set("post_nms_top_n", Ints{4})
                                .set("anchor_sizes", Floats{8, 20})
                                .set("anchor_ratios", Floats{1, 2});
  for (const char* name : {"Proposal", "ProposalDynamic"})
    all.push_back({name, "1", faster, {floats({2, 4, 3, 5}), floats({2, 16, 3, 5})}});
  const Attributes mask_rcnn = Attributes()
                                   .set("prenms_topk", Ints{8})
                                   .set("keep_topk", Ints{4})
                                   .set("iou_threshold", Floats{0.5F})
                                   .set("image_size", Ints{3, 64, 64});
  constexpr int64_t kAnchors[] = {768, 192, 48, 12, 3};  // three in each cell of 16 x 16, 8 x 8, ...
  all.push_back({"ProposalLayer_TRT", "1", mask_rcnn, {floats({2, 1023, 2, 1}), floats({2, 1023, 4, 1})}});
  std::vector<Tensor> maps;
  for (const int64_t count : kAnchors) {
    maps.push_back(floats({2, count, 4, 1}));
    maps.push_back(floats({2, count, 1, 1}));
  }
  all.push_back({"MultilevelProposeROI_TRT", "1", Attributes(mask_rcnn).set("fg_threshold", Floats{0}), maps});
  all.push_back({"RPROI_TRT",
                 "1",
                 Attributes()
                     .set("poolingH", Ints{2})
                     .set("poolingW", Ints{3})
                     .set("featureStride", Ints{8})
                     .set("preNmsTop", Ints{8})
                     .set("nmsMaxOut", Ints{4})
                     .set("anchorsRatioCount", Ints{2})
                     .set("anchorsScaleCount", Ints{1})
                     .set("iouThreshold", Floats{0.5F})
                     .set("minBoxSize", Floats{1})
                     .set("spatialScale", Floats{0.125F})
                     .set("anchorsRatios", Floats{1, 2})
                     .set("anchorsScales", Floats{2}),
                 {floats({2, 4, 3, 5}), floats({2, 8, 3, 5}), floats({2, 3, 3, 5}), floats({2, 1, 1, 3})}});
  const Attributes grid =
      Attributes().set("aspectRatios", Floats{1, 2, 0.5F}).set("variance", Floats{0.1F, 0.1F, 0.2F, 0.2F});
  all.push_back({"GridAnchor_TRT",
                 "1",
                 Attributes(grid)
                     .set("featureMapShapes", Ints{3, 2, 1, 1, 1, 1})
                     .set("numLayers", Ints{6})
                     .set("minSize", Floats{0.2F})
                     .set("maxSize", Floats{0.9F}),
                 {}});
  all.push_back({"GridAnchorRect_TRT",
                 "1",
                 Attributes(grid)
                     .set("featureMapShapes", Ints{3, 2, 1, 4, 1, 1, 1, 1, 1, 1, 1, 1})
                     .set("numLayers", Ints{6})
                     .set("minSize", Floats{0.2F})
                     .set("maxSize", Floats{0.9F}),
                 {}});
  all.push_back(
      {"PriorBox_TRT",
       "1",
       Attributes().set("minSize", Floats{20}).set("aspectRatios", Floats{2}).set("variance", Floats{1, 1, 1, 1}),
       {floats({2, 3, 4, 5}), floats({2, 3, 20, 30})}});
}

void add_regions(std::vector<Example>& all) {
  const Attributes crop = Attributes().set("crop_width", Ints{3}).set("crop_height", Ints{2});
  const std::vector<Tensor> of_crop = {floats({2, 3, 4, 5}), floats({2, 6, 4, 1})};
  all.push_back({"CropAndResize", "1", crop, of_crop});
  all.push_back({"CropAndResizeDynamic", "12", crop, of_crop});
  all.push_back({"ROIAlign_TRT",
                 "12",
                 Attributes().set("output_height", Ints{2}).set("output_width", Ints{3}),
                 {floats({2, 3, 4, 5}), floats({6, 4}), integers({6})}});
  std::vector<Tensor> pyramid = {floats({2, 6, 4})};
  for (const int64_t extent : {32, 16, 8, 4}) pyramid.push_back(floats({2, 3, extent, extent}));
  const Attributes pooled = Attributes().set("pooled_size", Ints{2});
  all.push_back({"PyramidROIAlign_TRT", "1", pooled, pyramid});
  pyramid.push_back(floats({2, 3, 2, 2}));
  all.push_back({"MultilevelCropAndResize_TRT", "1", pooled, pyramid});
}

void add_images(std::vector<Example>& all) {
  all.push_back({"BatchTilePlugin_TRT", "1", {}, {floats({2, 3}), floats({1, 3, 4, 5})}});
  all.push_back(
      {"Clip_TRT", "1", Attributes().set("clipMin", Floats{-1}).set("clipMax", Floats{1}), {floats({2, 3, 4})}});
  all.push_back({"LReLU_TRT", "1", Attributes().set("negSlope", Floats{0.1F}), {floats({2, 3, 4})}});
  all.push_back({"CoordConvAC", "1", {}, {floats({2, 3, 4, 5})}});
  all.push_back({"FlattenConcat_TRT",
                 "1",
                 Attributes().set("axis", Ints{1}).set("ignoreBatch", Ints{0}),
                 {floats({2, 3, 4, 5}), floats({2, 1, 2, 3})}});
  all.push_back({"GroupNormalizationPlugin",
                 "1",
                 Attributes().set("eps", Floats{0.01F}).set("num_groups", Ints{2}),
                 {floats({2, 4, 3, 5}), floats({4}), floats({4})}});
  all.push_back({"InstanceNormalization_TRT",
                 "123",
                 Attributes().set("epsilon", Floats{0.01F}).set("scales", Floats{1, 2, 3}).set("bias", Floats{1, 2, 3}),
                 {floats({2, 3, 4, 5})}});
  for (const int32_t shared : {0, 1})
    all.push_back({"Normalize_TRT",
                   "1",
                   Attributes()
                       .set("weights", shared ? Floats{1} : Floats{1, 2, 3})
                       .set("acrossSpatial", Ints{0})
                       .set("channelShared", Ints{shared})
                       .set("nbWeights", Ints{shared ? 1 : 3})
                       .set("eps", Floats{0.01F}),
                   {floats({2, 3, 4, 5})}});
  all.push_back(
      {"ModulatedDeformConv2d",
       "12",
       {},
       {floats({2, 3, 5, 6}), floats({2, 12, 4, 4}), floats({2, 6, 4, 4}), floats({4, 3, 2, 3}), floats({4})}});
  all.push_back({"Region_TRT",
                 "1",
                 Attributes().set("num", Ints{2}).set("coords", Ints{4}).set("classes", Ints{3}),
                 {floats({2, 16, 4, 5})}});
  all.push_back({"Reorg_TRT", "12", Attributes().set("stride", Ints{2}), {floats({2, 4, 4, 6})}});
  all.push_back({"ResizeNearest_TRT", "1", Attributes().set("scale", Floats{1.5F}), {floats({2, 3, 4, 5})}});
  all.push_back({"SpecialSlice_TRT", "1", {}, {floats({2, 3, 6})}});
  all.push_back(
      {"Split", "1", Attributes().set("axis", Ints{1}).set("output_lengths", Ints{1, 2}), {floats({2, 3, 4})}});
  all.push_back({"ScatterElements",
                 "12",
                 Attributes().set("axis", Ints{1}).set("reduction", std::string("add")),
                 {floats({2, 3, 4}), integers({2, 2, 4}), floats({2, 2, 4})}});
  all.push_back({"ScatterND", "1", {}, {floats({2, 3, 4}), integers({5, 2}), floats({5, 4})}});
}

void add_points(std::vector<Example>& all) {
  all.push_back({"DecodeBbox3DPlugin",
                 "1",
                 Attributes()
                     .set("point_cloud_range", Floats{0, 0, -1, 4, 4, 1})
                     .set("anchors", Floats{1, 2, 1, 0, 1, 2, 1, 1.5F})
                     .set("anchor_bottom_height", Floats{-1}),
                 {floats({2, 3, 4, 2}), floats({2, 3, 4, 14}), floats({2, 3, 4, 4})}});
  all.push_back({"PillarScatterPlugin",
                 "1",
                 Attributes().set("dense_shape", Ints{5, 6}),
                 {floats({2, 3, 4}), integers({2, 3, 4}), integers({2})}});
  all.push_back({"VoxelGeneratorPlugin",
                 "1",
                 Attributes()
                     .set("max_num_points_per_voxel", Ints{3})
                     .set("max_voxels", Ints{4})
                     .set("voxel_feature_num", Ints{10})
                     .set("voxel_size", Floats{1, 1, 2})
                     .set("point_cloud_range", Floats{0, 0, -1, 4, 4, 1}),
                 {floats({2, 6, 4}), integers({2})}});
}

void add_attention(std::vector<Example>& all) {
  const Floats two = {1, 2};
  const Attributes embedding = Attributes()
                                   .set("bert_embeddings_layernorm_beta", two)
                                   .set("bert_embeddings_layernorm_gamma", two)
                                   .set("bert_embeddings_word_embeddings", Floats(6, 1))
                                   .set("bert_embeddings_token_type_embeddings", Floats(4, 1))
                                   .set("bert_embeddings_position_embeddings", Floats(8, 1))
                                   .set("output_fp16", Ints{0});
  all.push_back(
      {"CustomEmbLayerNormPluginDynamic", "16", embedding, {integers({3, 2}), integers({3, 2}), integers({3, 2})}});
  all.push_back({"CustomEmbLayerNormPluginDynamic",
                 "2345",
                 embedding,
                 {integers({3}), integers({3}), integers({3}), integers({2})}});
  all.push_back({"CustomFCPluginDynamic",
                 "1",
                 Attributes().set("out_dims", Ints{2}).set("type_id", Ints{0}).set("W", Floats(6, 1)),
                 {floats({4, 2, 3, 1, 1})}});
  all.push_back({"CustomGeluPluginDynamic",
                 "12",
                 Attributes().set("type_id", Ints{0}).set("bias", Floats{1, 2, 3}),
                 {floats({4, 2, 3})}});
  all.push_back({"CustomGeluPluginDynamic", "12", Attributes().set("type_id", Ints{0}), {floats({4, 2, 3})}});
  const Attributes norm = Attributes().set("gamma", two).set("beta", two);
  const Attributes plain = Attributes(norm).set("type_id", Ints{0}).set("ld", Ints{2}).set("bias", two);
  all.push_back(
      {"CustomSkipLayerNormPluginDynamic", "1256", plain, {floats({3, 4, 2, 1, 1}), floats({3, 4, 2, 1, 1})}});
  all.push_back({"CustomSkipLayerNormPluginDynamic", "3478", norm, {floats({1, 2, 3, 1}), floats({1, 2, 3, 1})}});
  const Attributes heads = Attributes().set("hidden_size", Ints{4}).set("num_heads", Ints{2});
  const Attributes typed = Attributes(heads).set("type_id", Ints{0}).set("has_mask", Ints{1});
  all.push_back({"CustomQKVToContextPluginDynamic", "1245", typed, {floats({3, 2, 12, 1, 1}), integers({2})}});
  all.push_back({"CustomQKVToContextPluginDynamic",
                 "25",
                 Attributes(typed).set("var_seqlen", Ints{1}),
                 {floats({5, 12, 1, 1}), integers({2}), integers({3}), integers({4})}});
  all.push_back(
      {"CustomQKVToContextPluginDynamic", "36", heads, {floats({1, 12, 5, 1}), integers({3}), integers({4})}});
  all.push_back({"DisentangledAttention_TRT",
                 "12",
                 Attributes().set("span", Ints{3}).set("factor", Floats{1}),
                 {floats({2, 4, 4}), floats({2, 4, 6}), floats({2, 4, 6})}});
  all.push_back(
      {"MultiscaleDeformableAttnPlugin_TRT",
       "12",
       {},
       {floats({2, 12, 3, 4}), integers({2, 2}), integers({2}), floats({2, 5, 3, 2, 4, 2}), floats({2, 5, 3, 2, 4})}});
}

}  // namespace

std::vector<Example> examples() {
  std::vector<Example> all;
  add_detections(all);
  add_proposals(all);
  add_regions(all);
  add_images(all);
  add_points(all);
  add_attention(all);
  return all;
}

std::vector<ExamplePlugin> example_plugins() {
  std::vector<ExamplePlugin> all;
  for (const Example& example : examples())
    for (const char version : std::string_view(example.versions)) {
      const std::string what = str(example.name, " version ", version);
      const auto found = std::ranges::find_if(definitions(), [&](const Definition& one) {
        return std::string_view(one.name) == example.name && std::string_view(one.version) == std::string(1, version);
      });
      EXPECT_NE(found, definitions().end()) << what;
      if (found == definitions().end()) continue;
      const std::vector<nv::PluginField> fields = example.attributes.fields();
      const nv::PluginFieldCollection collection{static_cast<int32_t>(fields.size()), fields.data()};
      auto made = make_plugin(*found, Fields::of(&collection, found->fields).value());
      EXPECT_TRUE(made) << what << ": " << (made ? "" : made.error().message);
      if (made) all.push_back({std::move(*made), example.inputs, what});
    }
  return all;
}

}  // namespace kiln::plugins::testing
