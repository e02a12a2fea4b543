/// Scatters: kernels/scatter.
#include "tactics/movement/scatter.h"

#include "backend/cpu/kernels/scatter/scatter.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class ScatterTactic final : public PlainTactic<ScatterRegions> {
  std::string_view why_not(ScatterReduction reduction, DType data) const override {
    return can_scatter(reduction, data) ? "" : "the kernel reduces f32, f16, bf16, i32 and i64";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Scatter>() {
  return list_of<ScatterTactic>();
}

}  // namespace kiln::cpu
