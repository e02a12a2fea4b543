// Slice where starts, ends and steps are as large as int64 has them.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

/// The text of the graph's Slice after "Slice{", or the error.
std::string slice_of(std::initializer_list<int64_t> extents, int64_t start, int64_t end, int64_t step) {
  const std::string text =
      import_node(node("Slice", {"x", "s", "e", "a", "t"}, {"y"}, "n"), {value("x", kFloat, extents)},
                  {i64s("s", {start}), i64s("e", {end}), i64s("a", {0}), i64s("t", {step})});
  const size_t at = text.find("Slice{");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}

TEST(ImportSlice, AStepBeyondTheAxisTakesOneElement) {
  EXPECT_EQ(slice_of({10}, 2, INT64_MAX, INT64_MAX),
            "Slice{starts=[2], sizes=[1], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[1]");
  EXPECT_EQ(slice_of({10}, INT64_MIN, INT64_MAX, INT64_MAX),
            "Slice{starts=[0], sizes=[1], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[1]");
  for (const int64_t step : {INT64_MIN, -INT64_MAX, int64_t{-10}})
    EXPECT_EQ(slice_of({10}, INT64_MAX, INT64_MIN, step),
              "Slice{starts=[9], sizes=[1], strides=[-1], axes=[0], mode=strict_bounds}(x)  # f32[1]");
  EXPECT_EQ(slice_of({10}, 0, 10, 9),
            "Slice{starts=[0], sizes=[2], strides=[9], axes=[0], mode=strict_bounds}(x)  # f32[2]");
}
TEST(ImportSlice, AStepBeyondTheAxisTakesNothingOfAnEmptyRange) {
  EXPECT_EQ(slice_of({10}, 4, 4, INT64_MAX),
            "Slice{starts=[4], sizes=[0], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[0]");
  EXPECT_EQ(slice_of({10}, 2, 5, INT64_MIN),
            "Slice{starts=[2], sizes=[0], strides=[-1], axes=[0], mode=strict_bounds}(x)  # f32[0]");
}
TEST(ImportSlice, AStepBeyondEveryAxisThatVaries) {
  const std::string forward = slice_of({-1}, 0, INT64_MAX, INT64_MAX);
  EXPECT_NE(forward.find("f32[min("), std::string::npos) << forward;
  EXPECT_NE(forward.find("strides=[1]"), std::string::npos) << forward;
  const std::string backward = slice_of({-1}, -1, INT64_MIN, INT64_MIN);
  EXPECT_NE(backward.find("f32[min("), std::string::npos) << backward;
  EXPECT_NE(backward.find("strides=[-1]"), std::string::npos) << backward;
}
TEST(ImportSlice, ARangeThatEndsBeforeEveryAxisIsEmpty) {
  const std::string got = slice_of({-1}, -1, INT64_MIN, 1);
  EXPECT_NE(got.find("sizes=[0]"), std::string::npos) << got;
  EXPECT_NE(got.find("f32[0]"), std::string::npos) << got;
}
TEST(ImportSlice, OfTheLongestAxisThereIs) {
  EXPECT_EQ(slice_of({INT64_MAX}, -2, INT64_MAX, 1),
            "Slice{starts=[9223372036854775805], sizes=[2], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[2]");
  EXPECT_EQ(slice_of({INT64_MAX}, 1, INT64_MAX, INT64_MAX),
            "Slice{starts=[1], sizes=[1], strides=[1], axes=[0], mode=strict_bounds}(x)  # f32[1]");
}
/// Bounds that are slices of one element themselves, at a place that the run decides: PyTorch's bags of embeddings.
TEST(ImportSlice, BoundsAtAPlaceOfTheRun) {
  const std::string text = text_of(import_proto(
      model(graph({{node("ReduceMax", {"d"}, {"at"}), node("Add", {"at", "one"}, {"next"}),
                    node("Add", {"next", "one"}, {"last"}), node("Slice", {"o", "at", "next"}, {"start"}),
                    node("Slice", {"o", "next", "last"}, {"end"}), node("Slice", {"x", "start", "end"}, {"y"})},
                   {value("x", kFloat, {-1, 3}), value("o", kInt64, {-1}), value("d", kInt64, {20})},
                   {value("y", kFloat, {})},
                   {i64s("one", {1})}}))));
  EXPECT_NE(text.find("Reshape{dims=[1]"), std::string::npos) << text;
  EXPECT_NE(text.find("start/numbers = ReadValues("), std::string::npos) << text;
}

}  // namespace
}  // namespace kiln::onnx
