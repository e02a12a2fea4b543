#include "ir/parse.h"

#include <gtest/gtest.h>

namespace kiln::ir {
namespace {

TEST(Parse, ReadsWhatPrintWrites) {
  const std::string text =
      "x:0: f32[batch, 2*h + 1]\n"
      "c = Constant{value=i64[3](1, -2, 3)}()  # i64[3]\n"
      "s = DimValues{values=[batch, max(h, 3), 1], dtype=i32, extents=[3]}()  # i32[3]\n"
      "%3 = Cast{to=f16}(x:0)  # f16[batch, 2*h + 1]\n"
      "/a/Clip.1 = Activation{kind=clip, alpha=-0.5, beta=1e+20}(%3)  # f16[batch, 2*h + 1]\n"
      "y = Reduce{kind=max, axes=[0, -1], keep=true}(/a/Clip.1)  # f16[1, 1]\n"
      "return y as result, c, s\n";
  const auto graph = parse(text);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(print(*graph), text);
}
TEST(Parse, SemicolonsAndDefaults) {
  const auto graph = parse("x: f32[2, 3]; y = Softmax(x); # nothing\nreturn y");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(print(*graph), "x: f32[2, 3]\ny = Softmax{axis=-1}(x)  # f32[2, 3]\nreturn y\n");
}
TEST(Parse, AbsentInputs) {
  const auto graph = parse("x: f32[2]; f: f32[]; y = Slice{starts=[0], sizes=[3], mode=fill}(x, _, _, _, f); return y");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->node(NodeId{0}).inputs[1], ValueId::kNone);
}
TEST(Parse, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) { return parse(text).error().message; };
  EXPECT_EQ(message("y = Softmax(x)"), "'y = Softmax(x)': no value is called 'x' so far");
  EXPECT_EQ(message("x: f32[2]; y = Hardmax(x)"), "'y = Hardmax(x)': no op is called 'Hardmax'");
  EXPECT_EQ(message("x: f32[2]; y = Softmax{axes=1}(x)"),
            "'y = Softmax{axes=1}(x)': Softmax: Softmax has no attribute 'axes'");
  EXPECT_EQ(message("x: f33[2]"), "'x: f33[2]': no element type is called 'f33'");
  EXPECT_EQ(message("x"), "'x': 'x' is not a statement");
}

}  // namespace
}  // namespace kiln::ir
