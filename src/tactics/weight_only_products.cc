#include "tactics/weight_only_products.h"

#include <algorithm>

#include "ops/cast.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tactics/byte_products.h"
#include "tactics/matrix_multiply.h"

namespace kiln {
namespace {

using ir::NodeId;
using ir::ValueId;

bool is_read_once(const ir::Graph& graph, ValueId value) {
  return graph.num_uses(value) == 1 && !graph.is_output(value);
}

/// Whether a Transpose swaps the last two axes and no others.
bool swaps_matrix(const ops::Transpose& op) {
  std::vector<int64_t> perm = op.perm;
  if (perm.size() < 2) return false;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::ranges::is_sorted(perm);
}

/// Whether a node only adds or drops axes of one index in front of a matrix.
bool keeps_matrix(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!node.op.as<ops::Reshape>() && !node.op.as<ops::Unsqueeze>()) return false;
  const Shape &from = graph.type(node.inputs[0]).shape, &to = graph.output_type(id).shape;
  return from.size() >= 2 && to.size() >= 2 && std::equal(from.end() - 2, from.end(), to.end() - 2);
}

/// The nodes from the Dequantize down to what the product reads.
std::expected<WeightOnlyOperand, Reject> path_above(const ir::Graph& graph, NodeId product) {
  WeightOnlyOperand found{product, {}};
  ValueId value = graph.node(product).inputs[1];
  bool has_cast = false;  // passes take a transposition into the product, if no cast is between them
  while (true) {
    const NodeId id = graph.value(value).producer;
    if (id == NodeId::kNone) return reject("b is ", graph.type(value), ", which is not dequantized");
    const ir::Node& node = graph.node(id);
    const auto* transpose = node.op.as<ops::Transpose>();
    const bool casts = node.op.as<ops::Cast>() && is_kernel_float(graph.type(value).dtype);
    const bool turns = transpose && !found.is_transposed && !has_cast && swaps_matrix(*transpose);
    const bool ends = node.op.as<ops::Dequantize>() != nullptr;
    if (!ends && !casts && !turns && !keeps_matrix(graph, id))
      return reject("b is made by ", node.op.name(), "; it is not dequantized");
    // A pass copies a Dequantize for each product that reads it, but not what lies between.
    const bool is_copied = ends && found.path.empty();
    if (!is_copied && !is_read_once(graph, value)) return reject("others read b ", graph.type(value));
    has_cast |= casts;
    found.path.insert(found.path.begin(), id);
    found.is_transposed |= turns;
    if (ends) return found;
    value = node.inputs[0];
  }
}

/// The extents of a constant, or why there are none.
std::expected<Extents, Reject> constant_extents(const ir::Graph& graph, ValueId value, std::string_view what) {
  const HostTensor* constant = graph.constant(value);
  if (!constant) return reject(what, " ", graph.type(value), " are not constant");
  return constant->extents();
}

}  // namespace

std::expected<WeightOnlyOperand, Reject> find_weight_only_operand(const ir::Graph& graph, NodeId product) {
  const ir::Node& node = graph.node(product);
  const auto* op = node.op.as<ops::MatrixMultiply>();
  if (!op) return reject(node.op.name(), " is no matrix product");
  if (op->a != ops::MatrixOp::kNone || op->b == ops::MatrixOp::kVector)
    return reject("a product by quantized weights takes a as it is, and a matrix b");
  auto found = path_above(graph, product);
  if (!found) return found;
  const ir::Node& dequantize = graph.node(found->path[0]);
  const TensorType &q = graph.type(dequantize.inputs[0]), &scale = graph.type(dequantize.inputs[1]);
  if (!steps::is_weight_type(q.dtype) || !is_kernel_float(scale.dtype))
    return reject("weights ", q, " with scales ", scale, "; i4, i8 or u8, and f32, f16 or bf16, are needed");
  const auto b = constant_extents(graph, dequantize.inputs[0], "weights");
  if (!b) return std::unexpected(b.error());
  const auto scales = constant_extents(graph, dequantize.inputs[1], "scales");
  if (!scales) return std::unexpected(scales.error());
  if (dequantize.inputs.size() > 2 && dequantize.inputs[2] != ValueId::kNone)
    if (const auto zeros = constant_extents(graph, dequantize.inputs[2], "zero points"); !zeros)
      return std::unexpected(zeros.error());
  const bool reads_turned = (op->b == ops::MatrixOp::kTranspose) != found->is_transposed;
  const auto layout =
      steps::weight_scales(reads_turned ? ops::MatrixOp::kTranspose : ops::MatrixOp::kNone, *b, *scales);
  if (!layout) return reject(layout.error().message);
  return found;
}

Match match_weight_only_product(const TacticContext& cx, NodeId root, bool takes_halves) {
  Match region = match_contraction(cx, root, is_product, -1, ResultOrder::kRowMajor, contraction_region, takes_halves);
  if (!region) return region;
  const ir::Graph& graph = cx.graph;
  const NodeId product = region->nodes[0];
  const auto found = find_weight_only_operand(graph, product);
  if (!found) return std::unexpected(found.error());
  if (found->is_transposed) return reject("the weights are transposed behind their Dequantize");
  if (find_byte_product(graph, product)) return reject("x is dequantized, too: that is a product of bytes");
  if (!is_read_once(graph, graph.node(product).inputs[1])) return reject("others read the weights' numbers");
  const ir::Node& dequantize = graph.node(found->path[0]);
  region->nodes.insert(region->nodes.begin(), found->path.begin(), found->path.end());
  region->inputs[1] = dequantize.inputs[0];
  region->inputs.push_back(dequantize.inputs[1]);
  region->inputs.push_back(dequantize.inputs.size() > 2 ? dequantize.inputs[2] : ValueId::kNone);
  return region;
}

Result<steps::WeightOnlyProduct> weight_only_step(const TacticContext& cx, const Region& region) {
  const auto product = std::ranges::find_if(region.nodes, [&](NodeId id) { return is_product(cx.graph.node(id).op); });
  return steps::WeightOnlyProduct{*cx.graph.node(*product).op.as<ops::MatrixMultiply>(), TRY(epilogue_of(region))};
}

}  // namespace kiln
