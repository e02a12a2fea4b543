// What runs of bodies, sequences and sizes of data say is wrong: the node that needs something is named.
#include <gtest/gtest.h>

#include "api/onnx/bodies_program.h"

namespace kiln::api {
namespace {

using namespace bodies;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A step behind a size of data cannot use what the data makes of it.
TEST(BodyMessages, ASizeThatIsTooSmallNamesWhoNeedsMore) {
  Program p(model(graph({{node("NonZero", {"x"}, {"nz"}, "found"),
                          node("TopK", {"nz", "two"}, {"v", "y"}, "best", {int_attribute("axis", 1)})},
                         {value("x", kFloat, {4})},
                         {value("y", kInt64, {1, 2})},
                         {i64s("two", {2})}})));
  p.feed("x", {4}, Floats{0, 1, 1, 0});
  EXPECT_EQ(p.run(), "");
  p.feed("x", {4}, Floats{0, 0, 1, 0});
  const std::string error = p.run();
  EXPECT_TRUE(has(error, "step 'found' decided 1 for ")) << error;
  EXPECT_TRUE(has(error, "TopK 'best'")) << error;
}

/// A loop that adds x to a sequence n times; then its last element is erased.
TEST(BodyMessages, ErasingFromAnEmptySequenceOfALoop) {
  Program p(model(graph({{node("SequenceEmpty", {}, {"s"}),
                          loop_node({"n", "", "s"}, {"r"},
                                    loop_body({kOn, node("SequenceInsert", {"t", "x"}, {"u"})}, {"t"}, {"on", "u"})),
                          node("SequenceErase", {"r"}, {"e"}, "drop"),
                          node("ConcatFromSequence", {"e"}, {"y"}, "join",
                               {int_attribute("axis", 0), int_attribute("new_axis", 1)})},
                         {value("x", kFloat, {2}), value("n", kInt64)},
                         {value("y", kFloat, {-1, 2})},
                         {}})),
            {{"n", {0}, {5}}});
  p.feed("x", {2}, Floats{1, 3}).feed("n", {}, Numbers{3});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.of<float>("y"), (Floats{1, 3, 1, 3}));
  p.feed("n", {}, Numbers{0});
  const std::string error = p.run();
  EXPECT_TRUE(has(error, "node 'drop' (SequenceErase): the position is within the sequence")) << error;
}

}  // namespace
}  // namespace kiln::api
