/// Running sums and products: kernels/scan.
#include "tactics/cumulative.h"

#include "backend/cuda/compile/scan/cumulative.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

class CumulativeTactic final : public CumulativeRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    const auto operation = cx.graph.node(region.nodes[0]).op.as<ops::Cumulative>()->operation;
    step.binary = TRY(compile_kernel(cx, cumulative_source(operation, cx.graph.type(region.inputs[0]).dtype)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Cumulative>() {
  return list_of<CumulativeTactic>();
}

}  // namespace kiln::cuda
