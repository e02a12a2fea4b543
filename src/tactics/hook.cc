#include "tactics/hook.h"

#include <algorithm>

#include "tactics/chain.h"
#include "tactics/region.h"

namespace kiln {
namespace {

bool is_result(DType type, bool halves) { return halves ? is_kernel_float(type) : type == DType::kF32; }

/// The chain's input that a contraction makes and only the chain reads; the latest one if there are several.
std::optional<size_t> contraction_leaf(const ir::Graph& graph, const Chain& chain, const TensorType& result,
                                       bool (*is_contraction)(const Op&), bool halves) {
  std::optional<size_t> found;
  for (size_t i = 0; i < chain.leaves.size(); ++i) {
    const ir::Value& leaf = graph.value(chain.leaves[i]);
    if (leaf.producer == ir::NodeId::kNone || !is_contraction(graph.node(leaf.producer).op) ||
        graph.is_output(chain.leaves[i]))
      continue;
    if (!is_result(leaf.type.dtype, halves) || leaf.type.shape != result.shape) continue;
    const bool inside = std::ranges::all_of(
        leaf.users, [&](ir::NodeId user) { return std::ranges::find(chain.nodes, user) != chain.nodes.end(); });
    if (inside && (!found || leaf.producer > graph.value(chain.leaves[*found]).producer)) found = i;
  }
  return found;
}

/// How an operand lies against the result, if a hook can read it.
std::optional<steps::HookOperand> operand_of(const ir::Graph& graph, ir::ValueId value, const TensorType& result,
                                             int channel_axis, ResultOrder order) {
  const TensorType& type = graph.type(value);
  if (type.volume() == sym::Expr(1)) return steps::HookOperand::kScalar;
  if (type.shape == result.shape) {
    if (order == ResultOrder::kChannelsLast && graph.constant(value)) return std::nullopt;
    return steps::HookOperand::kWhole;
  }
  const int axis = channel_axis < 0 ? result.rank() + channel_axis : channel_axis;
  const int missing = result.rank() - type.rank();
  for (int i = 0; i < type.rank(); ++i) {
    const bool channel = i + missing == axis;
    if (type.shape[static_cast<size_t>(i)] != (channel ? result.shape[static_cast<size_t>(axis)] : sym::Expr(1)))
      return std::nullopt;
  }
  return steps::HookOperand::kChannel;
}

}  // namespace

NestProgram reordered(NestProgram program, size_t first) {
  const auto moved = [&](NestOperand operand) {
    if (operand >= 0) return operand;
    const auto input = static_cast<size_t>(~operand);
    return ~static_cast<int>(input == first ? 0 : input < first ? input + 1 : input);
  };
  for (NestInstruction& instruction : program.code)
    for (int i = 0; i < arity(instruction.fn); ++i) instruction.args[i] = moved(instruction.args[i]);
  for (NestOperand& reg : program.output_regs) reg = moved(reg);
  std::rotate(program.inputs.begin(), program.inputs.begin() + static_cast<ptrdiff_t>(first),
              program.inputs.begin() + static_cast<ptrdiff_t>(first) + 1);
  return program;
}

std::expected<EpilogueMatch, Reject> match_hook(const ir::Graph& graph, ir::NodeId root,
                                                bool (*is_contraction)(const Op&), int channel_axis, ResultOrder order,
                                                bool halves, bool (*has_type)(DType)) {
  auto chain = grow_chain(graph, root, has_type);
  if (!chain) return std::unexpected(chain.error());
  const TensorType& result = graph.output_type(root);
  if (!is_result(result.dtype, halves))
    return reject("the chain ends in ", result, "; no contraction's kernel writes it");
  const auto leaf = contraction_leaf(graph, *chain, result, is_contraction, halves);
  if (!leaf) return reject("no contraction feeds this chain alone");
  EpilogueMatch match;
  steps::Hook& hook = match.epilogue.hook.emplace();
  match.contraction = graph.value(chain->leaves[*leaf]).producer;
  match.nodes = std::move(chain->nodes);
  match.nodes.insert(match.nodes.begin(), match.contraction);
  hook.program = reordered(std::move(chain->program), *leaf);
  for (size_t i = 0; i < chain->leaves.size(); ++i) {
    if (i == *leaf) continue;
    const auto operand = operand_of(graph, chain->leaves[i], result, channel_axis, order);
    if (!operand)
      return reject("operand ", graph.type(chain->leaves[i]), " of ", result,
                    " has neither the result's extents, nor one element a channel, nor one element");
    match.extras.push_back(chain->leaves[i]);
    hook.operands.push_back(*operand);
  }
  return match;
}

Match match_contraction(const TacticContext& cx, ir::NodeId root, bool (*is_contraction)(const Op&), int channel_axis,
                        ResultOrder order, RegionOf region_of, bool halves) {
  if (const auto found = match_epilogue(cx.graph, root, is_contraction, channel_axis))
    return region_of(cx, root, *found);
  const auto found = match_hook(cx.graph, root, is_contraction, channel_axis, order, halves);
  if (!found) return std::unexpected(found.error());
  return region_of(cx, root, *found);
}

}  // namespace kiln
