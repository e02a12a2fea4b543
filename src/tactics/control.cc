#include "tactics/control.h"

#include "ops/if.h"
#include "ops/loop.h"
#include "ops/reference_context.h"
#include "steps/if.h"
#include "steps/loop.h"

namespace kiln {
namespace {

std::vector<Format> linear_formats(std::span<const ir::ValueId> values) {
  return std::vector<Format>(values.size(), Format::linear());
}

/// The count of a loop, where shapes tell it: then nothing has to be read while the network runs.
std::vector<sym::Expr> known_count(const ir::Graph& graph, ir::ValueId count) {
  if (count == ir::ValueId::kNone) return {};
  if (const HostTensor* known = graph.constant(count)) return *type_of(*known).values;
  const auto& values = graph.type(count).values;
  return values ? *values : std::vector<sym::Expr>{};
}

class ControlTactic final : public Tactic {
 public:
  std::string_view name() const override { return "control"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    if (node.bodies.empty()) return reject(node.op.name(), " has no bodies");
    Region region{{root}, node.inputs, node.outputs, {}};
    if (node.op.as<ops::Loop>()) region.params = known_count(cx.graph, node.inputs[0]);
    return region;
  }

  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    Variant variant{
        .name = "bodies", .inputs = linear_formats(region.inputs), .outputs = linear_formats(region.outputs)};
    return {std::move(variant)};
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    StepDraft draft{.executor = "control"};
    const Op& op = cx.graph.node(region.nodes[0]).op;
    if (const auto* branch = op.as<ops::If>()) draft.step = steps::If{branch->decided};
    if (const auto* loop = op.as<ops::Loop>())
      draft.step = steps::Loop{loop->carried, loop->scans, loop->stacks, loop->tests, loop->decided};
    draft.params = region.params;
    return draft;
  }
};

}  // namespace

const Tactic& control_tactic() {
  static const ControlTactic tactic;
  return tactic;
}

}  // namespace kiln
