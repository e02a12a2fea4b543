#include "steps/deconvolution.h"

#include <algorithm>

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/kernels/deconv/deconv.h"
#include "steps/by_function.h"

namespace kiln::cpu {

LoadResult load(const steps::Deconvolution& step, const LoadArguments& arguments) {
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
  return loaded_step(
      [step, packed = std::move(packed), extents = w, &team = arguments.team](const StepShapes& shapes) -> BindResult {
        TRY(require_extents(shapes.inputs[1], extents, "a deconvolution's weights"));
        const Window whole = step.window.bind_transposed<Window>(shapes.inputs[0], shapes.outputs[0]);
        DeconvShape shape;
        shape.n = shapes.inputs[0][0];
        std::ranges::copy(whole.in, shape.in);
        std::ranges::copy(whole.out, shape.out);
        std::ranges::copy(whole.pad, shape.pad);
        const auto run = [&step, &packed, &team, shape](const RunArguments& run) {
          const auto input = [&](int i) { return static_cast<const float*>(run.inputs[i]); };
          const Epilogue epilogue{input(2),
                                  input(3),
                                  packed.weights.oc,
                                  static_cast<float>(step.epilogue.lo),
                                  static_cast<float>(step.epilogue.hi),
                                  nullptr};
          deconv(team, shape, input(0), packed, static_cast<float*>(run.outputs[0]), epilogue, run.workspace);
        };
        return bound_step(run, deconv_workspace_bytes(packed.weights, team.size()));
      });
}

}  // namespace kiln::cpu
