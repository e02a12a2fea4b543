#include "steps/normalization.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/normalize.h"
#include "steps/by_function.h"

namespace kiln::cpu {
namespace {

const float* coefficients(const RunArguments& run, size_t input) {
  return static_cast<const float*>(run.inputs[input]);
}

std::unique_ptr<BoundStep> rows_step(Team& team, const steps::Normalization& step, DType dtype, const Extents& x) {
  const LaneExtents e = step.lanes(x);
  const RowNorm shape{.rows = e.outer,
                      .length = e.length,
                      .epsilon = step.epsilon,
                      .centering = step.centered ? Centering::kMean : Centering::kNone,
                      .dtype = dtype};
  return bound_step([&team, shape](const RunArguments& run) {
    normalize_rows(team, shape, run.inputs[0], coefficients(run, 1), coefficients(run, 2), run.outputs[0]);
  });
}

std::unique_ptr<BoundStep> planes_step(Team& team, const steps::Normalization& step, const StepTensor& type,
                                       const Extents& x) {
  const GroupNorm shape{.n = x[0],
                        .channels = x[1],
                        .plane = volume(std::span(x).subspan(2)),
                        .groups = step.groups,
                        .epsilon = step.epsilon,
                        .dtype = type.dtype};
  if (type.format.is_linear())
    return bound_step([&team, shape](const RunArguments& run) {
      normalize_nchw(team, shape, run.inputs[0], coefficients(run, 1), coefficients(run, 2), run.outputs[0]);
    });
  const auto channels_last = [&team, shape](const RunArguments& run) {
    normalize_nhwc(team, shape, run.inputs[0], coefficients(run, 1), coefficients(run, 2), run.outputs[0],
                   run.workspace);
  };
  return bound_step(channels_last, normalize_nhwc_workspace(shape));
}

}  // namespace

LoadResult load(const steps::Normalization& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require(spec.inputs.size() == steps::Normalization::kInputs, "the CPU has no normalisation that quantizes"));
  for (const size_t i : {1, 2})
    TRY(require(!spec.inputs[i].present || spec.inputs[i].dtype == DType::kF32, "scale or bias of a normalisation is ",
                spec.inputs[i].dtype, "; f32 is needed"));
  return loaded_step([step, x = spec.inputs[0], &team = arguments.team](const StepShapes& shapes) {
    return step.rows ? rows_step(team, step, x.dtype, shapes.inputs[0]) : planes_step(team, step, x, shapes.inputs[0]);
  });
}

}  // namespace kiln::cpu
