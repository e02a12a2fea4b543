/// DimValues: numbers that bind knows, carried to the device by the launch.
#include "ops/dim_values.h"

#include "backend/cuda/kernels/fill/fill.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "steps/values.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

class ValuesTactic final : public Tactic {
 public:
  std::string_view name() const override { return "values"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override { return single_node_region(cx.graph, root); }
  std::vector<Variant> variants(const TacticContext&, const Region& region) const override {
    return {linear_variant(region, "")};
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    StepDraft draft = cuda_step(steps::Values{});
    draft.params = cx.graph.node(region.nodes[0]).op.as<ops::DimValues>()->values;
    draft.binary = TRY(compile_kernel(cx, values_source()));
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

}  // namespace kiln::cuda
