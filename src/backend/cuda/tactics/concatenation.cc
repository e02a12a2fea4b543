/// Concatenation, row-major or channels last: kernels/move.
#include "ops/concatenation.h"

#include "backend/cuda/exec/concatenation.h"
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

class ConcatenationOfViewsTactic final : public ConcatenationOfViewsRegions {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto step = TRY(from_record<steps::Concatenation>(region.data));
    const TensorType& y = cx.graph.type(region.outputs[0]);
    StepDraft result = cuda_step(TRY(draft(cx, region, variant)));
    result.binary = TRY(compile_moves(device_of(cx), y.dtype, [&](ExtentsOf at) {
      std::vector<int64_t> params;
      for (const sym::Expr& param : region.params)
        params.push_back(at == &TensorType::opt_extents ? param.opt() : param.max());
      return copies_of_views((y.*at)(), region.inputs.size(), params, step.axis);
    }));
    return result;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Concatenation>() {
  return list_of<ConcatenationOfViewsTactic, ConcatenationTactic>();
}

}  // namespace kiln::cuda
