#include "passes/move_transposes.h"

#include <algorithm>

#include "ops/activation.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "passes/rewrite.h"
#include "passes/row_wise.h"

namespace kiln::passes {
namespace {

constexpr int kMostBetween = 12;  // nodes between Transposes that belong together

bool keeps_last(const ops::Transpose& transpose) {
  return !transpose.perm.empty() && transpose.perm.back() == static_cast<int64_t>(transpose.perm.size()) - 1;
}

/// Whether Transposes alone read the value, perhaps behind Reshapes, Slices and row-wise nodes.
bool ends_in_transposes(const ir::Graph& graph, ir::ValueId value, int depth = kMostBetween) {
  const auto& users = graph.value(value).users;
  if (graph.is_output(value) || users.empty() || depth == 0) return false;
  return std::ranges::all_of(users, [&](ir::NodeId user) {
    const ir::Node& node = graph.node(user);
    if (node.op.as<ops::Transpose>()) return true;
    const int input = node.op.as<ops::Reshape>() || node.op.as<ops::Slice>() ? 0 : row_input(graph, user);
    return input >= 0 && node.inputs[static_cast<size_t>(input)] == value &&
           ends_in_transposes(graph, node.outputs[0], depth - 1);
  });
}

/// Whether a Transpose makes the rows of the value, which one node alone reads; row-wise nodes and Reshapes may stand
/// between.
bool begins_with_transpose(const ir::Graph& graph, ir::ValueId value, int depth = kMostBetween) {
  const ir::NodeId id = graph.value(value).producer;
  if (id == ir::NodeId::kNone || graph.num_uses(value) != 1 || depth == 0) return false;
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Transpose>()) return true;
  const int input = node.op.as<ops::Reshape>() ? 0 : row_input(graph, id);
  return input >= 0 && begins_with_transpose(graph, node.inputs[static_cast<size_t>(input)], depth - 1);
}

/// A row-wise node of a Transpose becomes a Transpose of the node.
template <class T>
Status sink(ir::Graph& graph) {
  return rewrite(graph, ir::op<T>("y"), [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Graph& g = found.graph();
    const int input = row_input(g, found.node_id("y"));
    if (input < 0) return {};
    std::vector<ir::ValueId> inputs = found.node("y").inputs;
    ir::ValueId& x = inputs[static_cast<size_t>(input)];
    const auto* transpose = g.producer_as<ops::Transpose>(x);
    if (!transpose || !keeps_last(*transpose) || g.num_uses(x) != 1 || !ends_in_transposes(g, found.value("y")))
      return {};
    x = g.node(g.value(x).producer).inputs[0];
    const ir::ValueId y = TRY(patch.add(found.node("y").op, inputs));
    return patch.replace(found.value("y"), TRY(patch.add(*transpose, {y})));
  });
}

/// A Transpose of a row-wise node becomes the node of a Transpose.
template <class T>
Status hoist(ir::Graph& graph) {
  const ir::Pattern moved = ir::op<ops::Transpose>("y", ir::op<T>("x"));
  return rewrite(graph, moved, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const ir::Graph& g = found.graph();
    const auto& transpose = found.op<ops::Transpose>("y");
    const int input = row_input(g, found.node_id("x"));
    if (input < 0 || !keeps_last(transpose) || !begins_with_transpose(g, found.value("x")) ||
        ends_in_transposes(g, found.value("y")))
      return {};
    std::vector<ir::ValueId> inputs = found.node("x").inputs;
    ir::ValueId& rows = inputs[static_cast<size_t>(input)];
    rows = TRY(patch.add(transpose, {rows}));
    return patch.replace(found.value("y"), TRY(patch.add(found.node("x").op, inputs)));
  });
}

}  // namespace

Status move_transposes(ir::Graph& graph, PassContext&) {
  TRY(sink<ops::MatrixMultiply>(graph));
  TRY(sink<ops::ElementWise>(graph));
  TRY(sink<ops::Activation>(graph));
  TRY(sink<ops::Unary>(graph));
  TRY(sink<ops::Quantize>(graph));
  TRY(sink<ops::Dequantize>(graph));
  TRY(hoist<ops::MatrixMultiply>(graph));
  TRY(hoist<ops::ElementWise>(graph));
  TRY(hoist<ops::Activation>(graph));
  TRY(hoist<ops::Quantize>(graph));
  TRY(hoist<ops::Dequantize>(graph));
  return hoist<ops::Unary>(graph);
}

}  // namespace kiln::passes
