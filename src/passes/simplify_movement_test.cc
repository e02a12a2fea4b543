#include "passes/simplify_movement.h"

#include <gtest/gtest.h>

#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SimplifyMovement, KeysOfAttention) {  // split into heads, transposed by way of three axes
  EXPECT_EQ(after_pass(simplify_movement,
                       "x: f32[7, b, 768]; r = Reshape{dims=[7, -1, 64]}(x); t = Transpose{perm=[1, 0, 2]}(r); "
                       "h = Reshape{dims=[-1, 12, 7, 64]}(t); f = Reshape{dims=[-1, 7, 64]}(h); "
                       "u = Transpose{perm=[0, 2, 1]}(f); y = Reshape{dims=[-1, 12, 64, 7]}(u); return y"),
            "x: f32[7, b, 768]\n%11 = Reshape{dims=[7, -1, 12, 64], zero_is_placeholder=false}(x)\n"
            "y = Transpose{perm=[1, 2, 3, 0]}(%11)\nreturn y\n");
}
TEST(SimplifyMovement, KeepsValuesAndSettles) {
  check_pass<ops::Transpose, ops::Transpose, ops::Reshape, ops::Reshape, ops::Unsqueeze, ops::Squeeze, ops::Slice>(
      simplify_movement, {.graphs = 1000, .nodes = 12, .least_changed = 500});
}

}  // namespace
}  // namespace kiln::passes
