/// DimValues: numbers that bind knows, written when the step runs.
#include "ops/dim_values.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/values.h"
#include "tactics/region.h"

namespace kiln::cpu {
namespace {

class ValuesTactic final : public Tactic {
 public:
  std::string_view name() const override { return "values"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return single_node_region(cx.graph, root); }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    StepDraft draft = cpu_step(steps::Values{});
    draft.params = cx.graph.node(region.nodes[0]).op.as<ops::DimValues>()->values;
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::DimValues>() {
  static const ValuesTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
