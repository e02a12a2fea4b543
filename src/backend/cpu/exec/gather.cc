/// Elements picked by indices. Inputs: data, indices. Payload: the op.
#include "backend/cpu/kernels/gather/gather.h"

#include "backend/cpu/exec/copy_step.h"
#include "plan/inferred.h"

namespace kiln::cpu {
namespace {

class BoundGather final : public BoundStep {
 public:
  BoundGather(Team& team, const GatherPlan& plan) : team_(team), plan_(plan) {}
  Status run(const RunArguments& arguments) override {
    const int64_t outside = run_gather(team_, plan_, arguments.inputs[0], arguments.inputs[1], arguments.outputs[0]);
    return require(outside == 0, outside, " indices are outside their axis");
  }

 private:
  Team& team_;
  GatherPlan plan_;
};

class LoadedGather final : public LoadedStep {
 public:
  LoadedGather(Team& team, Op op, StepSpec spec, int bytes, bool wide)
      : team_(team), op_(std::move(op)), spec_(std::move(spec)), bytes_(bytes), wide_(wide) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_inferred(op_, spec_, shapes));
    return std::make_unique<BoundGather>(
        team_, TRY(plan_gather(*op_.as<ops::Gather>(), bytes_, wide_, shapes.inputs[0], shapes.inputs[1])));
  }

 private:
  Team& team_;
  Op op_;
  StepSpec spec_;
  int bytes_;
  bool wide_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_gather(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Op op = TRY(op_from_record(spec.payload));
  TRY(require(op.as<ops::Gather>(), "a gather step runs ", op.name()));
  return std::make_unique<LoadedGather>(arguments.team, std::move(op), spec, TRY(element_bytes(spec.inputs[0].dtype)),
                                        spec.inputs[1].dtype == DType::kI64);
}

}  // namespace kiln::cpu
