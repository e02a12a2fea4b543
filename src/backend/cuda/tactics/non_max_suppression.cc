/// The best boxes that do not overlap much: kernels/sort.
#include "steps/non_max_suppression.h"

#include "backend/cuda/compile/sort/non_max_suppression.h"
#include "backend/cuda/kernels/sort/non_max_suppression.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class NonMaxSuppressionTactic final : public WholeNode<ops::NonMaxSuppression, steps::NonMaxSuppression> {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &boxes = cx.graph.type(region.inputs[0]), &selected = cx.graph.type(region.outputs[0]);
    const int64_t most = selected.max_extents()[0] + 1;
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(
        cx, non_max_suppression_source(boxes.dtype, selected.dtype, may_be_long(boxes.max_extents()[1], most))));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::NonMaxSuppression>() {
  return list_of<NonMaxSuppressionTactic>();
}

}  // namespace kiln::cuda
