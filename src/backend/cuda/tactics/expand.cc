/// Broadcasts that no nest could look through: kernels/move.
#include "ops/expand.h"

#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/expand.h"

namespace kiln::cuda {
namespace {

class ExpandTactic final : public ExpandRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_moves(device_of(cx), x.dtype,
                                    [&](ExtentsOf at) { return std::vector{expand_copy((x.*at)(), (y.*at)())}; }));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Expand>() {
  return list_of<ExpandTactic>();
}

}  // namespace kiln::cuda
