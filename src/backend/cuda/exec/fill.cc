#include "steps/fill.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/fill/arguments.h"
#include "steps/keeps_state.h"

namespace kiln::cuda {
namespace {

class BoundFill final : public BoundStep {
 public:
  BoundFill(const StepInputs& inputs, const Function& function, const FillArgument& argument)
      : inputs_(inputs), function_(function), argument_(argument) {
    constexpr uint64_t kThreads = 256;
    shape_.block[0] = kThreads;
    shape_.grid[0] = grid_blocks(static_cast<int64_t>((argument.walk.count + kThreads - 1) / kThreads));
    shape_.pdl = true;
  }
  const LaunchShape& shape() const { return shape_; }
  Status run(const RunArguments& arguments) override {
    argument_.y = arguments.outputs[0];
    argument_.alpha = inputs_.at(0, arguments);
    argument_.beta = inputs_.at(1, arguments);
    void* pointers[] = {&argument_};
    return launch(*arguments.stream, function_, shape_, pointers);
  }

 private:
  const StepInputs& inputs_;
  const Function& function_;
  FillArgument argument_;
  LaunchShape shape_;
};

class LoadedFill final : public KeepsState {
 public:
  LoadedFill(const ops::Fill& op, bool has_beta, StepInputs inputs, StepCode code, const Function& function)
      : op_(op), has_beta_(has_beta), inputs_(std::move(inputs)), code_(std::move(code)), function_(function) {}
  std::vector<std::byte> initial_state() const override { return kiln::initial_state(op_); }

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes, std::byte* state) const override {
    const Extents& y = shapes.outputs[0];
    const int64_t steps = has_beta_ ? volume(shapes.inputs[1]) : 1;
    FillArgument argument;
    argument.alpha_number = op_.alpha;
    argument.beta_number = op_.beta;
    argument.first = initial_random_state(op_);
    argument.state = reinterpret_cast<RandomState*>(state);
    argument.beta_by_axis = steps != 1;
    argument.walk.count = static_cast<uint64_t>(volume(y));
    argument.walk.rank = static_cast<int32_t>(y.size());
    for (size_t axis = 0; axis < y.size(); ++axis) argument.walk.axes[axis] = static_cast<uint64_t>(y[axis]);
    auto bound = std::make_unique<BoundFill>(inputs_, function_, argument);
    TRY(function_.check(bound->shape()));
    return bound;
  }

 private:
  ops::Fill op_;
  bool has_beta_;
  StepInputs inputs_;
  StepCode code_;
  Function function_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Fill& step, const LoadArguments& arguments) {
  TRY(require_one_type(arguments.spec));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function("fill"));
  return std::make_unique<LoadedFill>(step.op, arguments.spec.inputs[1].present, TRY(StepInputs::upload(arguments)),
                                      std::move(code), function);
}

}  // namespace kiln::cuda
