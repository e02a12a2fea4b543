/// Layer, instance and group normalisation: kernels/lanes.
#include "tactics/normalization.h"

#include "backend/cpu/tactics/registry.h"
#include "ops/normalization.h"

namespace kiln::cpu {
namespace {

class NormalizationTactic final : public NormalizationRegions {
 public:
  Result<StepDraft> compile(const TacticContext&, const Region& region, const Variant&) const override {
    StepDraft draft = cpu_step(TRY(step_of(region)));
    draft.in_place_input = 0;
    return draft;
  }

 protected:
  std::string_view why_not(DType type) const override {
    return type == DType::kF32 ? "" : "the kernel's coefficients are f32";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Normalization>() {
  static const NormalizationTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
