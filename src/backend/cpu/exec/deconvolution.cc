#include "steps/deconvolution.h"

#include <algorithm>
#include <optional>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/deconv/deconv.h"
#include "steps/by_function.h"

namespace kiln::cpu {
namespace {

Result<DeconvWeights> weights_of(const steps::Deconvolution& step, const Extents& w) {
  constexpr int64_t kMostPhases = 1 << 16;
  int64_t phases = 1;
  for (const int64_t stride : step.window.strides) phases = std::min(phases * stride, kMostPhases + 1);
  TRY(require(phases <= kMostPhases, "a deconvolution with strides of ", step.window.strides, " has more than ",
              kMostPhases, " phases"));
  TRY(step.window.check_filter(w, step.groups, w.empty() ? 0 : w[0], w.size() > 1 ? w[1] * step.groups : 0));
  DeconvWeights weights{w[0], w[1] * step.groups, step.groups};
  const Window taps = step.window.bind_transposed<Window>({}, {});
  std::ranges::copy(taps.kernel, weights.kernel);
  std::ranges::copy(taps.stride, weights.stride);
  std::ranges::copy(taps.dilation, weights.dilation);
  return weights;
}

/// Runs by weights that were packed when the step was loaded, or that each run packs where the network computes them.
BindResult bind(const steps::Deconvolution& step, const PackedDeconv* packed, Team& team, const StepShapes& shapes) {
  const DeconvWeights weights = TRY(weights_of(step, shapes.inputs[1]));
  const Window whole = step.window.bind_transposed<Window>(shapes.inputs[0], shapes.outputs[0]);
  DeconvShape shape;
  shape.n = shapes.inputs[0][0];
  std::ranges::copy(whole.in, shape.in);
  std::ranges::copy(whole.out, shape.out);
  std::ranges::copy(whole.pad, shape.pad);
  const auto run = [&step, packed, &team, weights, shape](const RunArguments& run) -> Status {
    const auto input = [&](int i) { return static_cast<const float*>(run.inputs[i]); };
    PackedDeconv fresh;
    if (!packed) fresh = TRY(pack_deconv(weights, input(1)));
    const Epilogue epilogue{
        input(2), input(3), weights.oc, static_cast<float>(step.epilogue.lo), static_cast<float>(step.epilogue.hi),
        nullptr};
    deconv(team, shape, input(0), packed ? *packed : fresh, static_cast<float*>(run.outputs[0]), epilogue,
           run.workspace);
    return {};
  };
  return bound_step(run, deconv_workspace_bytes(weights, team.size()));
}

}  // namespace

LoadResult load(const steps::Deconvolution& step, const LoadArguments& arguments) {
  TRY(require_types(arguments.spec, DType::kF32));
  TRY(require(!step.epilogue.hook, "the deconvolution has a hook; no CPU kernel takes one"));
  const HostTensor* const w = arguments.constants[1];
  std::optional<PackedDeconv> packed;
  if (w) packed = TRY(pack_deconv(TRY(weights_of(step, w->extents())), w->data<float>()));
  const Extents extents = w ? w->extents() : Extents();
  return loaded_step(
      [step, packed = std::move(packed), extents, &team = arguments.team](const StepShapes& shapes) -> BindResult {
        if (packed) TRY(require_extents(shapes.inputs[1], extents, "a deconvolution's weights"));
        return bind(step, packed ? &*packed : nullptr, team, shapes);
      });
}

}  // namespace kiln::cpu
