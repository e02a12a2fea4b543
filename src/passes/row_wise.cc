#include "passes/row_wise.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/unary.h"

namespace kiln::passes {
namespace {

/// Whether all axes have extent 1 but the last `kept`.
bool spans_last(const HostTensor& constant, size_t kept) {
  const Extents& extents = constant.extents();
  return extents.size() >= kept &&
         std::all_of(extents.begin(), extents.end() - static_cast<ptrdiff_t>(kept), [](int64_t e) { return e == 1; });
}

/// Whether all inputs behind the first, scales and zero points, are constants of one element.
bool has_one_scale(const ir::Graph& graph, const ir::Node& node) {
  return !graph.constant(node.inputs[0]) &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ir::ValueId id) {
           if (id == ir::ValueId::kNone) return true;
           const HostTensor* constant = graph.constant(id);
           return constant && constant->volume() == 1 && constant->rank() > 0;
         });
}

}  // namespace

const HostTensor* matrix_of(const ir::Graph& graph, ir::NodeId product) {
  const ir::ValueId w = graph.node(product).inputs[1];
  if (!graph.producer_as<ops::Dequantize>(w)) return graph.constant(w);
  const ir::Node& node = graph.node(graph.value(w).producer);
  const bool has_zero = node.inputs.size() > 2 && node.inputs[2] != ir::ValueId::kNone;
  const HostTensor *q = graph.constant(node.inputs[0]), *scale = graph.constant(node.inputs[1]);
  if (has_zero || !node.op.as<ops::Dequantize>()->block.empty() || !q || !scale || scale->rank() != q->rank())
    return nullptr;
  const auto axis = static_cast<size_t>(
      q->rank() - (graph.node(product).op.as<ops::MatrixMultiply>()->b == ops::MatrixOp::kTranspose ? 2 : 1));
  const bool by_column = scale->volume() == scale->extents()[axis] && scale->volume() == q->extents()[axis];
  return scale->volume() == 1 || by_column ? q : nullptr;
}

bool is_row_product(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto* op = node.op.as<ops::MatrixMultiply>();
  if (!op || op->a != ops::MatrixOp::kNone || op->b == ops::MatrixOp::kVector) return false;
  const HostTensor* w = matrix_of(graph, id);
  return w && spans_last(*w, 2) && !graph.constant(node.inputs[0]);
}

int row_input(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Activation>() || node.op.as<ops::Unary>() || is_row_product(graph, id)) return 0;
  if (node.op.as<ops::Quantize>() || node.op.as<ops::Dequantize>()) return has_one_scale(graph, node) ? 0 : -1;
  if (!node.op.as<ops::ElementWise>()) return -1;
  for (size_t i = 0; i < 2; ++i) {
    const HostTensor* other = graph.constant(node.inputs[1 - i]);
    const bool same = graph.type(node.inputs[i]).shape == graph.type(node.outputs[0]).shape;
    if (other && spans_last(*other, 1) && same && !graph.constant(node.inputs[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kiln::passes
