#include "backend/cuda/kernels/resize/resize.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "steps/resize.h"

namespace kiln::cuda {
namespace {

Status run_resize(const StepInputs& inputs, const Buffer* index, const Buffer* weight,
                  std::vector<Kernel<ResizeLaunch>>& kernels, const RunArguments& run) {
  const void* x = inputs.at(0, run);
  void* y = run.outputs[0];
  auto& [plan, function] =
      first_that(kernels, [&](const ResizeLaunch& l) { return is_aligned(x, l.align) && is_aligned(y, l.align); });
  plan.argument.x = x;
  plan.argument.y = y;
  plan.argument.index = index ? reinterpret_cast<const int32_t*>(index->data()) : nullptr;
  plan.argument.weight = weight ? reinterpret_cast<const float*>(weight->data()) : nullptr;
  void* pointers[] = {&plan.argument};
  return launch(*run.stream, function, plan.shape, pointers);
}

}  // namespace

LoadResult load(const steps::Resize& step, const LoadArguments& arguments) {
  TRY(require(arguments.spec.inputs.size() == 1,
              "no CUDA kernel takes a resize whose roi or scales are computed at run time"));
  const ResizeTuning tuning = TRY(from_record<ResizeTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([&device = arguments.device, memory = arguments.spec.memory, x = arguments.spec.inputs[0], step,
                      tuning, code = std::move(code), inputs = std::move(inputs)](const StepShapes& s) -> BindResult {
    const ResizePlan plan = TRY(plan_resize(step.op, step.from_sizes, s.inputs[0], s.outputs[0], x.format));
    std::vector<Kernel<ResizeLaunch>> kernels;
    for (ResizeLaunch& launch : resize_launches(plan, step.op.mode, bits_of(x.dtype) / 8, tuning.width,
                                                device.properties().num_multiprocessors))
      kernels.push_back(TRY(code.kernel(std::move(launch))));
    std::shared_ptr<const Buffer> index, weight;
    if (plan.planes != 0) {
      index = TRY(device.upload(std::as_bytes(std::span(plan.index)), memory));
      weight = TRY(device.upload(std::as_bytes(std::span(plan.weight)), memory));
    }
    return bound_step([&inputs, index, weight, kernels = std::move(kernels)](const RunArguments& run) mutable {
      return run_resize(inputs, index.get(), weight.get(), kernels, run);
    });
  });
}

}  // namespace kiln::cuda
