#include "passes/move_quantize.h"

#include <algorithm>

#include "ops/concatenation.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/pooling.h"
#include "ops/quantize.h"
#include "ops/reshape.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

bool has_one_scale(const ir::Graph& graph, const ir::Node& node) {
  return graph.type(node.inputs[1]).volume() == sym::Expr(1);
}
bool is_view(const Op& op) {
  return op.as<ops::Reshape>() || op.as<ops::Transpose>() || op.as<ops::Squeeze>() || op.as<ops::Unsqueeze>();
}

/// Whether the first inputs of the op are all that it takes numbers from, and it gives them on unchanged.
bool keeps_numbers(const Op& op) {
  if (const auto* pooling = op.as<ops::Pooling>()) return pooling->kind == ops::PoolingKind::kMax;
  return op.as<ops::Concatenation>() || is_view(op);
}
/// How many of its inputs have numbers; the others are shapes.
size_t num_data_inputs(const ir::Node& node) { return node.op.as<ops::Concatenation>() ? node.inputs.size() : 1; }

/// x through `node`, a Quantize or Dequantize by one scale, which gets x's rank.
Result<ValueId> through(ir::Patch& patch, const ir::Node& node, ValueId x) {
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  const Shape ones(static_cast<size_t>(patch.type(x).rank()), 1);
  for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = TRY(reshape_to(patch, inputs[i], ones));
  return patch.add(node.op, inputs);
}

/// Whether the value is a constant, or will be: the bytes of one, or a view of one.
bool is_fixed(const ir::Graph& graph, ValueId value) {
  if (value == ValueId::kNone || graph.constant(value)) return true;
  const ir::NodeId producer = graph.value(value).producer;
  if (producer == ir::NodeId::kNone) return false;
  const ir::Node& node = graph.node(producer);
  return (node.op.as<ops::Quantize>() || is_view(node.op)) &&
         std::ranges::all_of(node.inputs, [&](ValueId input) { return is_fixed(graph, input); });
}

/// Whether the node turns a product of two variables, as behind attention, whose kernel writes it turned. Variables may
/// have been bytes.
bool is_turned_attention(const ir::Graph& graph, const ir::Node& node) {
  const ir::NodeId above = node.op.as<ops::Transpose>() ? graph.value(node.inputs[0]).producer : ir::NodeId::kNone;
  if (above == ir::NodeId::kNone || !graph.node(above).op.as<ops::MatrixMultiply>()) return false;
  return std::ranges::none_of(graph.node(above).inputs, [&](ValueId input) {
    const ir::NodeId producer = graph.value(input).producer;
    const bool of_bytes = graph.producer_as<ops::Dequantize>(input);
    return is_fixed(graph, of_bytes ? graph.node(producer).inputs[0] : input);
  });
}

Status raise_quantize(const ir::Capture& found, ir::Patch& patch) {
  const ir::Graph& graph = found.graph();
  const ir::Node& node = found.node("y");
  const ir::NodeId above = graph.value(node.inputs[0]).producer;
  if (above == ir::NodeId::kNone || !has_one_scale(graph, node)) return {};
  const ir::Node& moved = graph.node(above);
  if (!keeps_numbers(moved.op) || graph.num_uses(node.inputs[0]) != 1 || is_turned_attention(graph, moved)) return {};
  std::vector<ValueId> inputs = moved.inputs;
  for (size_t i = 0; i < num_data_inputs(moved); ++i) inputs[i] = TRY(through(patch, node, inputs[i]));
  return patch.replace(found.value("y"), TRY(patch.add(moved.op, inputs)));
}

bool are_equal(const ir::Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const HostTensor *left = graph.constant(a), *right = graph.constant(b);
  return left && right && left->dtype() == right->dtype() && left->volume() == 1 && right->volume() == 1 &&
         std::ranges::equal(left->bytes(), right->bytes());
}

/// Rounding gives back the integer that was there: the product with the scale and the quotient are exact to a small
/// part of 1.
Status drop_quantize(const ir::Capture& found, ir::Patch& patch) {
  const ir::Graph& graph = found.graph();
  const ir::Node& node = found.node("y");
  const ir::NodeId above = graph.value(node.inputs[0]).producer;
  if (above == ir::NodeId::kNone || !graph.node(above).op.as<ops::Dequantize>()) return {};
  const ir::Node& before = graph.node(above);
  const ValueId q = before.inputs[0];
  const bool is_exact = graph.type(node.inputs[0]).dtype == DType::kF32 && is_integer(graph.type(q).dtype);
  if (!is_exact || !graph.type(q).same_type(found.type("y")) || before.inputs.size() != node.inputs.size() ||
      !has_one_scale(graph, node))
    return {};
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (!are_equal(graph, node.inputs[i], before.inputs[i])) return {};
  return patch.replace(found.value("y"), q);
}

/// Lowers the Dequantize that a view reads.
Status lower_dequantize(const ir::Capture& found, ir::Patch& patch) {
  const ir::Graph& graph = found.graph();
  const ir::Node& node = found.node("y");
  const ir::NodeId above = graph.value(node.inputs[0]).producer;
  if (above == ir::NodeId::kNone || !graph.node(above).op.as<ops::Dequantize>()) return {};
  const ir::Node& before = graph.node(above);
  if (!has_one_scale(graph, before) || graph.num_uses(node.inputs[0]) != 1 || graph.constant(before.inputs[0]))
    return {};
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = before.inputs[0];
  return patch.replace(found.value("y"), TRY(through(patch, before, TRY(patch.add(node.op, inputs)))));
}

/// Whether two shapes are the same but for extents of 1 in front.
bool same_but_in_front(const Shape& a, const Shape& b) {
  const auto rest = [](const Shape& shape) {
    const auto first = std::ranges::find_if(shape, [](const sym::Expr& extent) { return extent != sym::Expr(1); });
    return std::span(first, shape.end());
  };
  return std::ranges::equal(rest(a), rest(b));
}

/// A scale or zero point of as many axes as x, as x's view `node` has its axes; `rank` is that of the view.
Result<ValueId> turned(ir::Patch& patch, const ir::Node& node, ValueId given, int rank) {
  if (node.op.as<ops::Transpose>()) return patch.add(node.op, {given});
  Shape shape = patch.type(given).shape;
  while (static_cast<int>(shape.size()) < rank) shape.insert(shape.begin(), sym::Expr(1));
  while (static_cast<int>(shape.size()) > rank) shape.erase(shape.begin());
  return reshape_to(patch, given, shape);
}

Status lower_weight(const ir::Capture& found, ir::Patch& patch) {
  const ir::Graph& graph = found.graph();
  const ir::Node& node = found.node("y");
  const ir::NodeId above = graph.value(node.inputs[0]).producer;
  if (above == ir::NodeId::kNone || !graph.node(above).op.as<ops::Dequantize>()) return {};
  const ir::Node& before = graph.node(above);
  const TensorType &x = graph.type(node.inputs[0]), &y = found.type("y");
  if (!before.op.as<ops::Dequantize>()->block.empty() || !is_fixed(graph, before.inputs[0]) ||
      graph.type(before.inputs[1]).rank() != x.rank() ||
      (!node.op.as<ops::Transpose>() && !same_but_in_front(x.shape, y.shape)))
    return {};
  std::vector<ValueId> inputs = before.inputs;
  std::vector<ValueId> of_view = node.inputs;
  of_view[0] = inputs[0];
  inputs[0] = TRY(patch.add(node.op, of_view));
  for (size_t i = 1; i < inputs.size(); ++i) inputs[i] = TRY(turned(patch, node, inputs[i], y.rank()));
  return patch.replace(found.value("y"), TRY(patch.add(before.op, inputs)));
}

template <class T, class... More>
Status lower_below(ir::Graph& graph, Status (*lower)(const ir::Capture&, ir::Patch&)) {
  TRY(rewrite(graph, ir::op<T>("y", ir::any("x")), lower));
  if constexpr (sizeof...(More) > 0) return lower_below<More...>(graph, lower);
  return {};
}

}  // namespace

Status move_quantize(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // scales may be replaced by others
  const auto raise = [](const ir::Capture& found, ir::Patch& patch) { return raise_quantize(found, patch); };
  const auto drop = [](const ir::Capture& found, ir::Patch& patch) { return drop_quantize(found, patch); };
  for (const Rule& rule : {Rule(raise), Rule(drop)}) {
    TRY(rewrite(graph, ir::op<ops::Quantize>("y", ir::any("x"), ir::any("scale")), rule));
    TRY(rewrite(graph, ir::op<ops::Quantize>("y", ir::any("x"), ir::any("scale"), ir::any("zero")), rule));
  }
  return lower_below<ops::Reshape, ops::Transpose, ops::Squeeze, ops::Unsqueeze>(graph, lower_dequantize);
}

Status lower_weights(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // scales may be replaced by others
  return lower_below<ops::Reshape, ops::Transpose, ops::Squeeze, ops::Unsqueeze>(graph, lower_weight);
}

}  // namespace kiln::passes
