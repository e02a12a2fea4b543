/// Slices in any mode: kernels/copy.
#include "ops/slice.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/slice.h"
#include "tactics/movement/slice.h"

namespace kiln::cpu {
namespace {

class SliceTactic final : public SliceRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    const SliceSpec spec = TRY(spec_of(cx.graph, node));
    StepDraft draft = cpu_step(steps::Slice{node.op.as<ops::Slice>()->mode});
    draft.params = spec.starts;
    draft.params.insert(draft.params.end(), spec.strides.begin(), spec.strides.end());
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Slice>() {
  static const SliceTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
