#include "ir/precision.h"

#include <gtest/gtest.h>

#include "ir/parse.h"

namespace kiln::ir {
namespace {

bool is_half(DType type) { return type == DType::kF16 || type == DType::kBF16; }

Node node_from(std::vector<std::string> provenance) {
  Graph graph = *parse("x: f32[2]; y = Unary{kind=neg}(x); return y");
  graph.set_provenance(graph.value(graph.outputs()[0].value).producer, std::move(provenance));
  return graph.node(graph.value(graph.outputs()[0].value).producer);
}

TEST(Precision, IsAnEntryOfProvenance) {
  Graph graph = *parse("x: f32[2]; y = Unary{kind=neg}(x); return y");
  const NodeId id = graph.value(graph.outputs()[0].value).producer;
  EXPECT_FALSE(precision_of(graph.node(id)));
  graph.set_provenance(id, {"Unary 'precision'"});
  EXPECT_FALSE(precision_of(graph.node(id)));
  set_precision(graph, id, "it's a layer", {DType::kF16, true});
  EXPECT_EQ(graph.node(id).provenance,
            (std::vector<std::string>{"Unary 'precision'", "required precision f16 of 'it's a layer'"}));
  ASSERT_TRUE(precision_of(graph.node(id)));
  EXPECT_EQ(precision_of(graph.node(id))->type, DType::kF16);
  EXPECT_TRUE(precision_of(graph.node(id))->required);
  EXPECT_TRUE(has_precision(graph, &is_half));
  EXPECT_FALSE(has_precision(graph, &is_integer));
  clear_precision(graph, id);
  EXPECT_EQ(graph.node(id).provenance, std::vector<std::string>{"Unary 'precision'"});
}

TEST(Precision, OfSeveralLayersIsTheWidest) {
  const std::string f32 = "precision f32 of 'a'", bf16 = "precision bf16 of 'b'", f16 = "precision f16 of 'c'",
                    i8 = "required precision i8 of 'd'";
  EXPECT_EQ(precision_of(node_from({f16, f32, i8}))->type, DType::kF32);
  EXPECT_FALSE(precision_of(node_from({f16, f32, i8}))->required);
  EXPECT_EQ(precision_of(node_from({i8, f16, bf16}))->type, DType::kBF16);
  EXPECT_EQ(float_precision_of(node_from({f16})), DType::kF16);
  EXPECT_FALSE(float_precision_of(node_from({i8})));
  EXPECT_EQ(precision_of(node_from({i8}))->type, DType::kI8);
  EXPECT_FALSE(precision_of(node_from({"precision of 'x'", "precision f33 of 'x'"})));
}

}  // namespace
}  // namespace kiln::ir
