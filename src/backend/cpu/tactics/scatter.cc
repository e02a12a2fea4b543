/// Scatters in both modes, row-major, without a reduction: kernels/scatter.
#include "ops/scatter.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/scatter.h"
#include "tactics/movement/scatter.h"

namespace kiln::cpu {
namespace {

class ScatterTactic final : public ScatterRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    return cpu_step(steps::Scatter{*cx.graph.node(region.nodes[0]).op.as<ops::Scatter>()});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Scatter>() {
  static const ScatterTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
