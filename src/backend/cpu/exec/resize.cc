/// Resampling in any unblocked format. Payload: the op, and whether its extents came from its sizes input.
#include "backend/cpu/kernels/resize/resize.h"

#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {
namespace {

class BoundResize final : public BoundStep {
 public:
  BoundResize(Team& team, ResizePlan plan) : team_(team), plan_(std::move(plan)) {}
  int64_t workspace_bytes() const override { return plan_.workspace_bytes(team_.size()); }
  Status run(const RunArguments& arguments) override {
    run_resize(team_, plan_, arguments.inputs[0], arguments.outputs[0], arguments.workspace);
    return {};
  }

 private:
  Team& team_;
  ResizePlan plan_;
};

class LoadedResize final : public LoadedStep {
 public:
  LoadedResize(Team& team, Op op, bool from_sizes, const StepTensor& x)
      : team_(team), op_(std::move(op)), from_sizes_(from_sizes), x_(x) {}
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    return std::make_unique<BoundResize>(team_, TRY(plan_resize(*op_.as<ops::Resize>(), from_sizes_, x_.dtype,
                                                                shapes.inputs[0], shapes.outputs[0], x_.format)));
  }

 private:
  Team& team_;
  Op op_;
  bool from_sizes_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_resize(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Op op = TRY(op_from_record(TRY(spec.payload.get_record("resize"))));
  TRY(require(op.as<ops::Resize>() && !spec.inputs.empty(), "a resize step runs ", op.name()));
  return std::make_unique<LoadedResize>(arguments.team, std::move(op), TRY(spec.payload.get_bool("from_sizes")),
                                        spec.inputs[0]);
}

}  // namespace kiln::cpu
