/// Concatenation, row-major or channels last: kernels/move.
#include "ops/concatenation.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/movement/concatenation.h"

namespace kiln::cuda {
namespace {

class ConcatenationTactic final : public ConcatenationRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const Format& format = variant.outputs[0];
    const int position = TRY(position_of_axis(cx, region, variant));
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    step.binary = TRY(compile_moves(device_of(cx), cx.graph.type(region.outputs[0]).dtype, [&](ExtentsOf at) {
      std::vector<Extents> inputs;
      for (const ir::ValueId input : region.inputs)
        inputs.push_back(in_memory_order(format, (cx.graph.type(input).*at)()));
      return concatenation_copies(inputs, position);
    }));
    return step;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Concatenation>() {
  return list_of<ConcatenationTactic>();
}

}  // namespace kiln::cuda
