/// Gathers in their three modes, row-major: kernels/gather.
#include "ops/gather.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/gather.h"
#include "tactics/movement/gather.h"

namespace kiln::cpu {
namespace {

class GatherTactic final : public GatherRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    return cpu_step(steps::Gather{*cx.graph.node(region.nodes[0]).op.as<ops::Gather>()});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Gather>() {
  static const GatherTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
