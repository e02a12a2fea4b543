/// Concatenation, row-major or channels last: kernels/copy.
#include "ops/concatenation.h"

#include "backend/cpu/tactics/registry.h"
#include "steps/concatenation.h"
#include "tactics/movement/concatenation.h"

namespace kiln::cpu {
namespace {

class ConcatenationTactic final : public ConcatenationRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return cpu_step(steps::Concatenation{.axis = TRY(position_of_axis(cx, region, variant))});
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Concatenation>() {
  static const ConcatenationTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
