#include "steps/roi_align.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/sample/sample.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::RoiAlign& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype, rois = arguments.spec.inputs[1].dtype;
  const bool wide = arguments.spec.inputs[2].dtype == DType::kI64;
  return loaded_step([op = step.op, dtype, rois, wide, &team = arguments.team](const StepShapes& shapes) {
    const Extents& x = shapes.inputs[0];
    const RoiAlignShape shape{.batches = x[0],
                              .channels = x[1],
                              .regions = shapes.inputs[1][0],
                              .image = {x[2], x[3]},
                              .dtype = dtype,
                              .rois = rois,
                              .wide_indices = wide};
    return bound_step([op, &team, shape](const RunArguments& run) {
      return roi_align(team, op, shape, run.inputs[0], run.inputs[1], run.inputs[2], run.outputs[0])
          .check("batch index");
    });
  });
}

}  // namespace kiln::cpu
