#include "passes/slice_rows.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/slice.h"
#include "ops/unary.h"
#include "passes/remove_dead.h"
#include "passes/rewrite.h"
#include "passes/row_wise.h"

namespace kiln::passes {
namespace {

constexpr int kMostPointwise = 8;  // pointwise nodes on the way to what is worth less of

/// Whether the node is a Slice of whole rows, all of whose parts are attributes.
bool keeps_rows(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto* op = node.op.as<ops::Slice>();
  if (!op || op->mode != SliceMode::kStrictBounds || op->axes.empty()) return false;
  if (std::any_of(node.inputs.begin() + 1, node.inputs.end(), [](ir::ValueId v) { return v != ir::ValueId::kNone; }))
    return false;
  const int last = graph.input_type(id, 0).rank() - 1;
  return std::ranges::all_of(op->axes,
                             [&](int64_t axis) { return normalize_axis(axis, last + 1).value_or(last) < last; });
}

/// Whether Slices like `slice` alone read what it reads, and not all of it.
bool leaves_rows(const ir::Graph& graph, ir::NodeId slice) {
  const ir::ValueId x = graph.node(slice).inputs[0];
  const auto like = [&](ir::NodeId user) { return graph.node(user).op == graph.node(slice).op; };
  return !graph.is_output(x) && std::ranges::all_of(graph.value(x).users, like) &&
         graph.output_type(slice).volume().opt() < graph.type(x).volume().opt();
}

bool normalizes_rows(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto* op = node.op.as<ops::Normalization>();
  const int last = graph.output_type(id).rank() - 1;
  if (!op || op->groups != 1 || op->axes.size() != 1 || normalize_axis(op->axes[0], last + 1).value_or(-1) != last)
    return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ir::ValueId coefficient) {
    if (coefficient == ir::ValueId::kNone) return true;
    const Shape& shape = graph.type(coefficient).shape;
    return std::all_of(shape.begin(), shape.end() - 1, [](const sym::Expr& e) { return e == sym::Expr(1); });
  });
}

/// The inputs whose rows a node maps one to one; none where it does something else.
std::vector<size_t> row_inputs(const ir::Graph& graph, ir::NodeId id) {
  if (normalizes_rows(graph, id)) return {0};
  if (const int input = row_input(graph, id); input >= 0) return {static_cast<size_t>(input)};
  const ir::Node& node = graph.node(id);
  if (!node.op.as<ops::ElementWise>()) return {};
  const Shape& y = graph.output_type(id).shape;
  const auto is_whole = [&](ir::ValueId x) { return graph.type(x).shape == y && !graph.constant(x); };
  return std::ranges::all_of(node.inputs, is_whole) ? std::vector<size_t>{0, 1} : std::vector<size_t>{};
}

/// Whether slicing rows earlier would save work: a product or a normalisation of rows stands above the value, perhaps
/// behind pointwise nodes. Pointwise nodes alone do not count: they are better fused with what stands before them.
bool saves_work(const ir::Graph& graph, ir::NodeId id, int depth = kMostPointwise) {
  if (is_row_product(graph, id) || normalizes_rows(graph, id)) return true;
  return depth > 0 && std::ranges::any_of(row_inputs(graph, id), [&](size_t i) {
           const ir::ValueId x = graph.node(id).inputs[i];
           const ir::NodeId producer = graph.value(x).producer;
           return producer != ir::NodeId::kNone && graph.num_uses(x) == 1 && saves_work(graph, producer, depth - 1);
         });
}

/// The rule for one op whose rows are sliced.
template <class T>
Status above(ir::Graph& graph) {
  const ir::Pattern sliced = ir::op<ops::Slice>("y", ir::op<T>("x"));
  return rewrite(graph, sliced, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Graph& g = found.graph();
    const ir::NodeId slice = found.node_id("y"), id = found.node_id("x");
    if (g.num_uses(found.value("y")) == 0 || !keeps_rows(g, slice) || !leaves_rows(g, slice)) return {};
    const std::vector<size_t> rows = row_inputs(g, id);
    if (rows.empty() || !saves_work(g, id)) return {};
    std::vector<ir::ValueId> inputs = g.node(id).inputs;
    for (const size_t i : rows) inputs[i] = TRY(patch.add(g.node(slice).op, {inputs[i]}));
    const ir::ValueId y = TRY(patch.add(g.node(id).op, inputs));
    for (const ir::NodeId user : g.value(found.value("x")).users) TRY(patch.replace(g.node(user).outputs[0], y));
    return {};
  });
}

}  // namespace

Status slice_rows(ir::Graph& graph, PassContext& cx) {
  TRY(above<ops::MatrixMultiply>(graph));
  TRY(above<ops::Normalization>(graph));
  TRY(above<ops::ElementWise>(graph));
  TRY(above<ops::Activation>(graph));
  TRY(above<ops::Unary>(graph));
  return remove_dead(graph, cx);  // equal Slices that the first one replaced
}

}  // namespace kiln::passes
