#include <gtest/gtest.h>

#include "onnx/test_run.h"

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

TEST(ImportCumProd, MultipliesAndWraps) {
  const auto of = [](const Fed& x, int64_t axis, std::vector<Proto> attributes = {}) {
    Proto product = node("CumProd", {"a", "axis"}, {"y"});
    for (const Proto& each : attributes) product.message(field::node::kAttribute, each);
    return ints_of(run_nodes({product}, {x}, {i64s("axis", {axis})}, 26));
  };
  using Longs = std::vector<int64_t>;
  const Fed x = fed_ints(kInt64, DType::kI64, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(of(x, 0), (Longs{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(of(x, -1, {int_attribute("exclusive", 1), int_attribute("reverse", 1)}), (Longs{6, 3, 1, 30, 6, 1}));
  constexpr int64_t kUint32 = 12;
  EXPECT_EQ(of(fed_ints(kUint32, DType::kI64, {3}, {65536, 65535, 65537}), 0), (Longs{65536, 4294901760, 4294901760}));
}

}  // namespace
}  // namespace kiln::onnx
