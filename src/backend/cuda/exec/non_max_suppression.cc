#include "steps/non_max_suppression.h"

#include <bit>

#include "backend/cuda/device/fault_word.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/exec/tell_sizes.h"
#include "backend/cuda/kernels/sort/non_max_suppression.h"

namespace kiln::cuda {
namespace {

/// What a kernel that met such a threshold has told.
Status check_threshold(const FaultWord& fault) {
  const std::optional<int64_t> bits = fault.take();
  if (!bits) [[likely]]
    return {};
  return error(Code::kInvalidArgument, "iou_threshold is ", std::bit_cast<float>(static_cast<uint32_t>(*bits)),
               ", outside [0, 1]; nothing was selected");
}

}  // namespace

LoadResult load(const steps::NonMaxSuppression& step, const LoadArguments& arguments) {
  const StepCode code = TRY(StepCode::load(arguments));
  return loaded_step([step, types = StepTypes(arguments.spec), inputs = TRY(StepInputs::upload(arguments)), code,
                      suppress = TRY(code.function(kSuppressBoxesEntry)),
                      starts = TRY(code.function(kSuppressStartsEntry)),
                      store = TRY(code.function(kStoreSelectedEntry)),
                      &device = arguments.device](const StepShapes& shapes) -> BindResult {
    NonMaxSuppressionPlan plan = plan_non_max_suppression(step, types, shapes);
    TRY(suppress.check(plan.suppress));
    TRY(starts.check(plan.starts));
    TRY(store.check(plan.store));
    std::vector<Kernel<TopKCall>> sort;
    std::vector<Kernel<NonMaxSuppressionPlan::Call>> calls;
    if (plan.is_long) {
      for (const TopKCall& call : plan.sort.calls) sort.push_back(TRY(code.kernel(call)));
      for (const NonMaxSuppressionPlan::Call& call : plan.calls) calls.push_back(TRY(code.kernel(call)));
    }
    const auto fault = std::make_shared<FaultWord>(TRY(FaultWord::create(device)));
    auto run = [&inputs, &device, suppress, starts, store, plan, fault, sort = std::move(sort),
                calls = std::move(calls)](const RunArguments& run) mutable -> Status {
      NonMaxSuppressionArgument& argument = plan.argument;
      const void** const limits[] = {&argument.boxes, &argument.scores, &argument.most, &argument.iou, &argument.score};
      for (size_t i = 0; i < inputs.size(); ++i) *limits[i] = inputs.at(i, run);
      argument.selected = run.outputs[0];
      argument.number = static_cast<int32_t*>(run.outputs[1]);
      plan.place(run.workspace);
      int64_t* told = fault->address();
      for (auto& [call, function] : sort) {
        void* pointers[] = {&plan.sort.argument, &call.pass, nullptr};
        TRY(launch(*run.stream, function, call.shape, pointers));
      }
      for (auto& [call, function] : calls) {
        void* const second = &call == &calls[0].launch ? static_cast<void*>(&told) : &call.round;
        void* pointers[] = {&plan.long_argument, second, nullptr};
        TRY(launch(*run.stream, function, call.shape, pointers));
      }
      void* pointers[] = {&argument, &told, nullptr};
      if (!plan.is_long) TRY(launch(*run.stream, suppress, plan.suppress, pointers));
      TRY(launch(*run.stream, starts, plan.starts, pointers));
      TRY(launch(*run.stream, store, plan.store, pointers));
      return tell_sizes(device, run, argument.found, 1);
    };
    return bound_step(std::move(run), plan.workspace_bytes, [fault] { return check_threshold(*fault); });
  });
}

}  // namespace kiln::cuda
