#include "steps/normalization.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/normalize.h"
#include "steps/lane_extents.h"

namespace kiln::cpu {
namespace {

class BoundNormalization final : public BoundStep {
 public:
  BoundNormalization(Team& team, const steps::Normalization& step, const StepTensor& type, const Extents& x)
      : team_(team), step_(step), channels_last_(!type.format.is_linear()) {
    rows_.epsilon = group_.epsilon = step.epsilon;
    rows_.dtype = group_.dtype = type.dtype;
    if (step.rows) {
      const LaneExtents e = lane_extents(x, x.size() - static_cast<size_t>(step.axes), x.size() - 1);
      rows_.rows = e.outer;
      rows_.length = e.length;
    } else {
      group_.n = x[0];
      group_.channels = x[1];
      group_.plane = volume(std::span(x).subspan(2));
      group_.groups = step.groups;
    }
  }
  int64_t workspace_bytes() const override {
    return step_.rows || !channels_last_ ? 0 : normalize_nhwc_workspace(group_);
  }
  Status run(const RunArguments& arguments) override {
    const auto* scale = static_cast<const float*>(arguments.inputs[1]);
    const auto* bias = static_cast<const float*>(arguments.inputs[2]);
    const void* x = arguments.inputs[0];
    void* y = arguments.outputs[0];
    if (step_.rows)
      normalize_rows(team_, rows_, x, scale, bias, y);
    else if (channels_last_)
      normalize_nhwc(team_, group_, x, scale, bias, y, arguments.workspace);
    else
      normalize_nchw(team_, group_, x, scale, bias, y);
    return {};
  }

 private:
  Team& team_;
  const steps::Normalization& step_;
  bool channels_last_;
  RowNorm rows_;
  GroupNorm group_;
};

class LoadedNormalization final : public LoadedStep {
 public:
  LoadedNormalization(Team& team, const steps::Normalization& step, const StepTensor& x)
      : team_(team), step_(step), x_(x) {}

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundNormalization>(team_, step_, x_, shapes.inputs[0]);
  }

 private:
  Team& team_;
  steps::Normalization step_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Normalization& step, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  for (const size_t i : {1, 2})
    TRY(require(!spec.inputs[i].present || spec.inputs[i].dtype == DType::kF32, "scale or bias of a normalisation is ",
                spec.inputs[i].dtype, "; f32 is needed"));
  return std::make_unique<LoadedNormalization>(arguments.team, step, spec.inputs[0]);
}

}  // namespace kiln::cpu
