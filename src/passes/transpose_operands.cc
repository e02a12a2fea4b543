#include "passes/transpose_operands.h"

#include <algorithm>

#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/transpose.h"
#include "passes/rewrite.h"

namespace kiln::passes {
namespace {

/// Transpose(x) or Transpose(x) times one number, and the node of the Transpose.
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

std::optional<Transposed> transposed(const ir::Graph& graph, ir::ValueId value) {
  const ir::NodeId id = graph.value(value).producer;
  if (hides_innermost(graph, value)) return Transposed{id};
  const auto* op = graph.producer_as<ops::ElementWise>(value);
  if (!op || graph.num_uses(value) != 1) return std::nullopt;
  const bool product = op->kind == ops::ElementWiseKind::kProd;
  for (size_t side = 0; side < 2; ++side) {
    if (!product && !(op->kind == ops::ElementWiseKind::kDiv && side == 0)) continue;
    const ir::ValueId x = graph.node(id).inputs[side];
    const HostTensor* c = graph.constant(graph.node(id).inputs[1 - side]);
    if (c && c->volume() == 1 && hides_innermost(graph, x)) return Transposed{graph.value(x).producer, id, side};
  }
  return std::nullopt;
}

/// The operand with its last two axes swapped.
Result<ir::ValueId> swapped(const ir::Graph& graph, const Transposed& found, ir::Patch& patch) {
  ir::ValueId x = graph.node(found.transpose).inputs[0];
  if (found.scaling != ir::NodeId::kNone) {
    std::vector<ir::ValueId> inputs = graph.node(found.scaling).inputs;
    inputs[found.scaled] = x;
    x = TRY(patch.add(graph.node(found.scaling).op, inputs));
  }
  std::vector<int64_t> perm = graph.node(found.transpose).op.as<ops::Transpose>()->perm;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::ranges::is_sorted(perm) ? Result<ir::ValueId>(x) : patch.add(ops::Transpose{perm}, {x});
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
      inputs[i] = TRY(swapped(found.graph(), *operand, patch));
      *sides[i] = flipped(*sides[i]);
      changed = true;
    }
    return changed ? patch.replace(found.value("y"), TRY(patch.add(op, inputs))) : Status{};
  });
}

}  // namespace kiln::passes
