// Shapes that the host computes for ops of ONNX models, as programs run them.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"

namespace kiln::api {
namespace {

using namespace bodies;

TEST(ChosenShapes, AnExpandRefusesExtentsThatDoNotBroadcast) {
  Program p(model(graph({{node("Expand", {"x", "s"}, {"y"}, "wide")},
                         {value("x", kFloat, {4, 1}), value("s", kInt64, {2})},
                         {value("y", kFloat, {-1, -1})}})),
            {{"s", {0, 0}, {5, 5}}});
  p.feed("x", {4, 1}, Floats{1, 2, 3, 4});
  for (const int64_t rows : {1, 4}) {
    p.feed("s", {2}, Numbers{rows, 2});
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.shape("y"), (Numbers{4, 2}));
    EXPECT_EQ(p.of<float>("y"), (Floats{1, 1, 2, 2, 3, 3, 4, 4})) << rows;
  }
  for (const int64_t rows : {0, 2, 5}) {
    p.feed("s", {2}, Numbers{rows, 2});
    const std::string error = p.run();
    EXPECT_NE(error.find("is 1 or 4 (Expand 'wide': axis 0 of [4, 1]"), std::string::npos) << error;
    EXPECT_NE(error.find(str("the left side is ", rows, ", the right side 4")), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace kiln::api
