#include "steps/roi_align.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/sample/sample.h"

namespace kiln::cuda {

LoadResult load(const steps::RoiAlign& step, const LoadArguments& arguments) {
  const bool wide = arguments.spec.inputs[2].dtype == DType::kI64;
  const StepCode code = TRY(StepCode::load(arguments));
  return loaded_step([op = step.op, wide, inputs = TRY(StepInputs::upload(arguments)), code,
                      kernel = TRY(code.function(kRoiAlignEntry)),
                      &device = arguments.device](const StepShapes& shapes) -> BindResult {
    RoiAlignArgument argument = roi_align_argument(op, shapes.inputs[0], shapes.inputs[1], wide);
    const LaunchShape shape = sample_shape(argument.threads);
    TRY(kernel.check(shape));
    const auto fault =
        std::make_shared<IndexFault>(TRY(IndexFault::create(device, shapes.inputs[0], "its region becomes zeros")));
    auto run = [&inputs, kernel, argument, shape, fault](const RunArguments& run) mutable {
      argument.x = inputs.at(0, run);
      argument.rois = inputs.at(1, run);
      argument.batches = inputs.at(2, run);
      argument.y = run.outputs[0];
      int64_t* told = fault->address();
      void* pointers[] = {&argument, &told, nullptr};
      return launch(*run.stream, kernel, shape, pointers);
    };
    return bound_step(std::move(run), 0, [fault] { return fault->check(); });
  });
}

}  // namespace kiln::cuda
