#include "backend/cpu/kernels/resize/resize.h"

#include "backend/cpu/exec/executor.h"
#include "steps/resize.h"

namespace kiln::cpu {
namespace {

class BoundResize : public BoundStep {
 public:
  BoundResize(Team& team, ResizePlan plan) : team_(team), plan_(std::move(plan)) {}
  int64_t workspace_bytes() const override { return plan_.workspace_bytes(team_.size()); }
  Status run(const RunArguments& arguments) override {
    run_resize(team_, plan_, arguments.inputs[0], arguments.outputs[0], arguments.workspace);
    return {};
  }

 protected:
  Team& team_;
  ResizePlan plan_;
};

/// One whose inputs decide where y lies in x.
class PlacedResize final : public BoundResize {
 public:
  PlacedResize(Team& team, ResizePlan plan, const steps::Resize& step, const ResizeHas& has, const StepShapes& shapes)
      : BoundResize(team, std::move(plan)),
        step_(step),
        in_(shapes.inputs[0]),
        out_(shapes.outputs[0]),
        num_roi_(has.roi ? shapes.inputs[1][0] : 0),
        num_scales_(has.scales ? shapes.inputs[2][0] : 0) {}
  Status run(const RunArguments& arguments) override {
    const auto floats = [&](size_t input, int64_t count) {
      return std::span(static_cast<const float*>(arguments.inputs[input]), static_cast<size_t>(count));
    };
    TRY(update_resize(plan_, step_.op, {step_.from_sizes, floats(1, num_roi_), floats(2, num_scales_)}, in_, out_));
    return BoundResize::run(arguments);
  }

 private:
  const steps::Resize& step_;
  Extents in_, out_;
  int64_t num_roi_, num_scales_;
};

class LoadedResize final : public LoadedStep {
 public:
  LoadedResize(Team& team, const steps::Resize& step, ResizeHas has, const StepTensor& x)
      : team_(team), step_(step), has_(has), x_(x) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    ResizePlan plan = TRY(plan_resize(step_.op, has_, x_.dtype, shapes.inputs[0], shapes.outputs[0], x_.format));
    if (!has_.roi && !has_.scales) return std::make_unique<BoundResize>(team_, std::move(plan));
    return std::make_unique<PlacedResize>(team_, std::move(plan), step_, has_, shapes);
  }

 private:
  Team& team_;
  steps::Resize step_;
  ResizeHas has_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Resize& step, const LoadArguments& arguments) {
  TRY(require(!step.op.antialias || step.op.mode == ResizeMode::kNearest,
              "a resize is antialiased, which takes more taps than the kernel has"));
  const std::vector<StepTensor>& inputs = arguments.spec.inputs;
  const bool more = inputs.size() > 1;
  const ResizeHas has{.sizes = step.from_sizes, .roi = more && inputs[1].present, .scales = more && inputs[2].present};
  return std::make_unique<LoadedResize>(arguments.team, step, has, inputs[0]);
}

}  // namespace kiln::cpu
