#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(ImportNonZero, HasI64Indices) {
  EXPECT_NE(
      import_node(node("NonZero", {"x"}, {"y"}, "nz"), {value("x", kFloat, {2, 3})}).find("NonZero{indices=i64}(x)"),
      std::string::npos);
}

TEST(ImportCompress, PicksAlongAnAxisOrOfAll) {
  const Proto x = value("x", kFloat, {2, 3}), condition = value("c", kBool, {3});
  const std::string along =
      import_node(node("Compress", {"x", "c"}, {"y"}, "p", {int_attribute("axis", -1)}), {x, condition});
  EXPECT_NE(along.find("NonZero{indices=i64}(c)"), std::string::npos) << along;
  EXPECT_NE(along.find("axis=1, num_elementwise_dims=0}(x, "), std::string::npos) << along;
  const std::string all = import_node(node("Compress", {"x", "c"}, {"y"}, "p"), {x, condition});
  EXPECT_NE(all.find("Reshape{dims=[6]"), std::string::npos) << all;
  EXPECT_EQ(import_node(node("Compress", {"x", "c"}, {"y"}, "p"), {x, value("c", kBool, {3, 1})}),
            "node 'p' (Compress) of x f32[2, 3], c bool[3, 1]: condition is bool[3, 1]; rank 1 needed\n");
}
TEST(ImportCompress, FlagsBehindTheAxisCountForNothing) {
  const std::string longer = import_node(node("Compress", {"x", "c"}, {"y"}, "p", {int_attribute("axis", 1)}),
                                         {value("x", kFloat, {2, 3}), value("c", kBool, {5})});
  EXPECT_NE(longer.find("# bool[3]"), std::string::npos) << longer;
}

}  // namespace
}  // namespace kiln::onnx
