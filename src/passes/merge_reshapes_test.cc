#include "passes/merge_reshapes.h"

#include <gtest/gtest.h>

#include "ops/expand.h"
#include "ops/reshape.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(MergeReshapes, AChainBecomesOne) {
  EXPECT_EQ(after_pass(merge_reshapes,
                       "x: f32[2, 1, 6]; a = Squeeze{axes=[1]}(x); b = Reshape{dims=[3, -1]}(a); "
                       "y = Unsqueeze{axes=[0]}(b); return y"),
            "x: f32[2, 1, 6]\ny = Reshape{dims=[1, 3, 4], zero_is_placeholder=false}(x)\nreturn y\n");
}
TEST(MergeReshapes, BackAndForthVanishes) {
  EXPECT_EQ(after_pass(merge_reshapes,
                       "x: f32[n, 6]; a = Reshape{dims=[0, 2, 3]}(x); y = Reshape{dims=[0, -1]}(a); return y as y"),
            "x: f32[n, 6]\nreturn x as y\n");
}
TEST(MergeReshapes, TwoSymbolsNeedDimValues) {
  EXPECT_EQ(after_pass(merge_reshapes,
                       "x: f32[n, m, 6]; a = Reshape{dims=[0, 0, 2, 3]}(x); y = Unsqueeze{axes=[1]}(a); return y"),
            "x: f32[n, m, 6]\n%3 = DimValues{values=[n, 1, m, 2, 3], dtype=i64, extents=[5]}()\n"
            "y = Reshape{dims=[], zero_is_placeholder=false}(x, %3)\nreturn y\n");
}
TEST(MergeReshapes, KeepsValuesAndSettles) {
  check_pass<ops::Reshape, ops::Squeeze, ops::Unsqueeze, ops::Expand, ops::Transpose>(
      merge_reshapes, {.graphs = 300, .least_changed = 100});
}

}  // namespace
}  // namespace kiln::passes
