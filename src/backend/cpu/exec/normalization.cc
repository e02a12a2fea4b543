/// Normalisation over the innermost axes, or over planes and groups of channels. Inputs: x, scale or absent, bias or
/// absent. Payload: rows (whether the innermost `axes` axes are normalised), axes, groups, epsilon.
#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/lanes/normalize.h"
#include "steps/lane_extents.h"

namespace kiln::cpu {
namespace {

struct Attributes {
  bool rows = false;
  size_t axes = 1;
  int64_t groups = 1;
  double epsilon = 0;
  DType dtype = DType::kF32;
  bool channels_last = false;
};

class BoundNormalization final : public BoundStep {
 public:
  BoundNormalization(Team& team, const Attributes& a, const Extents& x) : team_(team), a_(a) {
    rows_.epsilon = group_.epsilon = a.epsilon;
    rows_.dtype = group_.dtype = a.dtype;
    if (a.rows) {
      const LaneExtents e = lane_extents(x, x.size() - a.axes, x.size() - 1);
      rows_.rows = e.outer;
      rows_.length = e.length;
    } else {
      group_.n = x[0];
      group_.channels = x[1];
      group_.plane = volume(std::span(x).subspan(2));
      group_.groups = a.groups;
    }
  }
  int64_t workspace_bytes() const override {
    return a_.rows || !a_.channels_last ? 0 : normalize_nhwc_workspace(group_);
  }
  Status run(const RunArguments& arguments) override {
    const auto* scale = static_cast<const float*>(arguments.inputs[1]);
    const auto* bias = static_cast<const float*>(arguments.inputs[2]);
    const void* x = arguments.inputs[0];
    void* y = arguments.outputs[0];
    if (a_.rows)
      normalize_rows(team_, rows_, x, scale, bias, y);
    else if (a_.channels_last)
      normalize_nhwc(team_, group_, x, scale, bias, y, arguments.workspace);
    else
      normalize_nchw(team_, group_, x, scale, bias, y);
    return {};
  }

 private:
  Team& team_;
  Attributes a_;
  RowNorm rows_;
  GroupNorm group_;
};

class LoadedNormalization final : public LoadedStep {
 public:
  LoadedNormalization(Team& team, const Attributes& a, StepSpec spec) : team_(team), a_(a), spec_(std::move(spec)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& x = shapes.inputs[0];
    TRY(require_extents(shapes.outputs[0], x, "a normalisation's output"));
    TRY(require(a_.rows || x[1] % a_.groups == 0, "a normalisation of ", x, " in ", a_.groups, " groups"));
    const int64_t count = a_.rows ? volume(std::span(x).last(a_.axes)) : x[1];
    TRY(require_count(spec_, shapes, 1, count, "a scale"));
    TRY(require_count(spec_, shapes, 2, count, "a bias"));
    return std::make_unique<BoundNormalization>(team_, a_, shapes.inputs[0]);
  }

 private:
  Team& team_;
  Attributes a_;
  StepSpec spec_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_normalization(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Attributes a;
  a.rows = TRY(spec.payload.get_bool("rows"));
  const int64_t axes = TRY(spec.payload.get_int("axes"));
  TRY(require(axes >= 1 && axes <= spec.inputs[0].rank && (a.rows || spec.inputs[0].rank >= 2), "a normalisation of ",
              axes, " axes of a tensor of rank ", spec.inputs[0].rank));
  a.axes = static_cast<size_t>(axes);
  a.groups = TRY(spec.payload.get_int("groups"));
  TRY(require(a.groups >= 1, "a normalisation has ", a.groups, " groups"));
  a.epsilon = TRY(spec.payload.get_double("epsilon"));
  a.dtype = spec.inputs[0].dtype;
  TRY(require(a.dtype == DType::kF32 || a.dtype == DType::kF16 || a.dtype == DType::kBF16, "a normalisation of ",
              a.dtype));
  TRY(require_alike(spec.outputs[0], spec.inputs[0], "a normalisation's output"));
  for (size_t i : {1, 2})
    TRY(require(!spec.inputs[i].present || spec.inputs[i].dtype == DType::kF32, "scale or bias of a normalisation is ",
                spec.inputs[i].dtype, "; f32 is needed"));
  a.channels_last = !spec.inputs[0].format.is_linear();
  return std::make_unique<LoadedNormalization>(arguments.team, a, spec);
}

}  // namespace kiln::cpu
