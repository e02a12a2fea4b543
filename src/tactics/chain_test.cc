#include "tactics/chain.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace kiln {
namespace {

/// The types of what the chain at the network's end reads. In the text, `c` and `d` are sums of products.
std::string leaves_of(std::string_view text) {
  const auto graph =
      ir::parse(str("x: f32[2, 4]; w: f32[4, 4]; z: f32[2, 4]; s = Constant{value=f32[1, 1](0.5)}(); "
                    "c = MatrixMultiply(x, w); d = MatrixMultiply(z, w); ",
                    text));
  if (!graph) return graph.error().message;
  const auto chain = grow_chain(*graph, graph->value(graph->outputs()[0].value).producer);
  if (!chain) return chain.error().reason;
  std::string types;
  for (const ir::ValueId leaf : chain->leaves)
    if (!graph->constant(leaf)) types += str(' ', graph->type(leaf).dtype);
  return types;
}

TEST(Chain, ReadsTheBytesThatAnotherProductEndsWith) {
  EXPECT_EQ(leaves_of("q = Quantize{to=i8}(d, s); e = Dequantize(q, s); y = ElementWise{kind=sum}(c, e); return y"),
            " i8 f32");
  EXPECT_EQ(leaves_of("r = Activation{kind=relu}(d); q = Quantize{to=i8}(r, s); e = Dequantize(q, s); "
                      "b = Activation{kind=relu}(c); y = ElementWise{kind=sum}(b, e); return y"),
            " f32 i8");
}
TEST(Chain, HasTheQuantizeOfOneProduct) {
  EXPECT_EQ(leaves_of("q = Quantize{to=i8}(c, s); e = Dequantize(q, s); y = Activation{kind=relu}(e); return y"),
            " f32");
  EXPECT_EQ(leaves_of("p = Quantize{to=i8}(c, s); b = Dequantize(p, s); q = Quantize{to=i8}(d, s); "
                      "e = Dequantize(q, s); y = ElementWise{kind=sum}(b, e); return y"),
            " i8 f32");
}
TEST(Chain, HasTheQuantizeOfWhatIsNoProduct) {
  EXPECT_EQ(leaves_of("q = Quantize{to=i8}(x, s); e = Dequantize(q, s); y = ElementWise{kind=sum}(c, e); return y"),
            " f32 f32");
}
TEST(Chain, StopsWhereItWouldReadMoreThanANestMay) {
  std::string text = "a0: f32[2]";
  for (int i = 1; i < 20; ++i) text += str("; a", i, ": f32[2]");
  text += "; s0 = ElementWise{kind=sum}(a0, a1)";
  for (int i = 1; i < 19; ++i) text += str("; s", i, " = ElementWise{kind=sum}(s", i - 1, ", a", i + 1, ")");
  const auto graph = ir::parse(text + "; return s18");
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::NodeId last = graph->value(graph->outputs()[0].value).producer;
  const auto behind = grow_chain(*graph, last);
  ASSERT_TRUE(behind) << behind.error().reason;
  EXPECT_EQ(behind->leaves.size(), 16U);
  ASSERT_EQ(behind->nodes.size(), 15U);
  const auto before = grow_chain(*graph, graph->value(graph->node(behind->nodes[0]).inputs[0]).producer);
  ASSERT_TRUE(before) << before.error().reason;
  EXPECT_EQ(before->nodes.size(), 4U);
}

}  // namespace
}  // namespace kiln
