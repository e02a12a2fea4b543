#include "backend/cuda/compile/move/move.h"

#include <gtest/gtest.h>

#include "backend/cuda/compile/testing.h"
#include "backend/cuda/kernels/move/slice.h"

namespace kiln::cuda {
namespace {

using enum MoveKernel::Kind;

std::vector<MoveKernel> kernels_of(int bytes, const StridedCopy& copy) { return move_kernels_for(bytes, {&copy, 1}); }

TEST(MoveKernel, UnitsAreAsWideAsNeighboursAllow) {
  const auto heads = transpose_copy(Extents{2, 128, 12, 64}, Extents{0, 2, 1, 3});  // rows of 64 halfs stay whole
  EXPECT_EQ(kernels_of(2, heads), (std::vector<MoveKernel>{{kMove, 16}, {kMove, 2}}));
  const auto odd = slice_copy(Extents{4, 9}, Extents{4, 4}, Extents{0, 1}, Extents{1, 1});
  EXPECT_EQ(kernels_of(4, odd), (std::vector<MoveKernel>{{kMove, 4}}));
  const auto whole = expand_copy(Extents{4, 8}, Extents{3, 4, 8});
  EXPECT_EQ(kernels_of(4, whole), (std::vector<MoveKernel>{{kMove, 16}, {kMove, 4}}));
}
TEST(MoveKernel, TransposesTakeTiles) {
  const auto copy = transpose_copy(Extents{100, 200}, Extents{1, 0});
  EXPECT_EQ(kernels_of(4, copy), (std::vector<MoveKernel>{{kTransposeVectors, 4}, {kTranspose, 4}, {kMove, 4}}));
  EXPECT_EQ(kernels_of(2, copy), (std::vector<MoveKernel>{{kTranspose, 2}, {kMove, 2}}));  // 100 halfs: no vectors
  const auto thin = reformat_copy(Extents{2, 3, 50, 50}, Format::linear(), Format::channels_last(4));
  EXPECT_EQ(kernels_of(4, thin), (std::vector<MoveKernel>{{kMove, 4}}));  // tiles of 3 channels are mostly idle
}
TEST(MoveKernel, ConcatenationIsOneLaunch) {
  const std::vector<Extents> inputs{{2, 8, 5}, {2, 4, 5}};
  const auto copies = concatenation_copies(inputs, 1);
  EXPECT_EQ(copies[1].to_offset, 40);
  EXPECT_EQ(move_kernels_for(2, copies), (std::vector<MoveKernel>{{kMany, 8}, {kMany, 2}}));
}
TEST(MoveKernel, LargeTensorsHaveWideIndices) {
  const auto copy = transpose_copy(Extents{1 << 16, 1 << 16}, Extents{1, 0});
  EXPECT_EQ(kernels_of(4, copy), (std::vector<MoveKernel>{{kWide, 4}}));
}
TEST(MoveKernel, AllCompile) {
  for (const int bytes : {1, 2, 4, 8, 16}) {
    std::vector<MoveKernel> kernels{{kMove, bytes}, {kMany, bytes}, {kWide, bytes}, {kTranspose, bytes}};
    if (bytes <= 4) kernels.push_back({kTransposeVectors, bytes});
    ASSERT_NO_FATAL_FAILURE(expect_compiles(move_source(kernels)));
    if (::testing::Test::IsSkipped()) return;
  }
}
TEST(SliceKernel, AllCompile) {
  for (const int bytes : {1, 2, 4, 8})
    for (const SliceMode mode : {SliceMode::kFill, SliceMode::kReflect}) {
      ASSERT_NO_FATAL_FAILURE(expect_compiles(slice_source(bytes, mode)));
      if (::testing::Test::IsSkipped()) return;
    }
}

}  // namespace
}  // namespace kiln::cuda
