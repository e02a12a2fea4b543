/// Ramps and random numbers.
#include "tactics/fill.h"

#include "backend/cpu/tactics/registry.h"
#include "tensor/compute_types.h"

namespace kiln::cpu {
namespace {

class FillTactic final : public PlainTactic<FillRegions> {
  std::string_view why_not(FillOperation, DType type) const override {
    const bool fills = type == DType::kF32 || is_own_kind(type);
    return fills ? "" : "the kernel makes f32, f64, i32 and i64";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Fill>() {
  return list_of<FillTactic>();
}

}  // namespace kiln::cpu
