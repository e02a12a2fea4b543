#include "ir/work.h"

#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/matrix_multiply.h"
#include "ops/pooling.h"
#include "ops/recurrence.h"

namespace kiln::ir {
namespace {

/// Elements of a value; a double, because no tensor need have them.
double volume_of(const Graph& graph, ValueId value) {
  double volume = 1;
  for (const int64_t extent : graph.type(value).opt_extents()) volume *= static_cast<double>(extent);
  return volume;
}

/// The number of products for each element of a convolution's output, or of a deconvolution's input: the weights'
/// elements along all axes but the outermost.
double products_of_weights(const Graph& graph, ValueId weights) {
  const auto outermost = static_cast<double>(graph.type(weights).opt_extents()[0]);
  return outermost > 0 ? volume_of(graph, weights) / outermost : 0;
}

}  // namespace

Work work_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (const auto* pooling = node.op.as<ops::Pooling>()) {
    double taps = volume_of(graph, node.outputs[0]);
    for (const int64_t extent : pooling->window) taps *= static_cast<double>(extent);
    return {.taps = taps};
  }
  if (node.op.as<ops::Convolution>())
    return {.products = volume_of(graph, node.outputs[0]) * products_of_weights(graph, node.inputs[1])};
  if (node.op.as<ops::Deconvolution>())
    return {.products = volume_of(graph, node.inputs[0]) * products_of_weights(graph, node.inputs[1])};
  if (const auto* product = node.op.as<ops::MatrixMultiply>()) {
    const Extents a = graph.type(node.inputs[0]).opt_extents();
    const size_t along = a.size() - (product->a == ops::MatrixOp::kTranspose ? 2 : 1);
    return {.products = volume_of(graph, node.outputs[0]) * static_cast<double>(a[along])};
  }
  if (node.op.as<ops::Recurrence>()) {
    const Extents x = graph.type(node.inputs[0]).opt_extents(), r = graph.type(node.inputs[2]).opt_extents();
    const bool has_products = node.inputs[1] == ValueId::kNone;  // of x, which another node made
    const double steps = static_cast<double>(x[0]) * static_cast<double>(x[1]);
    const double taken = static_cast<double>(r[2]) + (has_products ? 0 : static_cast<double>(x[2]));
    return {.products = steps * static_cast<double>(r[0]) * static_cast<double>(r[1]) * taken};
  }
  return {};
}

}  // namespace kiln::ir
