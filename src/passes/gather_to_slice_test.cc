#include "passes/gather_to_slice.h"

#include <gtest/gtest.h>

#include "ops/gather.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(GatherToSlice, AScalarIsASliceWithoutItsAxis) {
  EXPECT_EQ(after_pass(gather_to_slice,
                       "x: f32[3, n, 4]; i = Constant{value=i64[](-1)}(); y = Gather{axis=0}(x, i); return y"),
            "x: f32[3, n, 4]\n%3 = Slice{starts=[2], sizes=[1], strides=[1], axes=[0], mode=strict_bounds}(x)\n"
            "y = Reshape{dims=[-1, 4], zero_is_placeholder=false}(%3)\nreturn y\n");
}
TEST(GatherToSlice, IrregularIndicesStay) {
  const char* const kText =
      "x: f32[3, 4]\ni = Constant{value=i64[3](0, 2, 1)}()\n"
      "y = Gather{mode=default, axis=1, num_elementwise_dims=0}(x, i)\nreturn y\n";
  EXPECT_EQ(after_pass(gather_to_slice, kText), kText);
}
TEST(GatherToSlice, AllElementsInTheirOrderAreAView) {  // masks of attention, indexed by aranges
  EXPECT_EQ(after_pass(gather_to_slice,
                       "x: f32[2, 2, 3]; "
                       "j = Constant{value=i64[4, 2](0, 0, 0, 1, 1, 0, 1, 1)}(); y = Gather{mode=nd}(x, j); return y"),
            "x: f32[2, 2, 3]\n"
            "y = Reshape{dims=[4, 3], zero_is_placeholder=false}(x)\n"
            "return y\n");
  const char* const kText =
      "x: f32[2, 3]\ni = Constant{value=i64[4, 2](0, 0, 0, 1, 1, 0, 1, 1)}()\n"
      "y = Gather{mode=nd, axis=0, num_elementwise_dims=0}(x, i)\nreturn y\n";
  EXPECT_EQ(after_pass(gather_to_slice, kText), kText);
}
TEST(GatherToSlice, KeepsValuesAndSettles) {
  check_pass<ops::Gather, ops::Gather, ops::Transpose, ops::Unsqueeze>(gather_to_slice, {.least_changed = 100});
}

}  // namespace
}  // namespace kiln::passes
