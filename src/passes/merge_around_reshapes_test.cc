#include "passes/merge_around_reshapes.h"

#include <gtest/gtest.h>

#include "ops/reshape.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(MergeAroundReshapes, HeadsMergedAndSplitAgain) {  // attention's keys, as exporters write them
  EXPECT_EQ(after_pass(merge_around_reshapes,
                       "x: f32[b, s, 12, 64]; t = Transpose{perm=[0, 2, 1, 3]}(x); r = Reshape{dims=[-1, 7, 64]}(t); "
                       "return r as r"),
            "x: f32[b, s, 12, 64]\nt = Transpose{perm=[0, 2, 1, 3]}(x)\n"
            "r = Reshape{dims=[-1, 7, 64], zero_is_placeholder=true}(t)\nreturn r\n");
  EXPECT_EQ(after_pass(merge_around_reshapes,
                       "x: f32[b, 7, 12, 64]; t = Transpose{perm=[0, 2, 1, 3]}(x); r = Reshape{dims=[-1, 7, 64]}(t); "
                       "u = Transpose{perm=[0, 2, 1]}(r); y = Reshape{dims=[-1, 12, 64, 7]}(u); return y"),
            "x: f32[b, 7, 12, 64]\n%5 = Transpose{perm=[0, 2, 3, 1]}(x)\n"
            "u = Reshape{dims=[-1, 64, 7], zero_is_placeholder=false}(%5)\n"
            "y = Reshape{dims=[-1, 12, 64, 7], zero_is_placeholder=true}(u)\nreturn y\n");
}
TEST(MergeAroundReshapes, TwoThatCancelAcrossAReshapeVanish) {
  EXPECT_EQ(after_pass(merge_around_reshapes,
                       "x: f32[2, 3, 4]; t = Transpose{perm=[2, 0, 1]}(x); r = Reshape{dims=[4, 6]}(t); "
                       "y = Transpose{perm=[1, 0]}(r); return y"),
            "x: f32[2, 3, 4]\ny = Reshape{dims=[6, 4], zero_is_placeholder=false}(x)\nreturn y\n");
}
TEST(MergeAroundReshapes, NothingWithoutACommonRefinement) {
  const char* const kText =
      "x: f32[4, 6]\nt = Transpose{perm=[1, 0]}(x)\nr = Reshape{dims=[4, 6], zero_is_placeholder=false}(t)\n"
      "y = Transpose{perm=[1, 0]}(r)\nreturn y\n";
  EXPECT_EQ(after_pass(merge_around_reshapes, kText), kText);
}
TEST(MergeAroundReshapes, PatchesOfAnImageBecomeRowsAndBack) {
  EXPECT_EQ(
      after_pass(merge_around_reshapes,
                 "x: f32[b, 8, 3, 5]; r = Reshape{dims=[-1, 8, 15]}(x); y = Transpose{perm=[0, 2, 1]}(r); return y"),
      "x: f32[b, 8, 3, 5]\n"
      "%3 = Transpose{perm=[0, 2, 3, 1]}(x)\n"
      "y = Reshape{dims=[-1, 15, 8], zero_is_placeholder=false}(%3)\n"
      "return y\n");
  EXPECT_EQ(
      after_pass(merge_around_reshapes,
                 "x: f32[b, 15, 8]; t = Transpose{perm=[0, 2, 1]}(x); y = Reshape{dims=[-1, 8, 3, 5]}(t); return y"),
      "x: f32[b, 15, 8]\n"
      "%3 = Reshape{dims=[-1, 3, 5, 8], zero_is_placeholder=false}(x)\n"
      "y = Transpose{perm=[0, 3, 1, 2]}(%3)\n"
      "return y\n");
}
TEST(MergeAroundReshapes, KeepsValuesAndSettles) {
  check_pass<ops::Transpose, ops::Transpose, ops::Reshape, ops::Unsqueeze>(merge_around_reshapes,
                                                                           {.graphs = 600, .least_changed = 60});
}

}  // namespace
}  // namespace kiln::passes
