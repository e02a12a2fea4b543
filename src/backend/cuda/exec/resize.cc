#include "backend/cuda/kernels/resize/resize.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "steps/resize.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  ResizeLaunch launch;
  Function function;
};

class BoundResize final : public BoundStep {
 public:
  BoundResize(const StepInputs& inputs, std::shared_ptr<const Buffer> index, std::shared_ptr<const Buffer> weight,
              std::vector<Kernel> kernels)
      : inputs_(inputs), index_(std::move(index)), weight_(std::move(weight)), kernels_(std::move(kernels)) {}
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    const auto fits = [&](const ResizeLaunch& l) { return is_aligned(x, l.align) && is_aligned(y, l.align); };
    while (i + 1 < kernels_.size() && !fits(kernels_[i].launch)) ++i;
    ResizeArgument& a = kernels_[i].launch.argument;
    a.x = x;
    a.y = y;
    a.index = index_ ? reinterpret_cast<const int32_t*>(index_->data()) : nullptr;
    a.weight = weight_ ? reinterpret_cast<const float*>(weight_->data()) : nullptr;
    void* pointers[] = {&a};
    return launch(*arguments.stream, kernels_[i].function, kernels_[i].launch.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  std::shared_ptr<const Buffer> index_, weight_;
  std::vector<Kernel> kernels_;
};

class LoadedResize final : public LoadedStep {
 public:
  LoadedResize(const LoadArguments& arguments, const steps::Resize& step, const ResizeTuning& tuning, StepInputs inputs,
               StepCode code)
      : device_(arguments.device),
        memory_(arguments.spec.memory),
        x_(arguments.spec.inputs[0]),
        step_(step),
        tuning_(tuning),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const ResizePlan plan =
        TRY(plan_resize(step_.op, step_.from_sizes, shapes.inputs[0], shapes.outputs[0], x_.format));
    std::vector<Kernel> kernels;
    for (ResizeLaunch& launch : resize_launches(plan, step_.op.mode, bits_of(x_.dtype) / 8, tuning_.width,
                                                device_.properties().num_multiprocessors)) {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      kernels.push_back({std::move(launch), function});
    }
    if (plan.planes == 0) return std::make_unique<BoundResize>(inputs_, nullptr, nullptr, std::move(kernels));
    return std::make_unique<BoundResize>(inputs_, TRY(device_.upload(std::as_bytes(std::span(plan.index)), memory_)),
                                         TRY(device_.upload(std::as_bytes(std::span(plan.weight)), memory_)),
                                         std::move(kernels));
  }

 private:
  CudaDevice& device_;
  Allocator* memory_;
  StepTensor x_;
  steps::Resize step_;
  ResizeTuning tuning_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Resize& step, const LoadArguments& arguments) {
  TRY(require(arguments.spec.inputs.size() == 1,
              "no CUDA kernel takes a resize whose roi or scales are computed at run time"));
  const ResizeTuning tuning = TRY(from_record<ResizeTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedResize>(arguments, step, tuning, TRY(StepInputs::upload(arguments)), std::move(code));
}

}  // namespace kiln::cuda
