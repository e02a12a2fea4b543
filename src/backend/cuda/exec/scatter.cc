#include "steps/scatter.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/scatter/scatter.h"

namespace kiln::cuda {
namespace {

struct Kernels {
  ScatterLaunch launch;
  Function copy, claim, write;
};

/// The widest units first; the last take any address.
Result<std::vector<Kernels>> kernels_of(const ops::Scatter& op, int element_bytes, const StepCode& code,
                                        const Function& claim, const StepShapes& shapes) {
  std::vector<Kernels> ways;
  for (const int most : {16, element_bytes}) {
    const ScatterLaunch launch = TRY(scatter_launch(op, element_bytes, most, shapes.inputs[0], shapes.inputs[1]));
    const auto copy = code.function(scatter_copy_entry(launch.copy_bytes)),
               write = code.function(scatter_write_entry(launch.row_bytes));
    if (!copy || !write) continue;
    for (const Function* function : {&*copy, &claim, &*write})
      for (const LaunchShape& shape : launch.shapes) TRY(function->check(shape));
    ways.push_back({launch, *copy, claim, *write});
  }
  TRY(require(!ways.empty() && std::max(ways.back().launch.copy_bytes, ways.back().launch.row_bytes) == element_bytes,
              "a scatter's code has no kernels for elements of ", element_bytes, " bytes"));
  return ways;
}

Status run_scatter(const StepInputs& inputs, std::vector<Kernels>& ways, int64_t* fault, const RunArguments& run) {
  const void *data = inputs.at(0, run), *updates = inputs.at(2, run);
  void* y = run.outputs[0];
  auto& [plan, copy, claim, write] = first_that(ways, [&](const ScatterLaunch& l) {
    return is_aligned(data, l.copy_bytes) && is_aligned(updates, l.row_bytes) &&
           is_aligned(y, std::max(l.copy_bytes, l.row_bytes));
  });
  plan.argument.data = data;
  plan.argument.indices = inputs.at(1, run);
  plan.argument.updates = updates;
  plan.argument.y = y;
  plan.argument.owners = reinterpret_cast<int32_t*>(run.workspace);
  void* pointers[] = {&plan.argument, &fault, nullptr};
  if (y != data) TRY(launch(*run.stream, copy, plan.shapes[0], pointers));  // else a cache is updated in place
  TRY(launch(*run.stream, claim, plan.shapes[1], pointers));
  return launch(*run.stream, write, plan.shapes[2], pointers);
}

}  // namespace

LoadResult load(const steps::Scatter& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  TRY(require(step.op.reduction == ScatterReduction::kNone, "a scatter step on a GPU cannot reduce"));
  StepCode code = TRY(StepCode::load(arguments));
  const Function claim = TRY(code.function(kScatterClaimEntry));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([op = step.op, bytes, &device = arguments.device, code = std::move(code), claim,
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    std::vector<Kernels> ways = TRY(kernels_of(op, bytes, code, claim, shapes));
    const int64_t workspace_bytes = ways.back().launch.workspace_bytes();
    const auto fault =
        std::make_shared<IndexFault>(TRY(IndexFault::create(device, shapes.inputs[0], "its update is left out")));
    auto run = [&inputs, ways = std::move(ways), fault](const RunArguments& run) mutable {
      return run_scatter(inputs, ways, fault->address(), run);
    };
    return bound_step(std::move(run), workspace_bytes, [fault] { return fault->check(); });
  });
}

}  // namespace kiln::cuda
