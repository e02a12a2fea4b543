#include "passes/sink_reshapes.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/reshape.h"
#include "ops/unary.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "passes/row_wise.h"

namespace kiln::passes {
namespace {

/// The one input of a row-wise pointwise node that is no constant; -1 where the node is something else.
int varying_input(const ir::Graph& graph, ir::NodeId id) {
  return is_row_product(graph, id) ? -1 : row_input(graph, id);
}

/// Whether Reshapes alone read the value, perhaps behind row-wise nodes.
bool ends_in_reshapes(const ir::Graph& graph, ir::ValueId value, int depth = 8) {
  const auto& users = graph.value(value).users;
  if (graph.is_output(value) || users.empty() || depth == 0) return false;
  return std::ranges::all_of(users, [&](ir::NodeId user) {
    const ir::Node& node = graph.node(user);
    if (node.op.as<ops::Reshape>()) return node.inputs[0] == value;
    const int input = varying_input(graph, user);
    return input >= 0 && node.inputs[static_cast<size_t>(input)] == value &&
           ends_in_reshapes(graph, node.outputs[0], depth - 1);
  });
}

/// Whether the Reshape of x to y keeps the last axis, so that rows stay whole.
bool keeps_rows(const TensorType& x, const TensorType& y) {
  return x.rank() >= 2 && y.rank() >= 1 && x.shape.back() == y.shape.back();
}

/// The constant under leading axes of extent 1 up to `rank`; its last `kept` extents stay.
ir::ValueId with_rank(ir::Patch& patch, ir::ValueId constant, int rank, int kept) {
  const Shape& shape = patch.type(constant).shape;
  Extents extents(static_cast<size_t>(rank - kept), 1);
  for (auto extent = shape.end() - kept; extent != shape.end(); ++extent) extents.push_back(extent->value());
  return patch.add_reshaped(constant, extents);
}

/// All inputs of a row-wise pointwise node but `input`, constants, under as many axes as x has.
void fit_others(ir::Patch& patch, std::vector<ir::ValueId>& inputs, int input, int rank) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (static_cast<int>(i) != input && inputs[i] != ir::ValueId::kNone)
      inputs[i] = with_rank(patch, inputs[i], rank, 1);
}

/// The matrix of a row product, a constant or the numbers of constant bytes, under leading axes up to `rank`.
Result<ir::ValueId> matrix_with_rank(const ir::Graph& graph, ir::Patch& patch, ir::ValueId w, int rank) {
  if (graph.constant(w)) return with_rank(patch, w, rank, 2);
  const ir::Node& node = graph.node(graph.value(w).producer);
  std::vector<ir::ValueId> inputs = node.inputs;
  for (size_t i = 0; i < 2; ++i) inputs[i] = with_rank(patch, inputs[i], rank, 2);
  return patch.add(node.op, inputs);
}

Status below_products(ir::Graph& graph) {
  const ir::Pattern product =
      ir::op<ops::MatrixMultiply>("y", ir::op<ops::Reshape>("rows", ir::any("x")), ir::constant("w"));
  return rewrite(graph, product, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto& op = found.op<ops::MatrixMultiply>("y");
    const TensorType& x = found.type("x");
    if (!is_row_product(found.graph(), found.node_id("y")) || !keeps_rows(x, found.type("rows")) ||
        !ends_in_reshapes(found.graph(), found.value("y")))
      return {};
    const ir::ValueId y = TRY(patch.add(op, {found.value("x"), with_rank(patch, found.value("w"), x.rank(), 2)}));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, y, found.type("y").shape)));
  });
}

template <class T>
Status below_pointwise(ir::Graph& graph) {
  return rewrite(graph, ir::op<T>("y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Graph& g = found.graph();
    const int input = varying_input(g, found.node_id("y"));
    if (input < 0) return {};
    std::vector<ir::ValueId> inputs = found.node("y").inputs;
    const ir::ValueId rows = inputs[static_cast<size_t>(input)];
    if (!g.producer_as<ops::Reshape>(rows) || g.num_uses(rows) != 1) return {};
    const ir::ValueId x = g.node(g.value(rows).producer).inputs[0];
    if (!keeps_rows(g.type(x), g.type(rows)) || !ends_in_reshapes(g, found.value("y"))) return {};
    inputs[static_cast<size_t>(input)] = x;
    fit_others(patch, inputs, input, g.type(x).rank());
    const ir::ValueId y = TRY(patch.add(found.node("y").op, inputs));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, y, found.type("y").shape)));
  });
}

/// Builds a product's operand again with the leading extents `lead`, starting from a Reshape above it, between which
/// and the product a Quantize and a Dequantize may stand; kNone where that is not what makes it.
Result<ir::ValueId> operand_under(const ir::Graph& graph, ir::Patch& patch, ir::ValueId value, const Shape& lead) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone) return ir::ValueId::kNone;
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Reshape>()) {
    Shape rows = lead;
    rows.push_back(graph.type(value).shape.back());
    return reshape_to(patch, node.inputs[0], rows);
  }
  const bool quantizes = node.op.as<ops::Quantize>() || node.op.as<ops::Dequantize>();
  if (!quantizes || graph.num_uses(value) != 1 || row_input(graph, id) != 0) return ir::ValueId::kNone;
  std::vector<ir::ValueId> inputs = node.inputs;
  inputs[0] = TRY(operand_under(graph, patch, inputs[0], lead));
  if (inputs[0] == ir::ValueId::kNone) return inputs[0];
  fit_others(patch, inputs, 0, static_cast<int>(lead.size()) + 1);
  return patch.add(node.op, inputs);
}

/// Builds the value again with the leading extents `lead`, starting from a Reshape above it; kNone unless a chain of
/// row-wise nodes and a product with a constant leads to such a Reshape.
Result<ir::ValueId> under(const ir::Graph& graph, ir::Patch& patch, ir::ValueId value, const Shape& lead) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone || graph.num_uses(value) != 1) return ir::ValueId::kNone;
  const ir::Node& node = graph.node(id);
  std::vector<ir::ValueId> inputs = node.inputs;
  const int rank = static_cast<int>(lead.size()) + 1;
  if (node.op.as<ops::MatrixMultiply>()) {
    if (!is_row_product(graph, id)) return ir::ValueId::kNone;
    inputs[0] = TRY(operand_under(graph, patch, inputs[0], lead));
    if (inputs[0] == ir::ValueId::kNone) return inputs[0];
    inputs[1] = TRY(matrix_with_rank(graph, patch, inputs[1], rank));
    return patch.add(node.op, inputs);
  }
  const int input = varying_input(graph, id);
  if (input < 0) return ir::ValueId::kNone;
  ir::ValueId& x = inputs[static_cast<size_t>(input)];
  x = TRY(under(graph, patch, x, lead));
  if (x == ir::ValueId::kNone) return x;
  fit_others(patch, inputs, input, rank);
  return patch.add(node.op, inputs);
}

/// Reshape(MatrixMultiply(Reshape(x), w)): the last shape moves above the product.
Status above_products(ir::Graph& graph) {
  return rewrite(graph, ir::op<ops::Reshape>("y", ir::any("rows")),
                 [](const ir::Capture& found, ir::Patch& patch) -> Status {
                   const TensorType& y = found.type("y");
                   if (!keeps_rows(y, found.type("rows"))) return {};
                   const Shape lead(y.shape.begin(), y.shape.end() - 1);
                   const ir::ValueId by = TRY(under(found.graph(), patch, found.value("rows"), lead));
                   return by == ir::ValueId::kNone ? Status{} : patch.replace(found.value("y"), by);
                 });
}

}  // namespace

Status sink_reshapes(ir::Graph& graph, PassContext&) {
  TRY(below_products(graph));
  TRY(below_pointwise<ops::ElementWise>(graph));
  TRY(below_pointwise<ops::Activation>(graph));
  TRY(below_pointwise<ops::Unary>(graph));
  TRY(below_pointwise<ops::Quantize>(graph));
  TRY(below_pointwise<ops::Dequantize>(graph));
  return above_products(graph);
}

}  // namespace kiln::passes
