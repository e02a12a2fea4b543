#include "steps/scatter.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/scatter/reduce.h"
#include "backend/cuda/kernels/scatter/scatter.h"

namespace kiln::cuda {
namespace {

/// The fault of a bound scatter.
Result<std::shared_ptr<IndexFault>> fault_of(CudaDevice& device, const StepShapes& shapes) {
  return std::make_shared<IndexFault>(TRY(IndexFault::create(device, shapes.inputs[0], "its update is left out")));
}

struct ScatterKernels {
  ScatterLaunch launch;
  Function copy, claim, write;
};

/// The widest units first; the last take any address.
Result<std::vector<ScatterKernels>> kernels_of(const ops::Scatter& op, int element_bytes, const StepCode& code,
                                               const Function& claim, const StepShapes& shapes) {
  std::vector<ScatterKernels> ways;
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

Status run_scatter(const StepInputs& inputs, std::vector<ScatterKernels>& ways, int64_t* fault,
                   const RunArguments& run) {
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

/// A scatter without a reduction.
LoadResult load_writes(const ops::Scatter& op, int bytes, const LoadArguments& arguments) {
  StepCode code = TRY(StepCode::load(arguments));
  const Function claim = TRY(code.function(kScatterClaimEntry));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([op, bytes, &device = arguments.device, code = std::move(code), claim,
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    std::vector<ScatterKernels> ways = TRY(kernels_of(op, bytes, code, claim, shapes));
    const int64_t workspace_bytes = ways.back().launch.workspace_bytes();
    const auto fault = TRY(fault_of(device, shapes));
    auto run = [&inputs, ways = std::move(ways), fault](const RunArguments& run) mutable {
      return run_scatter(inputs, ways, fault->address(), run);
    };
    return bound_step(std::move(run), workspace_bytes, [fault] { return fault->check(); });
  });
}

/// What a bound scatter with a reduction launches.
struct Reduction {
  std::vector<Kernel<ScatterLaunch>> copies;  ///< the widest units first; the last take any address
  ScatterReducePlan plan;
  std::optional<Kernel<ScatterReducePlan::Call>> targets;
  std::vector<Kernel<TopKCall>> sort;
  std::vector<Kernel<ScatterReducePlan::Call>> reduce;

  static Result<Reduction> create(const ops::Scatter& op, int element_bytes, const StepCode& code,
                                  const StepShapes& shapes) {
    Reduction all;
    for (const int most : {16, element_bytes}) {
      const ScatterLaunch launch = TRY(scatter_launch(op, element_bytes, most, shapes.inputs[0], shapes.inputs[1]));
      const auto copy = code.function(scatter_copy_entry(launch.copy_bytes));
      if (!copy) continue;
      TRY(copy->check(launch.shapes[0]));
      all.copies.push_back({launch, *copy});
    }
    TRY(require(!all.copies.empty() && all.copies.back().launch.copy_bytes == element_bytes,
                "a scatter's code has no kernels for elements of ", element_bytes, " bytes"));
    for (Kernel<ScatterLaunch>& copy : all.copies) copy.launch.argument.slices = 0;  // they have no owners
    all.plan = TRY(plan_scatter_reduce(op, element_bytes, shapes.inputs[0], shapes.inputs[1]));
    if (all.plan.reduce.empty()) return all;
    all.targets = TRY(code.kernel(all.plan.targets));
    for (const TopKCall& call : all.plan.sort) all.sort.push_back(TRY(code.kernel(call)));
    for (const ScatterReducePlan::Call& call : all.plan.reduce) all.reduce.push_back(TRY(code.kernel(call)));
    return all;
  }

  Status run(const StepInputs& inputs, int64_t* fault, const RunArguments& run) {
    TRY(copy_data(inputs.at(0, run), run));
    if (!targets) return {};
    plan.place(run.workspace);
    ScatterReduceArgument& argument = plan.argument;
    argument.scatter.indices = inputs.at(1, run);
    argument.scatter.updates = inputs.at(2, run);
    argument.scatter.y = run.outputs[0];
    void* pointers[] = {&argument, &fault, nullptr};
    TRY(launch(*run.stream, targets->function, targets->launch.shape, pointers));
    for (auto& [call, function] : sort) {
      void* of_pass[] = {&argument.sort, &call.pass, nullptr};
      TRY(launch(*run.stream, function, call.shape, of_pass));
    }
    for (const auto& [call, function] : reduce) TRY(launch(*run.stream, function, call.shape, pointers));
    return {};
  }

 private:
  Status copy_data(const void* data, const RunArguments& run) {
    void* y = run.outputs[0];
    if (y == data) return {};  // a cache is updated in place
    auto& [to_copy, function] = first_that(
        copies, [&](const ScatterLaunch& l) { return is_aligned(data, l.copy_bytes) && is_aligned(y, l.copy_bytes); });
    to_copy.argument.data = data;
    to_copy.argument.y = y;
    void* pointers[] = {&to_copy.argument, nullptr};
    return launch(*run.stream, function, to_copy.shapes[0], pointers);
  }
};

LoadResult load_reduction(const ops::Scatter& op, int bytes, const LoadArguments& arguments) {
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([op, bytes, &device = arguments.device, code = std::move(code),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    Reduction reduction = TRY(Reduction::create(op, bytes, code, shapes));
    const int64_t workspace_bytes = reduction.plan.workspace_bytes;
    const auto fault = TRY(fault_of(device, shapes));
    auto run = [&inputs, reduction = std::move(reduction), fault](const RunArguments& run) mutable {
      return reduction.run(inputs, fault->address(), run);
    };
    return bound_step(std::move(run), workspace_bytes, [fault] { return fault->check(); });
  });
}

}  // namespace

LoadResult load(const steps::Scatter& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  const auto load_it = step.op.reduction == ScatterReduction::kNone ? load_writes : load_reduction;
  return load_it(step.op, bytes, arguments);
}

}  // namespace kiln::cuda
