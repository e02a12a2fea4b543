#include "passes/transpose_operands.h"

#include <algorithm>

#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reshape.h"
#include "ops/transpose.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

/// An operand made of a Transpose: perhaps reshaped along leading axes and multiplied by one number, in that order.
struct Transposed {
  ir::NodeId transpose;
  ir::NodeId scaling = ir::NodeId::kNone;
  size_t scaled = 0;  ///< which input of `scaling` is transposed
};

bool hides_innermost(const ir::Graph& graph, ir::ValueId value) {
  const auto* transpose = graph.producer_as<ops::Transpose>(value);
  if (!transpose || transpose->perm.size() < 2) return false;
  return transpose->perm[transpose->perm.size() - 2] == static_cast<int64_t>(transpose->perm.size()) - 1;
}

/// The Transpose at `value`, or behind a Reshape that keeps the last two axes.
std::optional<ir::NodeId> transpose_behind(const ir::Graph& graph, ir::ValueId value) {
  if (hides_innermost(graph, value)) return graph.value(value).producer;
  if (!graph.producer_as<ops::Reshape>(value)) return std::nullopt;
  const ir::ValueId x = graph.node(graph.value(value).producer).inputs[0];
  const Shape &from = graph.type(x).shape, &to = graph.type(value).shape;
  const bool keeps =
      from.size() >= 2 && to.size() >= 2 && from.back() == to.back() && from[from.size() - 2] == to[to.size() - 2];
  return keeps && hides_innermost(graph, x) ? std::optional(graph.value(x).producer) : std::nullopt;
}

std::optional<Transposed> transposed(const ir::Graph& graph, ir::ValueId value) {
  if (const auto transpose = transpose_behind(graph, value)) return Transposed{*transpose};
  const ir::NodeId id = graph.value(value).producer;
  const auto* op = graph.producer_as<ops::ElementWise>(value);
  if (!op || graph.num_uses(value) != 1) return std::nullopt;
  const bool product = op->kind == ops::ElementWiseKind::kProd;
  for (size_t side = 0; side < 2; ++side) {
    if (!product && !(op->kind == ops::ElementWiseKind::kDiv && side == 0)) continue;
    const HostTensor* c = graph.constant(graph.node(id).inputs[1 - side]);
    const auto transpose = transpose_behind(graph, graph.node(id).inputs[side]);
    if (c && c->volume() == 1 && transpose) return Transposed{*transpose, id, side};
  }
  return std::nullopt;
}

/// The operand with its last two axes swapped.
Result<ir::ValueId> swapped(const ir::Graph& graph, const Transposed& found, ir::ValueId operand, ir::Patch& patch) {
  ir::ValueId x = graph.node(found.transpose).inputs[0];
  if (found.scaling != ir::NodeId::kNone) {
    std::vector<ir::ValueId> inputs = graph.node(found.scaling).inputs;
    ir::ValueId& number = inputs[1 - found.scaled];
    number = patch.add_reshaped(number, Extents(graph.type(x).shape.size(), 1));
    inputs[found.scaled] = x;
    x = TRY(patch.add(graph.node(found.scaling).op, inputs));
  }
  std::vector<int64_t> perm = graph.node(found.transpose).op.as<ops::Transpose>()->perm;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  if (!std::ranges::is_sorted(perm)) x = TRY(patch.add(ops::Transpose{perm}, {x}));
  Shape shape = graph.type(operand).shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return reshape_to(patch, x, shape);
}

ops::MatrixOp flipped(ops::MatrixOp op) {
  return op == ops::MatrixOp::kNone ? ops::MatrixOp::kTranspose : ops::MatrixOp::kNone;
}

}  // namespace

Status transpose_operands(ir::Graph& graph, PassContext&) {
  const ir::Pattern product = ir::op<ops::MatrixMultiply>("y", ir::any("a"), ir::any("b"));
  return rewrite(graph, product, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    auto op = found.op<ops::MatrixMultiply>("y");
    std::vector<ir::ValueId> inputs = found.node("y").inputs;
    ops::MatrixOp* const sides[] = {&op.a, &op.b};
    bool changed = false;
    for (size_t i = 0; i < 2; ++i) {
      const auto operand = *sides[i] == ops::MatrixOp::kVector ? std::nullopt : transposed(found.graph(), inputs[i]);
      if (!operand) continue;
      inputs[i] = TRY(swapped(found.graph(), *operand, inputs[i], patch));
      *sides[i] = flipped(*sides[i]);
      changed = true;
    }
    return changed ? patch.replace(found.value("y"), TRY(patch.add(op, inputs))) : Status{};
  });
}

}  // namespace kiln::passes
