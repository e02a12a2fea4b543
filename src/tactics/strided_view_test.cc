#include "tactics/strided_view.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace kiln {
namespace {

/// The network's result in the memory of its input, as text; what has no view ends in "none".
std::string view_of(std::string_view text) {
  const auto graph = ir::parse(text);
  if (!graph) return graph.error().message;
  std::vector<ir::NodeId> nodes;  // consumers first
  ir::ValueId at = graph->outputs()[0].value;
  for (; graph->value(at).producer != ir::NodeId::kNone; at = graph->node(nodes.back()).inputs[0]) {
    nodes.push_back(graph->value(at).producer);
    if (!may_be_viewed(*graph, nodes.back())) return "none";
  }
  std::optional<StridedView> view = whole_view(*graph, at);
  for (size_t i = nodes.size(); view && i-- > 0;) view = moved_view(*graph, nodes[i], *view);
  if (!view) return "none";
  EXPECT_EQ(view->extents, graph->type(graph->outputs()[0].value).shape);
  std::string result = str(view->offset, " by");
  for (const sym::Expr& stride : view->strides) result += str(' ', stride);
  return result;
}

TEST(StridedView, OfOneOfThreeProjections) {
  EXPECT_EQ(view_of("x: f32[b, s, 24]; a = Slice{starts=[8], sizes=[8], axes=[-1]}(x); "
                    "r = Reshape{dims=[0, 0, 2, 4]}(a); y = Transpose{perm=[0, 2, 1, 3]}(r); return y"),
            "8 by 24*s 4 24 1");
  EXPECT_EQ(view_of("x: f32[b, s, 24]; r = Reshape{dims=[0, 0, 3, 2, 4]}(x); t = Transpose{perm=[2, 0, 3, 1, 4]}(r); "
                    "a = Slice{starts=[2], sizes=[1], axes=[0]}(t); y = Squeeze{axes=[0]}(a); return y"),
            "16 by 24*s 4 24 1");
}
TEST(StridedView, OfEverySecondElementBackwards) {
  EXPECT_EQ(view_of("x: f32[9, 2]; y = Slice{starts=[8], sizes=[4], strides=[-2], axes=[0]}(x); return y"),
            "16 by -4 1");
}
TEST(StridedView, OfRepeatedElements) {
  EXPECT_EQ(view_of("x: f32[b, 1, 4]; u = Unsqueeze{axes=[1]}(x); y = Expand{dims=[7, 3, 5, 4]}(u); return y"), "none");
  EXPECT_EQ(view_of("x: f32[7, 1, 4]; u = Unsqueeze{axes=[1]}(x); y = Expand{dims=[7, 3, 5, 4]}(u); return y"),
            "0 by 4 0 0 1");
}
TEST(StridedView, NoneWhereStepsWouldDiffer) {
  EXPECT_EQ(view_of("x: f32[3, 4]; t = Transpose{perm=[1, 0]}(x); y = Reshape{dims=[12]}(t); return y"), "none");
  EXPECT_EQ(view_of("x: f32[3, 8]; a = Slice{starts=[0], sizes=[4], axes=[1]}(x); y = Reshape{dims=[12]}(a); return y"),
            "none");
  EXPECT_EQ(view_of("x: f32[3, 4]; y = Activation{kind=relu}(x); return y"), "none");
}

}  // namespace
}  // namespace kiln
