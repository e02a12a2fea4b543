#include "steps/scatter.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/scatter/scatter.h"

namespace kiln::cpu {
namespace {

class BoundScatter final : public BoundStep {
 public:
  explicit BoundScatter(const ScatterPlan& plan) : plan_(plan) {}
  Status run(const RunArguments& arguments) override {
    const auto& in = arguments.inputs;
    const int64_t outside = run_scatter(plan_, in[0], in[1], in[2], arguments.outputs[0]);
    return require(outside == 0, outside, " updates have indices outside their axis");
  }

 private:
  ScatterPlan plan_;
};

class LoadedScatter final : public LoadedStep {
 public:
  LoadedScatter(const ops::Scatter& op, int bytes, bool wide) : op_(op), bytes_(bytes), wide_(wide) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundScatter>(TRY(plan_scatter(op_, bytes_, wide_, shapes.inputs[0], shapes.inputs[1])));
  }

 private:
  ops::Scatter op_;
  int bytes_;
  bool wide_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Scatter& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  return std::make_unique<LoadedScatter>(step.op, TRY(element_bytes(spec.inputs[0].dtype)),
                                         spec.inputs[1].dtype == DType::kI64);
}

}  // namespace kiln::cpu
