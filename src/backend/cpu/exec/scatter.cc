/// Elements written over others at indices. Inputs: data, indices, updates. Payload: the op.
#include "backend/cpu/kernels/scatter/scatter.h"

#include "backend/cpu/exec/copy_step.h"
#include "plan/inferred.h"

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
  LoadedScatter(Op op, StepSpec spec, int bytes, bool wide)
      : op_(std::move(op)), spec_(std::move(spec)), bytes_(bytes), wide_(wide) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_inferred(op_, spec_, shapes));
    return std::make_unique<BoundScatter>(
        TRY(plan_scatter(*op_.as<ops::Scatter>(), bytes_, wide_, shapes.inputs[0], shapes.inputs[1])));
  }

 private:
  Op op_;
  StepSpec spec_;
  int bytes_;
  bool wide_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_scatter(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Op op = TRY(op_from_record(spec.payload));
  const auto* scatter = op.as<ops::Scatter>();
  TRY(require(scatter && scatter->reduction == ScatterReduction::kNone, "a scatter step runs ", op.name(),
              ", or one that reduces"));
  return std::make_unique<LoadedScatter>(std::move(op), spec, TRY(element_bytes(spec.inputs[0].dtype)),
                                         spec.inputs[1].dtype == DType::kI64);
}

}  // namespace kiln::cpu
