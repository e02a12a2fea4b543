#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

TEST(ImportCumSum, TheAxisIsAConstantOrAnInputOfTheRun) {
  const auto sums = [](std::vector<Proto> inputs, std::vector<Proto> initializers) {
    return import_node(node("CumSum", {"x", "axis"}, {"y"}, "c", {int_attribute("exclusive", 1)}), std::move(inputs),
                       std::move(initializers));
  };
  const std::string known = sums({value("x", kFloat, {2, 9})}, {i64s("axis", {-1})});
  EXPECT_NE(known.find("Cumulative{operation=sum, axis=1, exclusive=true, reverse=false}(x)"), std::string::npos)
      << known;
  const std::string unknown = sums({value("x", kFloat, {2, 9}), value("axis", kInt64, {})}, {});
  for (const char* part : {"axis=0", "axis=1", "Select"}) EXPECT_NE(unknown.find(part), std::string::npos) << unknown;
}

TEST(ImportCumSum, SaysWhatIsWrong) {
  EXPECT_EQ(import_node(node("CumSum", {"x", "axis"}, {"y"}, "c"), {value("x", kFloat, {2, 9})}, {i64s("axis", {2})}),
            "node 'c' (CumSum) of x f32[2, 9], axis i64[1]: axis 2 is outside [-2, 2)\n");
}

}  // namespace
}  // namespace kiln::onnx
