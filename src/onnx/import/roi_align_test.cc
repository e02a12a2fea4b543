// MaxRoiPool: bins, their rounding, and what a wrong use is told.
#include <gtest/gtest.h>

#include "onnx/test_run.h"

namespace kiln::onnx {
namespace {

using namespace test;
using Numbers = std::vector<double>;

Proto pool(std::initializer_list<int64_t> pooled, float scale) {
  return node("MaxRoiPool", {"a", "b"}, {"y"}, "pool",
              {ints_attribute("pooled_shape", pooled), float_attribute("spatial_scale", scale)});
}
/// Two images of 4x4 pixels: 0 ... 15, and the negatives of 16 ... 31.
Numbers run(std::initializer_list<int64_t> pooled, float scale, const Numbers& rois) {
  Numbers x(32);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i < 16 ? static_cast<double>(i) : -static_cast<double>(i);
  const auto regions = static_cast<int64_t>(rois.size() / 5);
  return numbers_of(run_nodes({pool(pooled, scale)}, {fed(kFloat, DType::kF32, {2, 1, 4, 4}, x),
                                                      fed(kFloat, DType::kF32, {regions, 5}, rois)}));
}

TEST(ImportMaxRoiPool, TakesTheLargestOfEachBin) {
  EXPECT_EQ(run({2, 2}, 1, {0, 0, 0, 3, 3}), (Numbers{5, 7, 13, 15}));
  EXPECT_EQ(run({2, 2}, 1, {1, 0, 0, 3, 3}), (Numbers{-16, -18, -24, -26}));
  // Three columns for two bins: both have the middle one. Two regions, x first and last in front of y.
  EXPECT_EQ(run({1, 2}, 1, {0, 1, 1, 3, 2, 1, 0, 3, 2, 3}), (Numbers{10, 11, -28, -29}));
}
TEST(ImportMaxRoiPool, RoundsEdgesAndLeavesOutWhatIsOutside) {
  // 1.5 and 3.5 become 2 and 4: rows 2 to 4, of which there is no 4; columns 0 to 1.
  EXPECT_EQ(run({3, 1}, 0.5F, {0, 0, 3, 2, 7}), (Numbers{9, 13, 0}));
  // A region that ends before it begins has one pixel.
  EXPECT_EQ(run({1, 1}, 1, {0, 2, 1, 0, 0}), Numbers{6});
}
TEST(ImportMaxRoiPool, SaysWhatIsWrong) {
  const auto told = [](const Proto& of, std::initializer_list<int64_t> x) {
    return import_node(of, {value("a", kFloat, x), value("b", kFloat, {3, 5})});
  };
  EXPECT_EQ(told(pool({2}, 1), {1, 2, 4, 4}),
            "node 'pool' (MaxRoiPool) of a f32[1, 2, 4, 4], b f32[3, 5]: pooled_shape is [2]; two positive numbers are "
            "needed\n");
  EXPECT_EQ(told(pool({2, 2}, 1), {2, 4, 4}),
            "node 'pool' (MaxRoiPool) of a f32[2, 4, 4], b f32[3, 5]: x is f32[2, 4, 4] and rois are f32[3, 5]; "
            "[N, C, H, W] and [regions, 5] are needed\n");
}

}  // namespace
}  // namespace kiln::onnx
