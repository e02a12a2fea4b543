/// Ramps and random numbers: kernels/fill.
#include "tactics/fill.h"

#include "backend/cuda/compile/fill/fill.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

class FillTactic final : public FillRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    const FillOperation operation = cx.graph.node(region.nodes[0]).op.as<ops::Fill>()->operation;
    step.binary = TRY(compile_kernel(cx, fill_source(operation, cx.graph.type(region.outputs[0]).dtype)));
    return step;
  }

 private:
  std::string_view why_not(FillOperation operation, DType type) const override {
    return can_fill(operation, type) ? "" : "the kernel makes f32, f16, bf16, f64, i32 and i64";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Fill>() {
  return list_of<FillTactic>();
}

}  // namespace kiln::cuda
