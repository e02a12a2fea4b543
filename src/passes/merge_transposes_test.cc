#include "passes/merge_transposes.h"

#include <gtest/gtest.h>

#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(MergeTransposes, TwoThatCancelVanish) {
  EXPECT_EQ(after_pass(merge_transposes,
                       "x: f32[2, 3]; a = Transpose{perm=[1, 0]}(x); y = Transpose{perm=[1, 0]}(a); return y as y"),
            "x: f32[2, 3]\nreturn x as y\n");
}
TEST(MergeTransposes, ThreeBecomeOne) {
  EXPECT_EQ(after_pass(merge_transposes,
                       "x: f32[2, 3, 4]; a = Transpose{perm=[1, 2, 0]}(x); b = Transpose{perm=[1, 2, 0]}(a); "
                       "y = Transpose{perm=[0, 2, 1]}(b); return y"),
            "x: f32[2, 3, 4]\ny = Transpose{perm=[2, 1, 0]}(x)\nreturn y\n");
}
TEST(MergeTransposes, TheInnerOneStaysWhereOthersReadIt) {
  EXPECT_EQ(after_pass(merge_transposes,
                       "x: f32[2, 3]; a = Transpose{perm=[1, 0]}(x); y = Transpose{perm=[1, 0]}(a); return a, y as y"),
            "x: f32[2, 3]\na = Transpose{perm=[1, 0]}(x)\nreturn a, x as y\n");
}
TEST(MergeTransposes, MovingOnesIsAReshape) {
  EXPECT_EQ(after_pass(merge_transposes, "x: f32[n, 1, 3]; y = Transpose{perm=[1, 0, 2]}(x); return y"),
            "x: f32[n, 1, 3]\ny = Reshape{dims=[1, -1, 3], zero_is_placeholder=false}(x)\nreturn y\n");
}
TEST(MergeTransposes, KeepsValuesAndSettles) {
  check_pass<ops::Transpose, ops::Transpose, ops::Slice, ops::Unsqueeze>(merge_transposes, {.least_changed = 50});
}

}  // namespace
}  // namespace kiln::passes
