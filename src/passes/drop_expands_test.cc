#include "passes/drop_expands.h"

#include <gtest/gtest.h>

#include "ops/element_wise.h"
#include "ops/expand.h"
#include "ops/transpose.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(DropExpands, WhatTheOtherOperandSpans) {
  EXPECT_EQ(
      after_pass(drop_expands,
                 "x: f32[3, 4]; z: f32[4]; e = Expand{dims=[3, 4]}(z); y = ElementWise{kind=sum}(x, e); return y"),
      "x: f32[3, 4]\nz: f32[4]\n%4 = Reshape{dims=[1, 4], zero_is_placeholder=false}(z)\n"
      "y = ElementWise{kind=sum}(x, %4)\nreturn y\n");
}
TEST(DropExpands, WhatNothingElseSpansStays) {
  const char* const kText =
      "x: f32[1, 4]\nz: f32[1, 4]\ne = Expand{dims=[3, 4]}(z)\ny = ElementWise{kind=sum}(x, e)\nreturn y\n";
  EXPECT_EQ(after_pass(drop_expands, kText), kText);
}
TEST(DropExpands, KeepsValuesAndSettles) {
  check_pass<ops::Expand, ops::Expand, ops::ElementWise, ops::ElementWise, ops::Transpose>(
      drop_expands, {.graphs = 400, .nodes = 12, .least_changed = 20});
}

}  // namespace
}  // namespace kiln::passes
