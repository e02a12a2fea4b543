/// Transposes: copies, or nothing at all where the formats around them already have the order.
#include "ops/transpose.h"

#include "backend/cpu/tactics/attention.h"
#include "backend/cpu/tactics/registry.h"
#include "steps/transpose.h"
#include "tactics/movement/transpose.h"

namespace kiln::cpu {
namespace {

class TransposeTactic final : public TransposeRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
    if (is_view(perm, variant)) return StepDraft();
    return cpu_step(steps::Transpose{perm});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Transpose>() {
  static const TransposeTactic tactic;
  static const Tactic* const kList[] = {&attention_tactic(), &tactic};
  return kList;
}

}  // namespace kiln::cpu
