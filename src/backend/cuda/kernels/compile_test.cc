// Every kernel of the small families compiles for every architecture.
#include <gtest/gtest.h>

#include "backend/cuda/kernels/fill/fill.h"
#include "backend/cuda/kernels/gather/gather.h"
#include "backend/cuda/kernels/pool/pool.h"
#include "backend/cuda/kernels/resize/resize.h"
#include "backend/cuda/kernels/testing.h"

namespace kiln::cuda {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32,
                            DType::kI64, DType::kI8,  DType::kU8,   DType::kBool};
int widest(DType type) { return std::min(8, 128 / bits_of(type)); }

#define COMPILES(source)                            \
  ASSERT_NO_FATAL_FAILURE(expect_compiles(source)); \
  if (testing::Test::IsSkipped()) return

TEST(PoolKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kBlend})
      if (can_pool(kind, type)) {
        COMPILES(pool_source(type, kind, widest(type), std::vector<int64_t>{3, 2}));
      }
}
TEST(GatherKernel, AllCompile) {
  constexpr int kUnits[] = {16, 8, 4, 2, 1};
  for (const GatherMode mode : {GatherMode::kDefault, GatherMode::kElement, GatherMode::kNd})
    for (const DType indices : {DType::kI32, DType::kI64}) {
      COMPILES(gather_source(mode, indices, kUnits));
    }
}
TEST(ResizeKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear})
      if (can_resize(mode, type)) {
        COMPILES(resize_source(mode, type, widest(type)));
      }
}
TEST(FillKernel, AllCompile) {
  for (const DType type : kTypes)
    for (const FillOperation operation :
         {FillOperation::kLinspace, FillOperation::kRandomUniform, FillOperation::kRandomNormal})
      if (can_fill(operation, type)) {
        COMPILES(fill_source(operation, type));
      }
  COMPILES(values_source());
}

TEST(GatherLaunch, RowsMoveInWideUnits) {
  const auto launch = gather_launch({.axis = 0}, 2, 16, Extents{30522, 768}, Extents{8, 128});
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->unit_bytes, 16);
  EXPECT_EQ(launch->argument.count, 8u * 128 * 96);
  const auto odd = gather_launch({.axis = 1}, 4, 16, Extents{5, 7, 3}, Extents{2});
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_EQ(odd->unit_bytes, 4);
}
TEST(ResizePlan, ChannelsLastAreVectors) {
  const ops::Resize twice{.scales = {1, 1, 2, 2}};
  const auto plan = plan_resize(twice, false, Extents{2, 64, 5, 6}, Extents{2, 64, 10, 12}, Format::channels_last(4));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->planes, 2);
  EXPECT_EQ(plan->inner, 64);
  const ResizeArgument a = plan->in_vectors(ResizeMode::kLinear, 8);
  EXPECT_EQ(a.count, 2u * 10 * 12 * 8);
  EXPECT_EQ(a.strides[2], 64);
  EXPECT_EQ(a.strides[1], 6 * 64);
  EXPECT_EQ(a.plane, 5 * 6 * 64);
  EXPECT_EQ(plan->in_vectors(ResizeMode::kNearest, 8).strides[2], 8);  // in units
}

}  // namespace
}  // namespace kiln::cuda
