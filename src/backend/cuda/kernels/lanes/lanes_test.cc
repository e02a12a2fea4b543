#include <gtest/gtest.h>

#include "backend/cuda/kernels/lanes/normalize.h"
#include "backend/cuda/kernels/lanes/reduce.h"
#include "backend/cuda/kernels/lanes/softmax.h"
#include "backend/cuda/kernels/testing.h"

namespace kiln::cuda {
namespace {

constexpr int kSms = 132;

TEST(RowTile, HoldsWhatItWasMadeFor) {
  for (const int64_t rows : {1, 12, 1536, 100'000})
    for (const int64_t cols : {1, 7, 64, 128, 197, 768, 1000, 1024, 4096, 16384})
      for (const int bytes : {2, 4}) {
        const auto tile = row_tile(rows, cols, cols, bytes, kSms);
        if (!tile) {
          EXPECT_GT(cols, 4096) << rows << ' ' << bytes;
          continue;
        }
        EXPECT_TRUE(tile->holds(cols)) << tile->name() << " for " << cols;
        EXPECT_LE(tile->vec * bytes, 16);
        const LaunchShape shape = tile->shape(rows, cols);
        EXPECT_LE(shape.block[0], 1024u);
        EXPECT_EQ(shape.block[0] % 32, 0u);
        EXPECT_LE(tile->vec * tile->loads, 32) << "registers of a thread";
      }
}
TEST(RowTile, LongRowsHaveNone) { EXPECT_FALSE(row_tile(8, 70'001, 70'001, 4, kSms)); }
TEST(RowTile, SurvivesARecord) {
  const RowTile tile{true, 8, 4};
  const auto copy = RowTile::parse(tile.record());
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(*copy, tile);
  EXPECT_FALSE(RowTile::parse(RowTile{true, 3, 4}.record()));
}

TEST(ReduceLaunch, FewLongRowsTakeTwoSteps) {
  const auto launches = reduce_launches({2, 1'000'003, 1}, false, 1, true, kSms);
  ASSERT_EQ(launches.size(), 2u);
  const ReduceArgument &first = launches[0].argument, &last = launches[1].argument;
  EXPECT_GE(first.chunk * first.chunks, first.length);
  EXPECT_LT(first.chunk * (first.chunks - 1), first.length);  // no chunk is empty
  EXPECT_EQ(last.length, first.chunks);
  EXPECT_EQ(last.divisor, 1'000'003);  // of what was averaged, not of the chunks
}
TEST(ReduceLaunch, WorkspaceIsEnough) {
  for (const int64_t outer : {1, 3, 100, 131})
    for (const int64_t length : {600, 5000, 100'000})
      for (const int64_t inner : {1, 8, 64, 2048}) {
        const auto launches = reduce_launches({outer, length, inner}, inner > 1, 1, false, kSms);
        if (launches.size() < 2) continue;
        EXPECT_LE(outer * inner * launches[0].argument.chunks * 8, reduce_workspace_bytes(kSms));
      }
}
TEST(ReduceLaunch, AxesThatAreNotNeighbours) {
  const auto launch = reduce_axes_launch(Extents{2, 3, 4, 5}, {false, true, false, true}, true);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->argument.kept.count, 8u);
  EXPECT_EQ(launch->argument.reduced.count, 15u);
  EXPECT_EQ(launch->argument.divisor, 15);
  EXPECT_EQ(launch->argument.from_kept.strides[1], 5);
  EXPECT_EQ(launch->argument.from_reduced.strides[0], 20);
}
TEST(ReduceLaunch, NothingToDoIsNoLaunch) { EXPECT_TRUE(reduce_launches({0, 5, 1}, false, 1, false, kSms).empty()); }

TEST(NormalizationLaunch, FewGroupsTakeTwoSteps) {
  const NormalizationShape shape{
      .rows = false, .channels_last = true, .n = 1, .channels = 320, .plane = 4096, .groups = 32};
  const auto launches = normalization_launches(shape, nullptr, true, kSms);
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2u);
  const NormalizationArgument& n = (*launches)[0].argument;
  EXPECT_EQ(n.length, 40960);
  EXPECT_EQ(n.group_stride, 10);
  EXPECT_LE(n.rows * n.chunks * 8, normalization_workspace_bytes(kSms));
}

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

TEST(SoftmaxKernel, AllCompile) {
  for (const DType type : kFloats) {
    for (const RowTile tile : {RowTile{false, type == DType::kF32 ? 4 : 8, 4}, RowTile{true, 1, 16}})
      ASSERT_NO_FATAL_FAILURE(expect_compiles(softmax_source({type, false, tile})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(softmax_source({type, true, {}})));
    if (testing::Test::IsSkipped()) return;
  }
}
TEST(ReduceKernel, AllCompile) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64, DType::kI8, DType::kU8}) {
    ASSERT_TRUE(can_fold(type));
    const int vec = vector_width(64, bits_of(type) / 8);
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_source({type, Fold::kMax, false, vec})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_source({type, Fold::kSum, true, vec})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(reduce_axes_source(type, Fold::kMin)));
    if (testing::Test::IsSkipped()) return;
  }
}
TEST(NormalizationKernel, AllCompile) {
  for (const DType type : kFloats) {
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, type, RowTile{false, 4, 8}})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, DType::kF32, RowTile{true, 2, 2}})));
    ASSERT_NO_FATAL_FAILURE(expect_compiles(normalization_source({type, type, {}})));
    if (testing::Test::IsSkipped()) return;
  }
}

}  // namespace
}  // namespace kiln::cuda
