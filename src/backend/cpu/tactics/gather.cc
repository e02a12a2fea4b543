/// Gathers in their three modes, row-major: kernels/gather.
#include "ops/gather.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/movement/gather.h"

namespace kiln::cpu {
namespace {

class GatherTactic final : public GatherRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    return StepDraft{.executor = "cpu", .kernel = "gather", .payload = to_record(cx.graph.node(region.nodes[0]).op)};
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
