#include "passes/softmax_reads.h"

#include <algorithm>
#include <ranges>

#include "ops/element_wise.h"
#include "ops/softmax.h"

namespace kiln::passes {
namespace {

bool is_sum(const Op& op) {
  const auto* binary = op.as<ops::ElementWise>();
  return binary && binary->kind == ops::ElementWiseKind::kSum;
}

bool scales(const ir::Graph& graph, const ir::Node& node) {
  const auto* binary = node.op.as<ops::ElementWise>();
  if (!binary || (binary->kind != ops::ElementWiseKind::kProd && binary->kind != ops::ElementWiseKind::kDiv))
    return false;
  return std::ranges::any_of(node.inputs, [&](ir::ValueId input) { return graph.constant(input) != nullptr; });
}

}  // namespace

SoftmaxReads softmax_reads(const ir::Graph& graph, std::span<const ir::NodeId> order) {
  SoftmaxReads reads;
  reads.scores.assign(static_cast<size_t>(graph.num_values()), false);
  reads.masks = reads.scores;
  std::vector<bool> scaled_scores = reads.scores;  // a softmax reads it, perhaps moved and scaled
  for (const ir::NodeId id : order | std::views::reverse) {
    const ir::Node& node = graph.node(id);
    const auto mark = [&](std::vector<bool>& values) {
      for (const ir::ValueId input : node.inputs)
        if (input != ir::ValueId::kNone) values[ir::index(input)] = true;
    };
    const auto is_marked = [&](const std::vector<bool>& values) {
      return std::ranges::any_of(node.outputs, [&](ir::ValueId output) { return values[ir::index(output)]; });
    };
    const bool is_softmax = node.op.as<ops::Softmax>() != nullptr, moves = node.op.has(Trait::kMovement);
    if (is_softmax || (moves && is_marked(reads.scores))) mark(reads.scores);
    if (is_softmax || ((moves || scales(graph, node)) && is_marked(scaled_scores))) mark(scaled_scores);
    const bool is_term = is_sum(node.op) && (is_marked(scaled_scores) || is_marked(reads.masks));
    if (is_term || ((moves || scales(graph, node)) && is_marked(reads.masks))) mark(reads.masks);
  }
  return reads;
}

}  // namespace kiln::passes
