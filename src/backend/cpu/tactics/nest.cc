#include "backend/cpu/tactics/nest.h"

#include "backend/cpu/tactics/registry.h"
#include "tactics/nest.h"

namespace kiln::cpu {
namespace {

class NestTactic final : public NestRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft draft = cpu_step(TRY(step_of(region)));
    draft.in_place_input = in_place_input(cx, region, variant);
    return draft;
  }
};

}  // namespace

const Tactic& nest_tactic() {
  static const NestTactic tactic;
  return tactic;
}

}  // namespace kiln::cpu
