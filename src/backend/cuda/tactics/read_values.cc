/// ReadValues: numbers of the device's memory that the host reads.
#include "steps/read_values.h"

#include "backend/cuda/compile/fill/fill.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/whole_node.h"

namespace kiln::cuda {
namespace {

class ReadValuesTactic final : public WholeNode<ops::ReadValues, steps::ReadValues> {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_kernel(cx, read_values_source(cx.graph.type(region.inputs[0]).dtype)));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::ReadValues>() {
  return list_of<ReadValuesTactic>();
}

}  // namespace kiln::cuda
