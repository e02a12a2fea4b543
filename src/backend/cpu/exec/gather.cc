#include "steps/gather.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/gather/gather.h"

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
  LoadedGather(Team& team, const ops::Gather& op, int bytes, bool wide)
      : team_(team), op_(op), bytes_(bytes), wide_(wide) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundGather>(team_,
                                         TRY(plan_gather(op_, bytes_, wide_, shapes.inputs[0], shapes.inputs[1])));
  }

 private:
  Team& team_;
  ops::Gather op_;
  int bytes_;
  bool wide_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Gather& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  return std::make_unique<LoadedGather>(arguments.team, step.op, TRY(element_bytes(spec.inputs[0].dtype)),
                                        spec.inputs[1].dtype == DType::kI64);
}

}  // namespace kiln::cpu
