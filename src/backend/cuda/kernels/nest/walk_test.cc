#include "backend/cuda/kernels/nest/walk.h"

#include <gtest/gtest.h>

namespace kiln::cuda {
namespace {

uint32_t quotient(const Divisor& d, uint32_t n) {  // as kernels/nest/walk.cuh has it
  return static_cast<uint32_t>(((uint64_t{n} * d.multiplier) >> 32) + n) >> d.shift;
}

TEST(Divisor, DividesExactly) {
  for (const int64_t extent :
       {1, 2, 3, 5, 7, 10, 49, 64, 641, 768, 1000, 65535, 65536, 1 << 30, (1 << 30) + 1, 2147483647}) {
    const Divisor d = divisor_of(extent);
    const auto e = static_cast<uint64_t>(extent);
    for (uint64_t k = 0; k < 100000; ++k) {
      const uint64_t spread = k * 21474 + k % 7;
      for (const uint64_t n : {k, spread, k * e, k * e + e - 1, k * e + e})
        if (n < uint64_t{1} << 31) {
          ASSERT_EQ(quotient(d, static_cast<uint32_t>(n)), n / e) << n << " / " << extent;
        }
    }
    ASSERT_EQ(quotient(d, 2147483647), 2147483647 / e);
  }
}

AxisStrides strides(std::initializer_list<int64_t> list) {
  AxisStrides result{};
  std::copy(list.begin(), list.end(), result.begin());
  return result;
}

TEST(MergeAxes, DenseTensorsAreOneAxis) {
  const AxisStrides dense[] = {strides({12, 4, 1}), strides({12, 4, 1})};
  const MergedAxes axes = merge_axes(Extents{2, 3, 4}, dense, 1);
  EXPECT_EQ(axes.rank, 1);
  EXPECT_EQ(axes.count(), 24);
  EXPECT_EQ(axes.inner_stride(0), 1);
}
TEST(MergeAxes, ABroadcastAxisStaysApart) {
  const AxisStrides tensors[] = {strides({0, 4, 0, 0}), strides({64, 16, 4, 1})};  // [1, 4, 1, 1] on [2, 4, 4, 4]
  const MergedAxes axes = merge_axes(Extents{2, 4, 4, 4}, tensors, 1);
  EXPECT_EQ(axes.rank, 3);
  EXPECT_EQ(axes.inner_extent(), 16);
  EXPECT_EQ(axes.inner_stride(0), 0);
}
TEST(MergeAxes, FollowTheLeader) {
  const AxisStrides tensors[] = {strides({1, 5}), strides({1, 5})};  // both column-major
  const MergedAxes axes = merge_axes(Extents{5, 3}, tensors, 1);
  EXPECT_EQ(axes.rank, 1);
  EXPECT_EQ(axes.count(), 15);
}
TEST(MergeAxes, OneElement) {
  const AxisStrides tensors[] = {strides({0, 0})};
  const MergedAxes axes = merge_axes(Extents{1, 1}, tensors, 0);
  EXPECT_EQ(axes.rank, 1);
  EXPECT_EQ(axes.count(), 1);
}
TEST(MergeAxes, ReachDecidesTheWidthOfIndices) {
  const AxisStrides small[] = {strides({1 << 20, 1})}, large[] = {strides({int64_t{1} << 30, 1})};
  EXPECT_TRUE(is_narrow(merge_axes(Extents{1000, 1000}, small, 0)));
  EXPECT_FALSE(is_narrow(merge_axes(Extents{1000, 1000}, large, 0)));
}

}  // namespace
}  // namespace kiln::cuda
