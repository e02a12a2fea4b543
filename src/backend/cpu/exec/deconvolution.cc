/// A transposed convolution with bias, residual and clamp, channels last.
/// Inputs: x, w (a constant), bias or absent, residual or absent. Payload: the window, groups, lo, hi.
#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/window.h"
#include "backend/cpu/kernels/deconv/deconv.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {
namespace {

struct Attributes {
  WindowSpec window;
  float lo = 0, hi = 0;
  bool same_upper = false, same_lower = false;
};

class BoundDeconvolution final : public BoundStep {
 public:
  BoundDeconvolution(const Attributes& a, const PackedDeconv& packed, Team& team, const StepShapes& shapes)
      : a_(a), packed_(packed), team_(team) {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    shape_.n = x[0];
    const size_t axes = a.window.kernel.size();
    for (size_t i = 0; i < axes; ++i) {
      const size_t at = 3 - axes + i;
      shape_.in[at] = x[2 + i];
      shape_.out[at] = y[2 + i];
      shape_.pad[at] = a.window.pads[i];
      if (!a.window.same_upper && !a.window.same_lower) continue;
      const int64_t reach = a.window.dilations[i] * (a.window.kernel[i] - 1) + 1;
      const int64_t total = std::max<int64_t>(reach - a.window.strides[i], 0);
      shape_.pad[at] = a.window.same_upper ? total / 2 : total - total / 2;
    }
  }
  int64_t workspace_bytes() const override { return deconv_workspace_bytes(packed_.weights, team_.size()); }
  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    const Epilogue epilogue{input(2), input(3), packed_.weights.oc, a_.lo, a_.hi, nullptr};
    deconv(team_, shape_, input(0), packed_, static_cast<float*>(arguments.outputs[0]), epilogue, arguments.workspace);
    return {};
  }

 private:
  const Attributes& a_;
  const PackedDeconv& packed_;
  Team& team_;
  DeconvShape shape_;
};

class LoadedDeconvolution final : public LoadedStep {
 public:
  LoadedDeconvolution(Attributes a, PackedDeconv packed, StepSpec spec, Team& team)
      : a_(std::move(a)), packed_(std::move(packed)), spec_(std::move(spec)), team_(team) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    TRY(a_.window.check(x, y));
    TRY(require(x[1] == packed_.weights.ic && y[1] == packed_.weights.oc, "a deconvolution of ", x, " to ", y,
                " has weights of ", packed_.weights.ic, " and ", packed_.weights.oc, " channels"));
    TRY(require_epilogue(spec_, shapes, packed_.weights.oc, nullptr));
    return std::make_unique<BoundDeconvolution>(a_, packed_, team_, shapes);
  }

 private:
  Attributes a_;
  PackedDeconv packed_;
  StepSpec spec_;
  Team& team_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_deconvolution(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  TRY(require_types(spec, DType::kF32));
  TRY(require(arguments.constants[1] != nullptr, "a deconvolution's weights are no constant"));
  TRY(require_linear(spec, 1));
  Attributes a;
  a.window = TRY(WindowSpec::parse(spec.payload));
  a.lo = static_cast<float>(TRY(spec.payload.get_double("lo")));
  a.hi = static_cast<float>(TRY(spec.payload.get_double("hi")));
  const Extents& w = arguments.constants[1]->extents();
  const size_t axes = a.window.kernel.size();
  constexpr int64_t kMostPhases = 1 << 16;
  DeconvWeights weights;
  weights.groups = TRY(spec.payload.get_int("groups"));
  int64_t phases = 1;
  for (const int64_t stride : a.window.strides) phases = std::min(phases * stride, kMostPhases + 1);
  TRY(require(w.size() == axes + 2 && std::equal(w.begin() + 2, w.end(), a.window.kernel.begin()) &&
                  weights.groups >= 1 && weights.groups <= w[0] && w[0] % weights.groups == 0 && phases <= kMostPhases,
              "a deconvolution by ", a.window.kernel, " with strides ", a.window.strides, " in ", weights.groups,
              " groups has weights ", w));
  weights.ic = w[0];
  weights.oc = w[1] * weights.groups;
  for (size_t i = 0; i < axes; ++i) {
    weights.kernel[3 - axes + i] = w[2 + i];
    weights.stride[3 - axes + i] = a.window.strides[i];
    weights.dilation[3 - axes + i] = a.window.dilations[i];
  }
  PackedDeconv packed = TRY(pack_deconv(weights, arguments.constants[1]->data<float>()));
  return std::make_unique<LoadedDeconvolution>(std::move(a), std::move(packed), spec, arguments.team);
}

}  // namespace kiln::cpu
