/// Layer, instance and group normalisation: kernels/lanes.
#include "tactics/normalization.h"

#include "backend/cpu/tactics/registry.h"
#include "ops/normalization.h"

namespace kiln::cpu {
namespace {

class NormalizationTactic final : public PlainTactic<NormalizationRegions> {
  std::string_view why_not(DType type) const override {
    return type == DType::kF32 ? "" : "the kernel's coefficients are f32";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Normalization>() {
  return list_of<NormalizationTactic>();
}

}  // namespace kiln::cpu
