#include "steps/deconvolution.h"

#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/deconv/deconv.h"

namespace kiln::cpu {
namespace {

class BoundDeconvolution final : public BoundStep {
 public:
  BoundDeconvolution(const steps::Deconvolution& step, const PackedDeconv& packed, Team& team, const StepShapes& shapes)
      : step_(step), packed_(packed), team_(team) {
    const Window window = step.window.bind_transposed<Window>(shapes.inputs[0], shapes.outputs[0]);
    shape_.n = shapes.inputs[0][0];
    std::ranges::copy(window.in, shape_.in);
    std::ranges::copy(window.out, shape_.out);
    std::ranges::copy(window.pad, shape_.pad);
  }
  int64_t workspace_bytes() const override { return deconv_workspace_bytes(packed_.weights, team_.size()); }
  Status run(const RunArguments& arguments) override {
    const auto input = [&](int i) { return static_cast<const float*>(arguments.inputs[i]); };
    const steps::Epilogue& behind = step_.epilogue;
    const Epilogue epilogue{
        input(2), input(3), packed_.weights.oc, static_cast<float>(behind.lo), static_cast<float>(behind.hi), nullptr};
    deconv(team_, shape_, input(0), packed_, static_cast<float*>(arguments.outputs[0]), epilogue, arguments.workspace);
    return {};
  }

 private:
  const steps::Deconvolution& step_;
  const PackedDeconv& packed_;
  Team& team_;
  DeconvShape shape_;
};

class LoadedDeconvolution final : public LoadedStep {
 public:
  LoadedDeconvolution(const steps::Deconvolution& step, PackedDeconv packed, const Extents& packed_extents, Team& team)
      : step_(step), packed_(std::move(packed)), packed_extents_(packed_extents), team_(team) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    TRY(require_extents(shapes.inputs[1], packed_extents_, "a deconvolution's weights"));
    return std::make_unique<BoundDeconvolution>(step_, packed_, team_, shapes);
  }

 private:
  steps::Deconvolution step_;
  PackedDeconv packed_;
  Extents packed_extents_;
  Team& team_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Deconvolution& step, const LoadArguments& arguments) {
  TRY(require_types(arguments.spec, DType::kF32));
  TRY(require(!step.epilogue.hook, "the deconvolution has a hook; no CPU kernel takes one"));
  TRY(require(arguments.constants[1] != nullptr, "the deconvolution's weights are not a constant"));
  const steps::Window window = step.window;
  const Extents& w = arguments.constants[1]->extents();
  constexpr int64_t kMostPhases = 1 << 16;
  int64_t phases = 1;
  for (const int64_t stride : window.strides) phases = std::min(phases * stride, kMostPhases + 1);
  TRY(require(phases <= kMostPhases, "a deconvolution with strides of ", window.strides, " has more than ", kMostPhases,
              " phases"));
  TRY(window.check_filter(w, step.groups, w.empty() ? 0 : w[0], w.size() > 1 ? w[1] * step.groups : 0));
  DeconvWeights weights{w[0], w[1] * step.groups, step.groups};
  const Window taps = window.bind_transposed<Window>({}, {});
  std::ranges::copy(taps.kernel, weights.kernel);
  std::ranges::copy(taps.stride, weights.stride);
  std::ranges::copy(taps.dilation, weights.dilation);
  PackedDeconv packed = TRY(pack_deconv(weights, arguments.constants[1]->data<float>()));
  return std::make_unique<LoadedDeconvolution>(step, std::move(packed), w, arguments.team);
}

}  // namespace kiln::cpu
