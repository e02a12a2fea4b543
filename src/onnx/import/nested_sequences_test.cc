// Sequences that loops within loops carry: the time to import them grows with their depth, and is not multiplied by it.
#include <gtest/gtest.h>

#include "onnx/test_bodies.h"

namespace kiln::onnx {
namespace {

using namespace test;

constexpr int kDepth = 30;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Loops of `count` iterations around nodes that make "s0" of the sequence "t1", up to "s<depth>" of `carried`.
Proto nest(int depth, const std::vector<Proto>& core, const std::string& carried, std::string_view count) {
  const auto named = [&](std::string_view name, int level) { return str(name, level); };
  const std::string i = named("i", depth), go = named("go", depth), on = named("on", depth), t = named("t", depth),
                    u = named("u", depth);
  std::vector<Proto> nodes = depth == 1 ? core : std::vector{nest(depth - 1, core, t, count)};
  nodes.push_back(node("Identity", {go}, {on}));
  nodes.push_back(node("Identity", {named("s", depth - 1)}, {u}));
  return loop_node({count, "", carried}, {named("s", depth)}, body(nodes, {i, go, t}, {on, u}));
}
std::string nested(int depth, const std::vector<Proto>& core, std::string_view count = "n") {
  return types_of(
      {node("SequenceConstruct", {"x"}, {"s"}), nest(depth, core, "s", count), concat_from(str("s", depth), "y", 0, 1)},
      {"y"});
}
const Proto kInsert = node("SequenceInsert", {"t1", "e"}, {"s0"});
const std::vector<Proto> kAdds{node("Neg", {"x"}, {"e"}), kInsert};
const std::vector<Proto> kReads{node("SequenceAt", {"t1", "last"}, {"l"}), node("Neg", {"l"}, {"e"}), kInsert};
const std::vector<Proto> kChooses{node("Neg", {"x"}, {"e"}),
                                  if_node("c", {"s0"}, body({node("SequenceInsert", {"t1", "e"}, {"a"})}, {}, {"a"}),
                                          body({node("Identity", {"t1"}, {"b"})}, {}, {"b"}))};
const std::vector<Proto> kFails{node("Foo", {"x"}, {"e"}, "foo"), kInsert};

TEST(NestedSequences, AddOneElement) {
  EXPECT_EQ(nested(2, kAdds), "f32[max(\"n[0]\", 0)*max(\"n[0]\", 0) + 1, x_0, 3]");
  EXPECT_TRUE(has(nested(kDepth, kAdds), "x_0, 3]"));
  EXPECT_EQ(nested(3, kAdds, "few"), "f32[28, x_0, 3]");
  EXPECT_EQ(nested(kDepth, kAdds, "few"), "f32[205891132094650, x_0, 3]") << "3 to the 30th, and the first";
}
TEST(NestedSequences, ReadTheLastElement) {
  EXPECT_EQ(nested(1, kReads), "f32[max(\"n[0]\", 0) + 1, x_0, 3]");
  EXPECT_TRUE(has(nested(2, kReads), "f32[\"extent of ")) << "which one is last, if the inner loop adds none?";
  EXPECT_TRUE(has(nested(kDepth, kReads), "x_0, 3]"));
}
TEST(NestedSequences, AddAnElementInSomeIterations) {
  EXPECT_TRUE(has(nested(1, kChooses), "f32[\"extent of "));
  EXPECT_TRUE(has(nested(2, kChooses), "f32[\"extent of "));
  EXPECT_TRUE(has(nested(kDepth, kChooses), "x_0, 3]"));
}
TEST(NestedSequences, FailInTime) {
  for (const std::string_view count : {"n", "few"}) {
    const std::string text = nested(kDepth, kFails, count);
    EXPECT_TRUE(has(text, "node 'foo' (Foo)")) << text;
  }
}

}  // namespace
}  // namespace kiln::onnx
