#include "steps/fill.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/fill/arguments.h"
#include "steps/loaded_op.h"

namespace kiln::cuda {
namespace {

FillArgument argument_of(const ops::Fill& op, bool has_beta, const StepShapes& shapes, std::byte* state) {
  const Extents& y = shapes.outputs[0];
  FillArgument argument;
  argument.alpha_number = op.alpha;
  argument.beta_number = op.beta;
  argument.first = initial_random_state(op);
  argument.state = reinterpret_cast<RandomState*>(state);
  argument.beta_by_axis = has_beta && volume(shapes.inputs[1]) != 1;
  argument.walk.count = static_cast<uint64_t>(volume(y));
  argument.walk.rank = static_cast<int32_t>(y.size());
  for (size_t axis = 0; axis < y.size(); ++axis) argument.walk.axes[axis] = static_cast<uint64_t>(y[axis]);
  return argument;
}

}  // namespace

LoadResult load(const steps::Fill& step, const LoadArguments& arguments) {
  TRY(require_one_type(arguments.spec));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function("fill"));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  auto bind = [has_beta = arguments.spec.inputs[1].present, code = std::move(code), function,
               inputs = std::move(inputs)](const Op& op, const StepShapes& shapes, std::byte* state) -> BindResult {
    const FillArgument whole = argument_of(*op.as<ops::Fill>(), has_beta, shapes, state);
    constexpr uint64_t kThreads = 256;
    LaunchShape shape;
    shape.block[0] = kThreads;
    shape.grid[0] = grid_blocks(static_cast<int64_t>((whole.walk.count + kThreads - 1) / kThreads));
    shape.pdl = true;
    TRY(function.check(shape));
    return bound_step([&inputs, function, argument = whole, shape](const RunArguments& run) mutable {
      argument.y = run.outputs[0];
      argument.alpha = inputs.at(0, run);
      argument.beta = inputs.at(1, run);
      void* pointers[] = {&argument};
      return launch(*run.stream, function, shape, pointers);
    });
  };
  return loaded_op(step.op, std::move(bind));
}

}  // namespace kiln::cuda
