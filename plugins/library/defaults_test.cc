// Fields that need not be given, and what TensorRT's creators take in their place.
#include <gtest/gtest.h>

#include "testing/reference_nms.h"

namespace kiln::plugins::testing {
namespace {

using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

/// Expects a plugin that is not given some fields to compute what it computes with these.
void expect_default(const char* plugin, const Attributes& given, const Attributes& all,
                    const std::vector<Tensor>& inputs) {
  SCOPED_TRACE(plugin);
  const Outcome with = run(Way::kLayers, plugin, "1", all, inputs),
                without = run(Way::kLayers, plugin, "1", given, inputs);
  EXPECT_EQ(with.error, "");
  EXPECT_EQ(without.error, "");
  ASSERT_EQ(with.outputs.size(), without.outputs.size());
  for (size_t i = 0; i < with.outputs.size(); ++i) {
    EXPECT_EQ(with.outputs[i].extents, without.outputs[i].extents);
    EXPECT_EQ(with.outputs[i].values, without.outputs[i].values);
  }
}

TEST(Defaults, OfSsdAreTensorFlows) {
  const Attributes given = Attributes()
                               .set("numClasses", Ints{3})
                               .set("topK", Ints{12})
                               .set("keepTopK", Ints{5})
                               .set("confidenceThreshold", Floats{0.1F})
                               .set("nmsThreshold", Floats{0.4F});
  const Attributes all =
      Attributes(given).set("codeType", Ints{3}).set("inputOrder", Ints{0, 2, 1}).set("isBatchAgnostic", Ints{1});
  Tensor prior = overlapping_boxes(1, 12, 1, 3);
  prior.extents = {1, 2, 48, 1};
  prior.values.resize(96, 0.1);
  for (const char* name : {"NMS_TRT", "NMSDynamic_TRT"})
    expect_default(name, given, all, {noise({2, 48, 1, 1}, 1), prior, noise({2, 36, 1, 1}, 2)});
}

TEST(Defaults, OfEfficientNms) {
  const std::vector<Tensor> inputs = {overlapping_boxes(2, 30, 1, 3), noise({2, 30, 3}, 4)};
  const Attributes thresholds = Attributes().set("score_threshold", Floats{0.5F}).set("iou_threshold", Floats{0.5F});
  const Attributes onnx = Attributes().set("max_output_boxes_per_class", Ints{7});
  expect_default("EfficientNMS_ONNX_TRT", onnx,
                 Attributes(thresholds).set("max_output_boxes_per_class", Ints{7}).set("center_point_box", Ints{0}),
                 inputs);
  for (const char* name : {"EfficientNMS_Explicit_TF_TRT", "EfficientNMS_Implicit_TF_TRT"})
    expect_default(name, {},
                   Attributes(thresholds)
                       .set("max_output_size_per_class", Ints{-1})
                       .set("max_total_size", Ints{100})
                       .set("pad_per_class", Ints{0})
                       .set("clip_boxes", Ints{0}),
                   inputs);
}

TEST(Defaults, OfOthers) {
  expect_default("GroupNormalizationPlugin", {}, Attributes().set("num_groups", Ints{1}).set("eps", Floats{1e-5F}),
                 {noise({2, 6, 4}, 1), noise({6}, 2), noise({6}, 3)});
  const Attributes maps = Attributes()
                              .set("aspectRatios", Floats{1, 2, 0.5F})
                              .set("variance", Floats{0.1F, 0.1F, 0.2F, 0.2F})
                              .set("featureMapShapes", Ints{6, 5, 4, 3, 2, 1});
  const Attributes sized =
      Attributes(maps).set("minSize", Floats{0.2F}).set("maxSize", Floats{0.95F}).set("numLayers", Ints{6});
  expect_default("GridAnchor_TRT", maps, sized, {});
  const Ints twice = {6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1};
  expect_default("GridAnchorRect_TRT", Attributes(maps).set("featureMapShapes", twice),
                 Attributes(sized).set("featureMapShapes", twice), {});
}

}  // namespace
}  // namespace kiln::plugins::testing
