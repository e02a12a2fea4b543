#include "steps/top_k.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/sort/top_k.h"
#include "steps/by_function.h"

namespace kiln::cuda {
namespace {

class BoundTopK final : public BoundStep {
 public:
  BoundTopK(const StepInputs& inputs, TopKPlan plan, std::vector<Function> kernels)
      : inputs_(inputs), plan_(std::move(plan)), kernels_(std::move(kernels)) {}
  int64_t workspace_bytes() const override { return plan_.workspace_bytes; }
  Status run(const RunArguments& arguments) override {
    TopKArgument& argument = plan_.argument;
    argument.x = inputs_.at(0, arguments);
    argument.values = arguments.outputs[0];
    argument.indices = arguments.outputs[1];
    plan_.place(arguments.workspace);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      void* pointers[] = {&argument, &plan_.calls[i].pass, nullptr};
      TRY(launch(*arguments.stream, kernels_[i], plan_.calls[i].shape, pointers));
    }
    return {};
  }

 private:
  const StepInputs& inputs_;
  TopKPlan plan_;
  const std::vector<Function> kernels_;  ///< one a call
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::TopK& step, const LoadArguments& arguments) {
  const DType dtype = arguments.spec.inputs[0].dtype;
  const bool wide = arguments.spec.outputs[1].dtype == DType::kI64;
  return loaded_step([step, dtype, wide, inputs = TRY(StepInputs::upload(arguments)),
                      code = TRY(StepCode::load(arguments))](const StepShapes& shapes) -> BindResult {
    TopKPlan plan = TRY(plan_top_k({.lanes = step.lanes(shapes.inputs[0]),
                                    .k = shapes.outputs[0][static_cast<size_t>(step.axis)],
                                    .dtype = dtype,
                                    .largest = step.largest,
                                    .wide_indices = wide}));
    std::vector<Function> kernels;
    for (const TopKCall& call : plan.calls) {
      kernels.push_back(TRY(code.function(call.entry)));
      TRY(kernels.back().check(call.shape));
    }
    return std::make_unique<BoundTopK>(inputs, std::move(plan), std::move(kernels));
  });
}

}  // namespace kiln::cuda
