#include "steps/squeeze_excite.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/excite/excite.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kVectorBytes = 16;  ///< of channels

/// Both biases as floats, [hidden] and then [blocks * slice]; an absent bias is 0.
Result<Bytes> biases_of(const ExciteKernel& k, const HostTensor* b1, const HostTensor* b2) {
  std::vector<float> biases(static_cast<size_t>(k.hidden + k.blocks * k.slice()), 0.0f);
  const auto put = [&](const HostTensor* from, int64_t to, int64_t count) -> Status {
    if (!from) return {};
    TRY(require(from->volume() == count, "a bias of squeeze and excitation has ", from->volume(), " elements; ", count,
                " are needed"));
    const View view(*from);
    for (int64_t i = 0; i < count; ++i) biases[static_cast<size_t>(to + i)] = static_cast<float>(view[i]);
    return {};
  };
  TRY(put(b1, 0, k.hidden));
  TRY(put(b2, k.hidden, k.channels));
  const auto bytes = std::as_bytes(std::span(biases));
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

LoadResult load(const steps::SqueezeExcite&, const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  const HostTensor *w1 = arguments.constants[1], *w2 = arguments.constants[2];
  TRY(require(w1 && w2 && (arguments.constants[3] || !spec.inputs[3].present) &&
                  (arguments.constants[4] || !spec.inputs[4].present) && w1->extents().size() >= 2,
              "the weights of squeeze and excitation are not constants of the plan"));
  const auto tuning = TRY(from_record<ExciteTuning>(spec.tuning));
  const ExciteKernel kernel{spec.inputs[0].dtype, w1->dtype(), w1->extents()[1], w1->extents()[0], tuning.blocks};
  TRY(validate(kernel));
  const int64_t weights = kernel.channels * kernel.hidden;
  TRY(require(w1->volume() == weights && w2->volume() == weights, "weights of ", w1->extents(), " and ", w2->extents(),
              " do not fit squeeze and excitation of ", kernel.channels, " channels through ", kernel.hidden));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(kExciteEntry));
  const Bytes packed = pack_excite_weights(kernel, w1->bytes(), w2->bytes());
  const Bytes biases = TRY(biases_of(kernel, arguments.constants[3], arguments.constants[4]));
  const auto bind = [kernel, code = std::move(code), function, weights_at = TRY(arguments.device.upload(packed)),
                     biases_at = TRY(arguments.device.upload(biases))](const StepShapes& shapes) -> BindResult {
    const Extents& x = shapes.inputs[0];
    TRY(require(x[1] == kernel.channels, "the squeeze and excitation kernel is for ", kernel.channels,
                " channels, not for ", x));
    ExciteLaunch plan = TRY(excite_launch(kernel, x[0], volume(std::span(x).subspan(2)),
                                          function.device().properties().shared_bytes_per_block));
    TRY(function.check(plan.shape));
    plan.argument.weights = weights_at->data();
    plan.argument.biases = reinterpret_cast<const float*>(biases_at->data());
    return bound_step([function, plan](const RunArguments& run) mutable -> Status {
      TRY(require_aligned(run, 1, kVectorBytes));
      plan.argument.x = run.inputs[0];
      plan.argument.y = run.outputs[0];
      void* pointers[] = {&plan.argument};
      return launch(*run.stream, function, plan.shape, pointers);
    });
  };
  return loaded_step(bind, static_cast<int64_t>(packed.size() + biases.size()));
}

}  // namespace kiln::cuda
