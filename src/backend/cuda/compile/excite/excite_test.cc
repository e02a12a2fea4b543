#include "backend/cuda/compile/excite/excite.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backend/cuda/compile/testing.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kShared = 227 << 10;

NestProgram function(ScalarFn fn, DType type) {
  NestInstruction instruction;
  instruction.fn = fn;
  instruction.type = instruction.result = type;
  instruction.args[0] = ~0;
  return {{instruction}, {type}, {type}, {0}};
}

TEST(Excite, SlicesCoverTheChannels) {
  for (const int64_t channels : {8, 16, 72, 1152, 4096})
    for (const int64_t blocks : {1, 2, 4, 8, 16}) {
      const ExciteKernel kernel{DType::kF16, DType::kF16, channels, 8, blocks};
      ASSERT_TRUE(validate(kernel)) << channels;
      EXPECT_GE(kernel.slice() * blocks, channels);
      EXPECT_EQ(kernel.slice() % 8, 0);
    }
}
TEST(Excite, RefusesWhatItsThreadsDoNotCover) {
  EXPECT_FALSE(validate({DType::kF16, DType::kF16, 12, 4, 1}));
  EXPECT_FALSE(validate({DType::kF16, DType::kF16, 4104, 4, 1}));
  EXPECT_FALSE(validate({DType::kF32, DType::kF32, 2056, 4, 1}));
  EXPECT_FALSE(validate({DType::kI8, DType::kI8, 64, 4, 1}));
  EXPECT_FALSE(validate({DType::kF16, DType::kF16, 64, 4, 3}));
  EXPECT_FALSE(excite_launch({DType::kF16, DType::kF16, 4096, 4096, 1}, 1, 49, kShared))
      << "weights beyond shared memory";
  EXPECT_FALSE(excite_launch({DType::kF16, DType::kF16, 64, 4, 1}, 1, int64_t{1} << 28, kShared));
}
TEST(Excite, KeepsPixelsWhereTheyFit) {
  const auto small = excite_launch({DType::kF16, DType::kF16, 96, 4, 8}, 1, 56 * 56, kShared),
             large = excite_launch({DType::kF16, DType::kF16, 96, 4, 1}, 1, 56 * 56, kShared);
  ASSERT_TRUE(small && large);
  EXPECT_TRUE(small->argument.staged);
  EXPECT_EQ(small->shape.grid[0], 8u);
  EXPECT_FALSE(large->argument.staged);
  EXPECT_LE(large->shape.shared_bytes, kShared);
}
TEST(Excite, PacksASliceOfBothWeightsForEachBlock) {
  const ExciteKernel kernel{DType::kF32, DType::kF32, 16, 3, 2};
  std::vector<float> w1(48), w2(48), packed(96);
  for (size_t i = 0; i < 48; ++i) w1[i] = static_cast<float>(i), w2[i] = static_cast<float>(100 + i);
  const Bytes bytes = pack_excite_weights(kernel, std::as_bytes(std::span(w1)), std::as_bytes(std::span(w2)));
  ASSERT_EQ(bytes.size(), packed.size() * sizeof(float));
  std::memcpy(packed.data(), bytes.data(), bytes.size());
  EXPECT_EQ(packed[8 + 2], 16.0f + 2);                       // block 0, w1[1][2]
  EXPECT_EQ(packed[48 + 2 * 8 + 5], 2 * 16.0f + 8 + 5);      // block 1, w1[2][13]
  EXPECT_EQ(packed[24 + 8 + 2], 100.0f + 2 * 3 + 1);         // block 0, w2[2][1]
  EXPECT_EQ(packed[48 + 24 + 7], 100.0f + (8 + 7) * 3 + 0);  // block 1, w2[15][0]
}
TEST(Excite, Compiles) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16})
    expect_compiles(
        excite_source({type, type, 64, 8, 1}, function(ScalarFn::kRelu, type), function(ScalarFn::kHardSigmoid, type)));
}
TEST(Excite, CompilesForFloatWeightsOfHalves) {
  EXPECT_FALSE(validate({DType::kF16, DType::kBF16, 64, 4, 1}));
  expect_compiles(excite_source({DType::kF16, DType::kF32, 64, 8, 1}, function(ScalarFn::kRelu, DType::kF16),
                                function(ScalarFn::kHardSigmoid, DType::kF16)));
}

}  // namespace
}  // namespace kiln::cuda
