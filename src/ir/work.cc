#include "ir/work.h"

#include <algorithm>
#include <map>
#include <vector>

#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "ops/einsum.h"
#include "ops/lrn.h"
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

/// The number of products of an einsum that is computed as its equation says: one for each index of all its labels.
double products_of(const Graph& graph, const Node& node, const ops::Einsum& einsum) {
  std::vector<int> ranks;
  for (const ValueId input : node.inputs) ranks.push_back(graph.type(input).rank());
  const auto equation = EinsumEquation::parse(einsum.equation, ranks);
  if (!equation) return 0;  // which inference has told
  std::map<char, double> extents;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Extents shape = graph.type(node.inputs[i]).opt_extents();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      double& extent = extents.try_emplace(equation->inputs[i][axis], 1).first->second;
      extent = std::max(extent, static_cast<double>(shape[axis]));  // under an ellipsis 1 is spread
    }
  }
  double products = 1;
  for (const auto& [label, extent] : extents) products *= extent;
  return products;
}

}  // namespace

Work work_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (const auto* pooling = node.op.as<ops::Pooling>()) {
    double taps = volume_of(graph, node.outputs[0]);
    for (const int64_t extent : pooling->window) taps *= static_cast<double>(extent);
    return {.taps = taps};
  }
  if (const auto* lrn = node.op.as<ops::Lrn>())
    return {.taps = volume_of(graph, node.outputs[0]) * static_cast<double>(lrn->window)};
  if (const auto* einsum = node.op.as<ops::Einsum>()) return {.products = products_of(graph, node, *einsum)};
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
