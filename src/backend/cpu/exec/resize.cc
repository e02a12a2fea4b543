/// Resampling in any unblocked format. Inputs: x, and where a run has them its roi and scales. Payload: the op, and
/// whether its extents came from its sizes input.
#include "backend/cpu/kernels/resize/resize.h"

#include "backend/cpu/exec/checks.h"

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
  PlacedResize(Team& team, ResizePlan plan, Op op, const ResizeHas& has, const StepShapes& shapes)
      : BoundResize(team, std::move(plan)),
        op_(std::move(op)),
        sized_(has.sizes),
        in_(shapes.inputs[0]),
        out_(shapes.outputs[0]),
        num_roi_(has.roi ? shapes.inputs[1][0] : 0),
        num_scales_(has.scales ? shapes.inputs[2][0] : 0) {}
  Status run(const RunArguments& arguments) override {
    const auto floats = [&](size_t input, int64_t count) {
      return std::span(static_cast<const float*>(arguments.inputs[input]), static_cast<size_t>(count));
    };
    TRY(update_resize(plan_, *op_.as<ops::Resize>(), {sized_, floats(1, num_roi_), floats(2, num_scales_)}, in_, out_));
    return BoundResize::run(arguments);
  }

 private:
  Op op_;
  bool sized_;
  Extents in_, out_;
  int64_t num_roi_, num_scales_;
};

class LoadedResize final : public LoadedStep {
 public:
  LoadedResize(Team& team, Op op, ResizeHas has, const StepTensor& x)
      : team_(team), op_(std::move(op)), has_(has), x_(x) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require(shapes.inputs[0].size() == shapes.outputs[0].size(), "a resize of ", shapes.inputs[0], " to ",
                shapes.outputs[0]));
    ResizePlan plan =
        TRY(plan_resize(*op_.as<ops::Resize>(), has_, x_.dtype, shapes.inputs[0], shapes.outputs[0], x_.format));
    if (!has_.roi && !has_.scales) return std::make_unique<BoundResize>(team_, std::move(plan));
    return std::make_unique<PlacedResize>(team_, std::move(plan), op_, has_, shapes);
  }

 private:
  Team& team_;
  Op op_;
  ResizeHas has_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_resize(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Op op = TRY(op_from_record(TRY(spec.payload.get_record("resize"))));
  TRY(require(op.as<ops::Resize>() && !spec.inputs.empty(), "a resize step runs ", op.name()));
  TRY(require(spec.inputs.size() == 1 || spec.inputs.size() == 3, "a resize step has ", spec.inputs.size(),
              " inputs; one or three are needed"));
  TRY(require(!op.as<ops::Resize>()->antialias || op.as<ops::Resize>()->mode == ResizeMode::kNearest,
              "a resize step is antialiased, which takes more taps than the kernel has"));
  ResizeHas has{.sizes = TRY(spec.payload.get_bool("from_sizes"))};
  if (spec.inputs.size() == 3) has.roi = spec.inputs[1].present, has.scales = spec.inputs[2].present;
  const bool crops = op.as<ops::Resize>()->coordinate == CoordinateTransformation::kTfCropAndResize;
  TRY(require(crops == has.roi, "a resize step ", crops ? "lacks its roi" : "has a roi that it does not use"));
  TRY(require_alike(spec.outputs[0], spec.inputs[0], "a resize's output"));
  for (size_t i = 1; i < spec.inputs.size(); ++i)
    TRY(require(!spec.inputs[i].present || (spec.inputs[i].dtype == DType::kF32 && spec.inputs[i].rank == 1), "input ",
                i, " of a resize is ", spec.inputs[i].dtype, " of rank ", spec.inputs[i].rank,
                "; f32 of rank 1 is needed"));
  return std::make_unique<LoadedResize>(arguments.team, std::move(op), has, spec.inputs[0]);
}

}  // namespace kiln::cpu
