#include "passes/simplify_casts.h"

#include <gtest/gtest.h>

#include "ops/cast.h"
#include "ops/transpose.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SimplifyCasts, ThereAndBack) {
  EXPECT_EQ(after_pass(simplify_casts, "x: f16[2]; a = Cast{to=f32}(x); y = Cast{to=f16}(a); return y as y"),
            "x: f16[2]\nreturn x as y\n");
}
TEST(SimplifyCasts, WhatRoundsStays) {
  const char* const kText = "x: f32[2]\na = Cast{to=f16}(x)\ny = Cast{to=f32}(a)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_casts, kText), kText);
}
TEST(SimplifyCasts, IntegersThatWrapAndFloatsThatSaturateDiffer) {  // i8 of 200 is -56, of 200.0 it is 127
  const char* const kText = "x: i32[2]\na = Cast{to=f64}(x)\ny = Cast{to=i8}(a)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_casts, kText), kText);
}
TEST(SimplifyCasts, InfinityIsSeenBeforeWidening) {
  EXPECT_EQ(after_pass(simplify_casts, "x: f32[2]; a = Cast{to=f64}(x); y = Unary{kind=isinf}(a); return y as y"),
            "x: f32[2]\ny = Unary{kind=isinf}(x)\nreturn y\n");
  const char* const kNarrower = "x: f32[2]\na = Cast{to=f16}(x)\ny = Unary{kind=isinf}(a)\nreturn y\n";
  EXPECT_EQ(after_pass(simplify_casts, kNarrower), kNarrower);
}
TEST(SimplifyCasts, KeepsValuesAndSettles) {
  check_pass<ops::Cast, ops::Cast, ops::Transpose>(simplify_casts, {.graphs = 500, .least_changed = 100});
}

}  // namespace
}  // namespace kiln::passes
