/// DimValues: numbers that bind knows, carried to the device by the launch.
#include "ops/dim_values.h"

#include "backend/cuda/compile/fill/fill.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/fill.h"

namespace kiln::cuda {
namespace {

class ValuesTactic final : public ValuesRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, values_source()));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::DimValues>() {
  return list_of<ValuesTactic>();
}

}  // namespace kiln::cuda
