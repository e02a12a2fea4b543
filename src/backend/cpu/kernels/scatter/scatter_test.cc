// Which update stays, and what becomes of indices that are outside.
#include "backend/cpu/kernels/scatter/scatter.h"

#include <gtest/gtest.h>

#include <vector>

namespace kiln::cpu {
namespace {

TEST(ScatterKernel, TheLastUpdateOfAnElementStays) {
  const auto plan = plan_scatter({.axis = 1}, 4, false, Extents{3, 4}, Extents{2, 3});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<int32_t> data{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, updates{-1, -2, -3, -4, -5, -6};
  std::vector<int32_t> y(data.size());
  const std::vector<int32_t> indices{2, -2, 0, 3, 3, 3};
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 0);
  EXPECT_EQ(y, (std::vector<int32_t>{-3, 1, -2, 3, 10, 11, 12, -6, 20, 21, 22, 23}));
}
TEST(ScatterKernel, LeavesOutWhatIsOutside) {
  const auto plan = plan_scatter({.mode = ScatterMode::kNd}, 2, true, Extents{2, 3, 2}, Extents{4, 2});
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<int16_t> data(12, 7), updates{1, 2, 3, 4, 5, 6, 8, 9};
  std::vector<int16_t> y(data.size());
  const std::vector<int64_t> indices{1, -1, 0, 3, -3, 0, 0, 0};  // the second and third are outside
  EXPECT_EQ(run_scatter(*plan, data.data(), indices.data(), updates.data(), y.data()).count, 2);
  EXPECT_EQ(y, (std::vector<int16_t>{8, 9, 7, 7, 7, 7, 7, 7, 7, 7, 1, 2}));
}

TEST(ScatterKernel, TellsTheFirstThatIsOutside) {
  const std::vector<int32_t> data(12), updates(3);
  std::vector<int32_t> y(12);
  const auto along = plan_scatter({.axis = 1}, 4, false, Extents{3, 4}, Extents{1, 3});
  const std::vector<int32_t> columns{3, -5, 4};
  EXPECT_EQ(run_scatter(*along, data.data(), columns.data(), updates.data(), y.data()).check().error().message,
            "index -5 is outside [-4, 4) of its axis, and so is 1 other");
  const auto nd = plan_scatter({.mode = ScatterMode::kNd}, 4, false, Extents{3, 4}, Extents{3, 2});
  const std::vector<int32_t> pairs{0, 3, 2, 4, 1, 1};
  EXPECT_EQ(run_scatter(*nd, data.data(), pairs.data(), updates.data(), y.data()).check().error().message,
            "index 4 is outside [-4, 4) of its axis");
}

}  // namespace
}  // namespace kiln::cpu
