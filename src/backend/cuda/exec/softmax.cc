/// Softmax along one axis: rows, or columns, which are not the innermost axis.
#include "steps/softmax.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/softmax.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  SoftmaxLaunch launch;
  Function function;
  int64_t align = 1;
};

class BoundSoftmax final : public BoundStep {
 public:
  BoundSoftmax(const StepInputs& inputs, std::vector<Kernel> kernels) : inputs_(inputs), kernels_(std::move(kernels)) {}
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    while (i + 1 < kernels_.size() && !(is_aligned(x, kernels_[i].align) && is_aligned(y, kernels_[i].align))) ++i;
    Kernel& kernel = kernels_[i];
    int64_t* numbers = kernel.launch.numbers;
    void* pointers[] = {&x, &y, &numbers[0], &numbers[1], &numbers[2]};
    return launch(*arguments.stream, kernel.function, kernel.launch.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  std::vector<Kernel> kernels_;
};

class LoadedSoftmax final : public LoadedStep {
 public:
  LoadedSoftmax(const steps::Softmax& step, const StepTensor& x, const SoftmaxTuning& tuning, StepInputs inputs,
                StepCode code)
      : step_(step), x_(x), tuning_(tuning), inputs_(std::move(inputs)), code_(std::move(code)) {}

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = step_.lanes(x_.format, shapes.inputs[0]);
    const SoftmaxShape shape{e.outer, e.length, e.inner};
    std::vector<Kernel> kernels;
    const int64_t element = bits_of(x_.dtype) / 8;
    const auto add = [&](SoftmaxLaunch launch, int64_t align) -> Status {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      kernels.push_back({std::move(launch), function, align});
      return {};
    };
    if (const auto& columns = tuning_.columns) {
      const auto& [vec, held, stored] = *columns;
      TRY(require(held == 0 || shape.length <= most_held(held), "columns have ", shape.length,
                  " elements; the kernel's registers hold ", most_held(held)));
      if (vec > 1 && shape.inner % vec == 0 && (!stored || shape.length == held))
        TRY(add(softmax_columns_launch(shape, *columns), vec * element));
      TRY(add(softmax_columns_launch(shape, {.vec = 1, .held = held}), 1));
    } else {
      TRY(require(shape.inner == 1, "the kernel takes rows; this tensor has ", shape.inner,
                  " columns behind the axis"));
      const auto& tile = tuning_.tile;
      if (tile && tile->holds(shape.length)) TRY(add(softmax_launch(shape, &*tile), tile->vec * element));
      TRY(add(softmax_launch(shape, nullptr), 1));
    }
    return std::make_unique<BoundSoftmax>(inputs_, std::move(kernels));
  }

 private:
  steps::Softmax step_;
  StepTensor x_;
  SoftmaxTuning tuning_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Softmax& step, const LoadArguments& arguments) {
  const SoftmaxTuning tuning = TRY(from_record<SoftmaxTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedSoftmax>(step, arguments.spec.inputs[0], tuning, TRY(StepInputs::upload(arguments)),
                                         std::move(code));
}

}  // namespace kiln::cuda
