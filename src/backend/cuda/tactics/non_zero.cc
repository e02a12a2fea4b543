/// Coordinates of the elements that are not zero: kernels/scan.
#include "steps/non_zero.h"

#include "backend/cuda/compile/scan/non_zero.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class NonZeroTactic final : public WholeNode<ops::NonZero, steps::NonZero> {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, non_zero_source(x.dtype, y.dtype)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::NonZero>() {
  return list_of<NonZeroTactic>();
}

}  // namespace kiln::cuda
