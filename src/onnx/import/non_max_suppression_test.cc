#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(ImportNonMaxSuppression, TakesScoresByClass) {
  const Proto boxes = value("b", kFloat, {1, 9, 4}), scores = value("s", kFloat, {1, 3, 9});
  const std::string text = import_node(
      node("NonMaxSuppression", {"b", "s", "m", "", "t"}, {"y"}, "nms", {int_attribute("center_point_box", 1)}),
      {boxes, scores, value("t", kFloat, {1})}, {i64s("m", {2})});
  EXPECT_NE(text.find("Transpose{perm=[0, 2, 1]}(s)"), std::string::npos) << text;
  EXPECT_NE(text.find("NonMaxSuppression{format=center_sizes, candidates=-1, indices=i64}"), std::string::npos) << text;
}

TEST(ImportNonMaxSuppression, SaysWhatIsWrong) {
  const Proto boxes = value("b", kFloat, {1, 9, 4});
  EXPECT_EQ(import_node(node("NonMaxSuppression", {"b", "s"}, {"y"}, "nms"), {boxes, value("s", kFloat, {1, 9})}),
            "node 'nms' (NonMaxSuppression) of b f32[1, 9, 4], s f32[1, 9]: scores are f32[1, 9]; rank 3 needed\n");
  EXPECT_EQ(import_node(node("NonMaxSuppression", {"b", "s"}, {"y"}, "nms", {int_attribute("center_point_box", 2)}),
                        {boxes, value("s", kFloat, {1, 3, 9})}),
            "node 'nms' (NonMaxSuppression) of b f32[1, 9, 4], s f32[1, 3, 9]: center_point_box is 2; 0 or 1 needed\n");
}

}  // namespace
}  // namespace kiln::onnx
