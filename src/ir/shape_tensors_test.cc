#include "ir/shape_tensors.h"

#include <gtest/gtest.h>

#include "ir/symbolic_values.h"
#include "ops/dim_values.h"

namespace kiln::ir {
namespace {

/// A graph with x f32[2, 3] and an input n i64[2] whose values are symbols.
struct WithValues {
  Graph graph;
  ValueId x, n;
  std::vector<sym::Expr> values;

  WithValues() {
    x = graph.add_input("x", TensorType{DType::kF32, {2, 3}});
    n = graph.add_input("n", TensorType{DType::kI64, {2}});
    give_symbolic_values(graph, n);
    values = *graph.type(n).values;
  }
  bool is_shape(ValueId value) {
    const auto answer = is_shape_tensor(graph, value);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer && *answer;
  }
};

TEST(ShapeTensors, AnInputThatOnlyAttributesAreMadeOf) {
  WithValues g;
  EXPECT_FALSE(g.is_shape(g.n));  // nothing uses it
  ops::DimValues copy;
  copy.values = g.values;
  copy.extents = {2};
  ASSERT_TRUE(g.graph.add_one(Op(copy), {}));
  EXPECT_TRUE(g.is_shape(g.n));
  EXPECT_FALSE(g.is_shape(g.x));
}

}  // namespace
}  // namespace kiln::ir
