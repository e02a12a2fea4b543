/// Reductions along any axes of a row-major tensor. Payload: axes, average.
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/reduce.h"

namespace kiln::cuda {
namespace {

class BoundReduceAxes final : public BoundStep {
 public:
  BoundReduceAxes(const StepInputs& inputs, const Function& function, const AxesLaunch& launch)
      : inputs_(inputs), function_(function), launch_(launch) {}
  Status run(const RunArguments& arguments) override {
    launch_.argument.x = inputs_.at(0, arguments);
    launch_.argument.y = arguments.outputs[0];
    void* pointers[] = {&launch_.argument};
    return launch(*arguments.stream, function_, launch_.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  const Function& function_;
  AxesLaunch launch_;
};

class LoadedReduceAxes final : public LoadedStep {
 public:
  LoadedReduceAxes(std::vector<bool> reduced, bool average, StepInputs inputs, StepCode code, const Function& function)
      : reduced_(std::move(reduced)),
        average_(average),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        function_(function) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    int64_t results = 1;
    for (size_t axis = 0; axis < reduced_.size(); ++axis) results *= reduced_[axis] ? 1 : shapes.inputs[0][axis];
    TRY(require_count(shapes.outputs[0], results, "a reduction's result"));
    const AxesLaunch launch = TRY(reduce_axes_launch(shapes.inputs[0], reduced_, average_));
    TRY(function_.check(launch.shape));
    return std::make_unique<BoundReduceAxes>(inputs_, function_, launch);
  }

 private:
  std::vector<bool> reduced_;
  bool average_;
  StepInputs inputs_;
  StepCode code_;
  Function function_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_reduce_axes(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_one_type(spec));
  const int rank = spec.inputs[0].rank;
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : TRY(spec.payload.get_ints("axes")))
    reduced[static_cast<size_t>(TRY(normalize_axis(axis, rank)))] = true;
  const bool average = TRY(spec.payload.get_bool("average"));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function("reduce_axes"));
  return std::make_unique<LoadedReduceAxes>(std::move(reduced), average, TRY(StepInputs::upload(arguments)),
                                            std::move(code), function);
}

}  // namespace kiln::cuda
