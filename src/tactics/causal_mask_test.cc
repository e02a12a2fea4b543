#include "tactics/causal_mask.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln {
namespace {

HostTensor mask(DType type, const Extents& extents, const std::vector<double>& values) {
  return HostTensor::of(type, extents, values);
}

TEST(CausalMask, HidesLaterKeys) {
  EXPECT_TRUE(is_causal_mask(mask(DType::kF32, {1, 1, 2, 2}, {0, -INFINITY, 0, 0})));
  EXPECT_TRUE(is_causal_mask(mask(DType::kF16, {2, 3}, {0, 0, -65504, 0, 0, 0})));
  EXPECT_TRUE(is_causal_mask(mask(DType::kF32, {2, 2}, {0, -1e4, 0, 0})));
}
TEST(CausalMask, AnyOtherIsNone) {
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2}, {0, 0, 0, 0})));
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2}, {0, -1, 0, 0})));
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2}, {0.5, -INFINITY, 0, 0})));
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2}, {0, NAN, 0, 0})));
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2}, {-INFINITY, -INFINITY, 0, 0})));
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {2, 2, 2}, {0, -INFINITY, 0, 0, 0, -INFINITY, 0, 0})));  // by batch
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {3, 2}, {-INFINITY, -INFINITY, 0, -INFINITY, 0, 0})));   // sees none
  EXPECT_FALSE(is_causal_mask(mask(DType::kF32, {1, 2}, {0, 0})));
}

}  // namespace
}  // namespace kiln
