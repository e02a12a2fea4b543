#include "passes/recognize_rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/interpret.h"
#include "ir/parse.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/slice.h"
#include "ops/unary.h"
#include "passes/testing/check_pass.h"

namespace kiln::passes {
namespace {

// x is [batch, heads, length, size], cosines and sines are [1, 1, length, size].
const std::string kInputs = "x: f32[2, 3, 5, 8]; c: f32[1, 1, 5, 8]; s: f32[1, 1, 5, 8]; ";
const std::string kHalves =
    "a = Slice{starts=[0], sizes=[4], strides=[1], axes=[3]}(x); "
    "b = Slice{starts=[4], sizes=[4], strides=[1], axes=[-1]}(x); "
    "n = Unary{kind=neg}(b); r = Concatenation{axis=-1}(n, a); ";
const std::string kTurns =
    "a = Slice{starts=[0], sizes=[4], strides=[2], axes=[3]}(x); "
    "b = Slice{starts=[1], sizes=[4], strides=[2], axes=[3]}(x); "
    "n = Unary{kind=neg}(b); u = Unsqueeze{axes=[4]}(n); v = Unsqueeze{axes=[-1]}(a); "
    "j = Concatenation{axis=4}(u, v); r = Reshape{dims=[2, 3, 5, 8]}(j); ";
const std::string kSum =
    "p = ElementWise{kind=prod}(x, c); q = ElementWise{kind=prod}(s, r); y = ElementWise{kind=sum}(q, p); return y";

TEST(RecognizeRotation, OfHalves) {
  EXPECT_EQ(after_pass(recognize_rotation, kInputs + kHalves + kSum),
            "x: f32[2, 3, 5, 8]\nc: f32[1, 1, 5, 8]\ns: f32[1, 1, 5, 8]\n"
            "%10 = Reshape{dims=[2, 3, 5, 2, 4], zero_is_placeholder=false}(x)\n"
            "%11 = Constant{value=f32[1, 1, 1, 2, 1](-1, 1)}()\n"
            "%12 = Reshape{dims=[1, 1, 5, 2, 4], zero_is_placeholder=false}(c)\n"
            "%13 = Reshape{dims=[1, 1, 5, 2, 4], zero_is_placeholder=false}(s)\n"
            "%14 = ElementWise{kind=prod}(%10, %12)\n"
            "%15 = ElementWise{kind=prod}(%13, %11)\n"
            "%16 = Slice{starts=[1], sizes=[2], strides=[-1], axes=[3], mode=strict_bounds}(%10)\n"
            "%17 = ElementWise{kind=prod}(%16, %15)\n"
            "%18 = ElementWise{kind=sum}(%14, %17)\n"
            "y = Reshape{dims=[2, 3, 5, 8], zero_is_placeholder=false}(%18)\nreturn y\n");
}
TEST(RecognizeRotation, OfPairsThatTakeTurns) {
  const std::string text = after_pass(recognize_rotation, kInputs + kTurns + kSum);
  EXPECT_NE(text.find("Slice{starts=[1], sizes=[2], strides=[-1], axes=[4], mode=strict_bounds}"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("Concatenation"), std::string::npos) << text;
}
TEST(RecognizeRotation, OfSymbolicLengths) {
  std::string text = kInputs + kHalves + kSum;
  for (size_t at = 0; (at = text.find(" 5, 8]", at)) != std::string::npos;) text.replace(at + 1, 1, "t");
  EXPECT_EQ(after_pass(recognize_rotation, text).find("Concatenation"), std::string::npos);
}
TEST(RecognizeRotation, NotOfOtherParts) {
  const auto stays = [](std::string spelling, std::string_view from, std::string_view to) {
    const size_t at = spelling.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    spelling.replace(at, from.size(), to);
    const std::string text = after_pass(recognize_rotation, kInputs + spelling + kSum);
    EXPECT_NE(text.find("Concatenation"), std::string::npos) << text;
  };
  stays(kHalves, "starts=[0]", "starts=[1]");
  stays(kHalves, "(n, a)", "(a, n)");
  stays(kHalves, "a = Slice{starts=[0], sizes=[4], strides=[1], axes=[3]}(x)",
        "o = Unary{kind=abs}(x); a = Slice{starts=[0], sizes=[4], strides=[1], axes=[3]}(o)");
  stays(kTurns, "starts=[1], sizes=[4], strides=[2]", "starts=[4], sizes=[4], strides=[1]");
}
/// Numbers of a graph before and after the pass, bit by bit.
TEST(RecognizeRotation, KeepsBits) {
  for (const std::string& spelling : {kHalves, kTurns}) {
    std::vector<HostTensor> inputs;
    for (const Extents& extents : {Extents{2, 3, 5, 8}, Extents{1, 1, 5, 8}, Extents{1, 1, 5, 8}}) {
      std::vector<double> values;
      for (int64_t i = 0; i < volume(extents); ++i)
        values.push_back(std::sin(1.7 * static_cast<double>(i + std::ssize(inputs))));
      inputs.push_back(HostTensor::of(DType::kF32, extents, values));
    }
    ir::Graph graph = ir::parse(kInputs + spelling + kSum).value();
    const auto before = ir::interpret(graph, inputs);
    NullLog log;
    PassContext cx{log};
    ASSERT_TRUE(recognize_rotation(graph, cx));
    const auto after = ir::interpret(graph, inputs);
    ASSERT_TRUE(before && after);
    EXPECT_TRUE(std::ranges::equal((*before)[0].bytes(), (*after)[0].bytes()));
  }
}
TEST(RecognizeRotation, LeavesOtherGraphsAlone) {
  check_pass<ops::Slice, ops::ElementWise, ops::ElementWise, ops::Unary, ops::Concatenation>(
      recognize_rotation, {.graphs = 200, .nodes = 12, .least_changed = 0});
}

}  // namespace
}  // namespace kiln::passes
