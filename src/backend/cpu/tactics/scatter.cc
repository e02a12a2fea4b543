/// Scatters in both modes, row-major, without a reduction: kernels/scatter.
#include "ops/scatter.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/movement/scatter.h"

namespace kiln::cpu {
namespace {

class ScatterTactic final : public ScatterRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    return StepDraft{.executor = "cpu", .kernel = "scatter", .payload = to_record(cx.graph.node(region.nodes[0]).op)};
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
