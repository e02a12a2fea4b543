#include "passes/hoist_slices.h"

#include <gtest/gtest.h>

#include "ops/concatenation.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(HoistSlices, PartsOfATransposeAreTransposesOfParts) {
  EXPECT_EQ(after_pass(hoist_slices,
                       "x: f32[7, 2, 5]; t = Transpose{perm=[1, 0, 2]}(x); "
                       "a = Slice{starts=[0], sizes=[1], axes=[0]}(t); b = Slice{starts=[1], sizes=[1], axes=[0]}(t); "
                       "return a, b"),
            "x: f32[7, 2, 5]\n"
            "%4 = Slice{starts=[0], sizes=[1], strides=[1], axes=[1], mode=strict_bounds}(x)\n"
            "a = Transpose{perm=[1, 0, 2]}(%4)\n"
            "%6 = Slice{starts=[1], sizes=[1], strides=[1], axes=[1], mode=strict_bounds}(x)\n"
            "b = Transpose{perm=[1, 0, 2]}(%6)\nreturn a, b\n");
}
TEST(HoistSlices, AcrossAnAxisOfOne) {
  EXPECT_EQ(after_pass(hoist_slices,
                       "x: f32[7, 2, 5]; t = Transpose{perm=[1, 0, 2]}(x); r = Reshape{dims=[2, 1, 7, 5]}(t); "
                       "y = Slice{starts=[1], sizes=[1], axes=[0]}(r); return y"),
            "x: f32[7, 2, 5]\n"
            "%6 = Slice{starts=[1], sizes=[1], strides=[1], axes=[1], mode=strict_bounds}(x)\n"
            "%7 = Transpose{perm=[1, 0, 2]}(%6)\n"
            "y = Reshape{dims=[1, 1, 7, 5], zero_is_placeholder=false}(%7)\nreturn y\n");
}
TEST(HoistSlices, PartsOfAnAxisThatWasSplit) {  // the projections of attention
  EXPECT_EQ(after_pass(hoist_slices,
                       "x: f32[n, 5, 24]; r = Reshape{dims=[0, 0, 3, 2, 4]}(x); "
                       "a = Slice{starts=[0], sizes=[1], axes=[2]}(r); b = Slice{starts=[2], sizes=[1], axes=[2]}(r); "
                       "return a, b"),
            "x: f32[n, 5, 24]\n"
            "%4 = Slice{starts=[0], sizes=[8], strides=[1], axes=[2], mode=strict_bounds}(x)\n"
            "a = Reshape{dims=[-1, 5, 1, 2, 4], zero_is_placeholder=false}(%4)\n"
            "%6 = Slice{starts=[16], sizes=[8], strides=[1], axes=[2], mode=strict_bounds}(x)\n"
            "b = Reshape{dims=[-1, 5, 1, 2, 4], zero_is_placeholder=false}(%6)\n"
            "return a, b\n");
}
TEST(HoistSlices, NotOfTheInnerPartsOfAnAxis) {
  const char* const kText =
      "x: f32[7, 6]\nr = Reshape{dims=[7, 2, 3], zero_is_placeholder=false}(x)\n"
      "y = Slice{starts=[0], sizes=[1], strides=[1], axes=[2], mode=strict_bounds}(r)\nreturn y\n";
  EXPECT_EQ(after_pass(hoist_slices, kText), kText);
}
TEST(HoistSlices, NotWhereElementsWouldBeTransposedTwice) {
  const char* const kText =
      "x: f32[7, 3]\nt = Transpose{perm=[1, 0]}(x)\n"
      "a = Slice{starts=[0], sizes=[2], strides=[1], axes=[0], mode=strict_bounds}(t)\n"
      "b = Slice{starts=[1], sizes=[2], strides=[1], axes=[0], mode=strict_bounds}(t)\nreturn a, b\n";
  EXPECT_EQ(after_pass(hoist_slices, kText), kText);
}
TEST(HoistSlices, APartOfAConcatenation) {
  EXPECT_EQ(after_pass(hoist_slices,
                       "x: f32[n, 2]; z: f32[n, 3]; c = Concatenation{axis=-1}(x, z); "
                       "a = Slice{starts=[2], sizes=[3], axes=[1]}(c); b = Slice{starts=[3], sizes=[2], axes=[1]}(c); "
                       "d = Slice{starts=[1], sizes=[2], axes=[1]}(c); return a as a, b, d"),
            "x: f32[n, 2]\nz: f32[n, 3]\n"
            "c = Concatenation{axis=-1}(x, z)\n"
            "d = Slice{starts=[1], sizes=[2], strides=[], axes=[1], mode=strict_bounds}(c)\n"
            "b = Slice{starts=[1], sizes=[2], strides=[1], axes=[1], mode=strict_bounds}(z)\n"
            "return z as a, b, d\n");
}
TEST(HoistSlices, AlongDifferentAxesAreOne) {
  EXPECT_EQ(after_pass(hoist_slices,
                       "x: f32[8, 8]; a = Slice{starts=[1], sizes=[4], strides=[2], axes=[0]}(x); "
                       "y = Slice{starts=[0], sizes=[4], strides=[2], axes=[1]}(a); return y"),
            "x: f32[8, 8]\n"
            "y = Slice{starts=[1, 0], sizes=[4, 4], strides=[2, 2], axes=[0, 1], mode=strict_bounds}(x)\nreturn y\n");
}
TEST(HoistSlices, KeepsValuesAndSettles) {
  check_pass<ops::Slice, ops::Slice, ops::Transpose, ops::Concatenation, ops::Unsqueeze, ops::Reshape>(
      hoist_slices, {.graphs = 1000, .least_changed = 100});
}

}  // namespace
}  // namespace kiln::passes
