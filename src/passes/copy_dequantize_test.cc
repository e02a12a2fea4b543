#include "passes/copy_dequantize.h"

#include <gtest/gtest.h>

#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

TEST(CopyDequantize, OneForEachThatComputes) {
  EXPECT_EQ(after_pass(copy_dequantize,
                       "x: i8[2]; s: f32[1]; d = Dequantize(x, s); a = Unary{kind=exp}(d); b = "
                       "Unary{kind=abs}(d); return a, b"),
            "x: i8[2]\ns: f32[1]\nd = Dequantize{to=f32, axis=-1, block=[]}(x, s)\na = Unary{kind=exp}(d)\n"
            "%5 = Dequantize{to=f32, axis=-1, block=[]}(x, s)\nb = Unary{kind=abs}(%5)\nreturn a, b\n");
}
TEST(CopyDequantize, OneReaderKeepsIt) {
  const char* const kText =
      "x: i8[2]\ns: f32[1]\nd = Dequantize{to=f32, axis=-1, block=[]}(x, s)\na = Unary{kind=exp}(d)\nreturn a\n";
  EXPECT_EQ(after_pass(copy_dequantize, kText), kText);
}

}  // namespace
}  // namespace kiln::passes
