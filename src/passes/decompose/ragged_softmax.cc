/// RaggedSoftmax: elements behind a sequence's end become minus infinity before the softmax, and 0 after it.
#include "ops/ragged_softmax.h"

#include <cmath>

#include "ops/select.h"
#include "ops/softmax.h"
#include "passes/decompose/compose.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {

Result<ir::ValueId> decompose_ragged_softmax(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  const TensorType x = graph.input_type(id, 0);
  const int last = x.rank() - 1;
  const ir::ValueId place = TRY(indices_along(graph, x.shape.back(), last, x.rank(), DType::kI32));
  const ir::ValueId is_within = TRY(binary(graph, ops::ElementWiseKind::kLess, place, node.inputs[1]));
  const ir::ValueId hidden = number(graph, -INFINITY, x.dtype, x.rank()), zero = number(graph, 0, x.dtype, x.rank());
  const ir::ValueId masked = TRY(graph.add_one(ops::Select{}, {is_within, node.inputs[0], hidden}));
  const ir::ValueId y = TRY(graph.add_one(ops::Softmax{last}, {masked}));
  return graph.add_one(ops::Select{}, {is_within, y, zero});  // an empty sequence's softmax is NaN
}

}  // namespace kiln::passes
