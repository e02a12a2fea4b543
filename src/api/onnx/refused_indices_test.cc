// Indices, lengths and axes of data that are outside: what is too large is refused, and so is what is negative where
// ONNX does not count from the back.
#include "api/onnx/bodies_program.h"

namespace kiln::api::bodies {
namespace {

void expect_refused(const std::string& error, std::string_view what) {
  EXPECT_NE(error.find(what), std::string::npos) << error;
}

TEST(RefusedIndices, LengthsOfReverseSequence) {
  Program p(model(graph({{node("ReverseSequence", {"x", "l"}, {"y"}, "r",
                               {int_attribute("batch_axis", 0), int_attribute("time_axis", 1)})},
                         {value("x", kFloat, {2, 3}), value("l", kInt64, {2})},
                         {value("y", kFloat, {2, 3})}})));
  p.feed("x", {2, 3}, Floats{1, 2, 3, 4, 5, 6});
  p.feed("l", {2}, Numbers{0, 3});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{1, 2, 3, 6, 5, 4}));
  for (const int64_t wrong : {4, -1, -3, -1000}) {
    p.feed("l", {2}, Numbers{2, wrong});
    expect_refused(p.run(), "is outside");
  }
}

TEST(RefusedIndices, PlacesOfMaxUnpool) {
  Program p(model(graph({{node("MaxUnpool", {"x", "i"}, {"y"}, "m",
                               {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})})},
                         {value("x", kFloat, {1, 1, 1, 2}), value("i", kInt64, {1, 1, 1, 2})},
                         {value("y", kFloat, {1, 1, 2, 4})}})));
  p.feed("x", {1, 1, 1, 2}, Floats{5, 6});
  p.feed("i", {1, 1, 1, 2}, Numbers{0, 7});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{5, 0, 0, 0, 0, 0, 0, 6}));
  for (const int64_t wrong : {8, -1, -8, -9}) {
    p.feed("i", {1, 1, 1, 2}, Numbers{0, wrong});
    expect_refused(p.run(), "is outside");
  }
}

TEST(RefusedIndices, PlacesOfTensorScatter) {
  const auto scatter = [](const char* mode) {
    return model(graph({{node("TensorScatter", {"x", "u", "w"}, {"y"}, "t", {text_attribute("mode", mode)})},
                        {value("x", kFloat, {1, 3, 1}), value("u", kFloat, {1, 2, 1}), value("w", kInt64, {1})},
                        {value("y", kFloat, {1, 3, 1})}}),
                 {}, 24);
  };
  Program linear(scatter("linear")), circular(scatter("circular"));
  for (Program* p : {&linear, &circular}) {
    p->feed("x", {1, 3, 1}, Floats{1, 2, 3}).feed("u", {1, 2, 1}, Floats{8, 9}).feed("w", {1}, Numbers{1});
    EXPECT_EQ(p->run(), "");
    EXPECT_EQ(p->of<float>("y"), (Floats{1, 8, 9}));
  }
  for (const int64_t wrong : {2, -1, -3}) {
    linear.feed("w", {1}, Numbers{wrong});
    expect_refused(linear.run(), "is outside");
  }
  circular.feed("w", {1}, Numbers{2});
  EXPECT_EQ(circular.run(), "");
  EXPECT_EQ(circular.of<float>("y"), (Floats{9, 2, 8}));
}

TEST(RefusedIndices, AxesOfCumSum) {
  Program p(model(graph({{node("CumSum", {"x", "a"}, {"y"}, "c")},
                         {value("x", kFloat, {2, 2}), value("a", kInt64, {})},
                         {value("y", kFloat, {2, 2})}})));
  p.feed("x", {2, 2}, Floats{1, 2, 3, 4});
  for (const auto& [axis, want] : {std::pair(0, Floats{1, 2, 4, 6}),
                                   {-2, Floats{1, 2, 4, 6}},
                                   {1, Floats{1, 3, 3, 7}},
                                   {-1, Floats{1, 3, 3, 7}}}) {
    p.feed("a", {}, Numbers{axis});
    EXPECT_EQ(p.run(), "") << axis;
    EXPECT_EQ(p.of<float>("y"), want) << axis;
  }
  for (const int64_t wrong : {2, -3}) {
    p.feed("a", {}, Numbers{wrong});
    expect_refused(p.run(), str("index ", wrong, " is outside"));
  }
}

TEST(RefusedIndices, BatchesOfAffineGrid) {
  Program p(model(graph({{node("AffineGrid", {"theta", "size"}, {"y"}, "g")},
                         {value("theta", kFloat, {2, 2, 3}), value("size", kInt64, {4})},
                         {value_of_any("y")}})),
            {{"size", {1, 1, 1, 1}, {4, 4, 4, 4}}});
  p.feed("theta", {2, 2, 3}, Floats(12, 1)).feed("size", {4}, Numbers{2, 1, 1, 2});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.shape("y"), (Numbers{2, 1, 2, 2}));
  for (const int64_t wrong : {1, 3}) {
    p.feed("size", {4}, Numbers{wrong, 1, 1, 2});
    expect_refused(p.run(), "the batches of theta and of size are equal");
  }
}

}  // namespace
}  // namespace kiln::api::bodies
