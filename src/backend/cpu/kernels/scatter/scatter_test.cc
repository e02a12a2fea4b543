// Which update stays, and what becomes of indices that are outside.
#include "backend/cpu/kernels/scatter/scatter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace kiln::cpu {
namespace {

TEST(ScatterKernel, TheLastUpdateOfAnElementStays) {
  const auto plan = plan_scatter({.axis = 1}, DType::kI32, false, Extents{3, 4}, Extents{2, 3});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<int32_t> data{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, updates{-1, -2, -3, -4, -5, -6};
  std::vector<int32_t> y(data.size());
  const std::vector<int32_t> indices{2, -2, 0, 3, 3, 3};
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 0);
  EXPECT_EQ(y, (std::vector<int32_t>{-3, 1, -2, 3, 10, 11, 12, -6, 20, 21, 22, 23}));
}
TEST(ScatterKernel, LeavesOutWhatIsOutside) {
  const auto plan = plan_scatter({.mode = ScatterMode::kNd}, DType::kF16, true, Extents{2, 3, 2}, Extents{4, 2});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<int16_t> data(12, 7), updates{1, 2, 3, 4, 5, 6, 8, 9};
  std::vector<int16_t> y(data.size());
  const std::vector<int64_t> indices{1, -1, 0, 3, -3, 0, 0, 0};  // the second and third are outside
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 2);
  EXPECT_EQ(y, (std::vector<int16_t>{8, 9, 7, 7, 7, 7, 7, 7, 7, 7, 1, 2}));
}

/// Data 5, 6, 7 with updates of its elements 2, 0 and 2 again.
template <class T>
std::vector<T> reduced(ScatterReduction reduction, DType dtype, const std::vector<T>& data,
                       const std::vector<T>& updates) {
  const auto plan = plan_scatter({.reduction = reduction}, dtype, true, Extents{3}, Extents{3});
  EXPECT_TRUE(plan) << plan.error().message;
  const std::vector<int64_t> indices{2, 0, -1};
  std::vector<T> y(3);
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 0);
  return y;
}
TEST(ScatterKernel, Reduces) {
  using Ints = std::vector<int32_t>;
  const auto of_ints = [](ScatterReduction reduction) {
    return reduced<int32_t>(reduction, DType::kI32, {5, 6, 7}, {4, 9, 3});
  };
  EXPECT_EQ(of_ints(ScatterReduction::kSum), (Ints{14, 6, 14}));
  EXPECT_EQ(of_ints(ScatterReduction::kProd), (Ints{45, 6, 84}));
  EXPECT_EQ(of_ints(ScatterReduction::kMax), (Ints{9, 6, 7}));
  EXPECT_EQ(of_ints(ScatterReduction::kMin), (Ints{5, 6, 3}));
  EXPECT_EQ((reduced<float>(ScatterReduction::kSum, DType::kF32, {0.5F, 1, -2}, {3, 0.25F, 8})),
            (std::vector<float>{0.75F, 1, 9}));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ((reduced<int64_t>(ScatterReduction::kSum, DType::kI64, {0, 1, kMost}, {0, 1, 3})),
            (std::vector<int64_t>{1, 1, kLeast + 2}));  // integers wrap
}
TEST(ScatterKernel, HalvesAreRoundedOnceAnUpdate) {
  // 2048 + 1 is 2048 in FP16, twice; 2048 + 2 were 2050.
  EXPECT_EQ((reduced<uint16_t>(ScatterReduction::kSum, DType::kF16, {0, 0, 0x6800}, {0x3c00, 0x3c00, 0x3c00})),
            (std::vector<uint16_t>{0x3c00, 0, 0x6800}));
  EXPECT_EQ((reduced<uint16_t>(ScatterReduction::kMax, DType::kBF16, {0, 0, 0x3f80}, {0x4000, 0xbf80, 0xc000})),
            (std::vector<uint16_t>{0, 0, 0x4000}));
}
TEST(ScatterKernel, ReducesWholeRows) {
  const auto plan = plan_scatter({.mode = ScatterMode::kNd, .reduction = ScatterReduction::kSum}, DType::kF32, false,
                                 Extents{2, 3}, Extents{3, 1});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<float> data{1, 2, 3, 4, 5, 6}, updates{10, 20, 30, 1, 1, 1, 100, 200, 300};
  const std::vector<int32_t> indices{1, 2, -1};  // the second is outside
  std::vector<float> y(6);
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 1);
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, 114, 225, 336}));
}
TEST(ScatterKernel, TellsTheFirstThatIsOutside) {
  const std::vector<int32_t> data(12), updates(3);
  std::vector<int32_t> y(12);
  const auto along = plan_scatter({.axis = 1}, DType::kI32, false, Extents{3, 4}, Extents{1, 3});
  const std::vector<int32_t> columns{3, -5, 4};
  EXPECT_EQ(run_scatter(*along, data.data(), columns.data(), updates.data(), y.data()).check().error().message,
            "index -5 is outside [-4, 4) of its axis, and so is 1 other");
  const auto nd = plan_scatter({.mode = ScatterMode::kNd}, DType::kF32, false, Extents{3, 4}, Extents{3, 2});
  const std::vector<int32_t> pairs{0, 3, 2, 4, 1, 1};
  EXPECT_EQ(run_scatter(*nd, data.data(), pairs.data(), updates.data(), y.data()).check().error().message,
            "index 4 is outside [-4, 4) of its axis");
}

}  // namespace
}  // namespace kiln::cpu
