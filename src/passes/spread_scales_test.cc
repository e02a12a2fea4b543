#include "passes/spread_scales.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(SpreadScales, OneNumber) {
  EXPECT_EQ(after_pass(spread_scales, "x: f32[2, 3]; s: f32[]; y = Quantize{to=i8}(x, s); return y"),
            "x: f32[2, 3]\ns: f32[]\n%3 = Reshape{dims=[1, 1], zero_is_placeholder=false}(s)\ny = Quantize{to=i8, "
            "axis=-1, block=[]}(x, %3)\n"
            "return y\n");
}
TEST(SpreadScales, AVectorWithZeroPoints) {
  EXPECT_EQ(after_pass(spread_scales, "x: u8[2, 3]; s: f32[3]; z: u8[3]; y = Dequantize{axis=1}(x, s, z); return y"),
            "x: u8[2, 3]\ns: f32[3]\nz: u8[3]\n%4 = Reshape{dims=[1, 3], zero_is_placeholder=false}(s)\n"
            "%5 = Reshape{dims=[1, 3], zero_is_placeholder=false}(z)\ny = Dequantize{to=f32, axis=1, block=[]}(x, %4, "
            "%5)\nreturn y\n");
}
TEST(SpreadScales, WhatHasTheRankStays) {
  const char* const kText = "x: f32[4, 3]\ns: f32[2, 3]\ny = Quantize{to=i8, axis=-1, block=[]}(x, s)\nreturn y\n";
  EXPECT_EQ(after_pass(spread_scales, kText), kText);
}

}  // namespace
}  // namespace kiln::passes
