#include "steps/attention.h"

#include "backend/cuda/exec/operand_map.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/attention/attention.h"
#include "backend/cuda/kernels/sizes.h"
#include "steps/attention_layout.h"
#include "steps/quantized_result.h"

namespace kiln::cuda {
namespace {

/// Strides of the kernel, whose columns are neighbours.
HeadStrides head_strides(const AttentionOperand& operand) {
  return {operand.strides[0], operand.strides[1], operand.strides[2]};
}
DType result_of(const AttentionKernel& kernel) { return kernel.result.value_or(kernel.element); }

/// Whether rows begin where a kernel that moves pieces of so many bytes may read them.
Status check_alignment(const AttentionLayout& layout, const AttentionKernel& kernel) {
  const int64_t whole = kernel.piece / bytes_of(kernel.operand_type());
  TRY(require(whole > 0, "an attention kernel's pieces of ", kernel.piece, " bytes hold no whole element"));
  std::vector<const AttentionOperand*> operands{&layout.q, &layout.k, &layout.v, &layout.out};
  if (kernel.joined) operands.insert(operands.end(), {&layout.more_k, &layout.more_v});
  for (const AttentionOperand* operand : operands) {
    TRY(require(operand->offset % whole == 0 && operand->strides[3] == 1, "an operand of attention begins at element ",
                operand->offset, "; its kernel reads pieces of ", whole));
    for (const int64_t stride : std::span(operand->strides).first(3))
      TRY(require(stride % whole == 0, "a stride of attention is ", stride, "; its kernel reads pieces of ", whole));
  }
  return require(layout.depth % whole == 0 && layout.value_depth % whole == 0, "heads of ", layout.depth, " and ",
                 layout.value_depth, " channels are not multiples of the kernel's pieces of ", whole);
}

/// What a step multiplies by.
struct Scales {
  float scores = 1;
  float sums = 1, weight_inverse = 0;  ///< where operands are bytes
  steps::ResultScale out;
};
Scales scales_of(const steps::Attention& step) {
  Scales scales{.scores = static_cast<float>(step.scale), .sums = static_cast<float>(step.value_scale)};
  if (step.weight_scale == 0) return scales;
  scales.weight_inverse = static_cast<float>(1 / step.weight_scale);
  scales.sums = static_cast<float>(step.value_scale * step.weight_scale);
  return scales;
}

AttentionArguments arguments_of(const AttentionLayout& layout, const Scales& scales) {
  const steps::ResultScale& out = scales.out;
  AttentionArguments a;
  a.sum_scale = scales.sums;
  a.weight_inverse = scales.weight_inverse;
  a.out_inverse = out.inverse;
  a.out_zero = out.zero;
  a.q_strides = head_strides(layout.q);
  a.k_strides = head_strides(layout.k);
  a.v_strides = head_strides(layout.v);
  a.mask_strides = head_strides(layout.mask);
  a.out_strides = head_strides(layout.out);
  a.first_keys = static_cast<int32_t>(std::max<int64_t>(0, layout.first_keys));
  a.more_k_strides = head_strides(layout.more_k);
  a.more_v_strides = head_strides(layout.more_v);
  a.batch = static_cast<int32_t>(layout.batch);
  a.heads = static_cast<int32_t>(layout.heads);
  a.kv_heads = static_cast<int32_t>(std::max<int64_t>(1, layout.kv_heads));
  a.queries = static_cast<int32_t>(layout.queries);
  a.keys = static_cast<int32_t>(layout.keys);
  a.depth = static_cast<int32_t>(layout.depth);
  a.value_depth = static_cast<int32_t>(layout.value_depth);
  a.scale = scales.scores;
  return a;
}

/// An attention of known extents, and its tensor maps.
struct Bound {
  const AttentionKernel& kernel;
  const Function& function;
  const StepInputs& inputs;
  AttentionLayout layout;
  AttentionArguments arguments;
  AttentionLaunch plan;
  OperandMap maps[3] = {};  ///< of q, k and v

  Status run(const RunArguments& run) {
    // Kernels of bytes that read four or more at once write four elements at once, which are up to 16 bytes.
    const bool by_four = kernel.operand && kernel.piece >= 4;
    TRY(require_aligned(run, inputs.size(), kernel.reads_maps() || by_four ? 16 : kernel.piece));
    const DType operand = kernel.operand_type();
    arguments.q = address(inputs.at(0, run), layout.q, operand);
    arguments.k = address(inputs.at(1, run), layout.k, operand);
    arguments.v = address(inputs.at(2, run), layout.v, operand);
    arguments.mask = address(inputs.at(3, run), layout.mask, kernel.element);
    if (kernel.joined) {
      arguments.more_k = address(inputs.at(4, run), layout.more_k, operand);
      arguments.more_v = address(inputs.at(5, run), layout.more_v, operand);
    }
    arguments.out = static_cast<std::byte*>(run.outputs[0]) + layout.out.offset * bytes_of(result_of(kernel));
    if (!kernel.reads_maps()) {
      void* pointers[] = {&arguments};
      return launch(*run.stream, function, plan.shape, pointers);
    }
    if (plan.shape.grid[0] == 0) return {};
    const void* const operands[] = {arguments.q, arguments.k, arguments.v};
    for (size_t i = 0; i < 3; ++i) TRY(maps[i].encode(function.device().driver(), plan.maps[i], operands[i]));
    void* pointers[] = {maps[0].argument(), maps[1].argument(), maps[2].argument(), &arguments};
    return launch(*run.stream, function, plan.shape, pointers);
  }
  static const void* address(const void* tensor, const AttentionOperand& operand, DType type) {
    return tensor ? static_cast<const std::byte*>(tensor) + operand.offset * bytes_of(type) : nullptr;
  }
};

}  // namespace

LoadResult load(const steps::Attention& step, const LoadArguments& arguments) {
  const AttentionKernel kernel = TRY(from_record<AttentionKernel>(arguments.spec.tuning));
  const std::vector<StepTensor>& inputs = arguments.spec.inputs;
  const bool quantizes = steps::is_quantized(arguments.spec);
  const DType y = arguments.spec.outputs[0].dtype;
  // Bytes do not say which floats are around them: a mask does, or a result that is not quantized.
  const bool has_floats =
      (!inputs[3].present || inputs[3].dtype == kernel.element) && (quantizes || y == kernel.element);
  TRY(require(kernel.operand_type() == inputs[0].dtype && has_floats &&
                  kernel.operand.has_value() == steps::Attention::reads_bytes(arguments.spec) &&
                  kernel.rounds_weights == (step.weight_scale != 0) && kernel.has_mask == inputs[3].present &&
                  kernel.causal == step.causal && kernel.nan_rows_are_zero == step.nan_rows_are_zero &&
                  kernel.joined == step.is_joined(arguments.spec) &&
                  kernel.result == (quantizes ? std::optional(y) : std::nullopt),
              "the kernel '", kernel.name(), "' does not fit its step, an attention of ", inputs[0].dtype, " to ", y));
  Scales scales = scales_of(step);
  if (quantizes) scales.out = TRY(steps::result_scale(arguments.spec, arguments.constants));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(std::string(entry_of(kernel))));
  StepInputs uploaded = TRY(StepInputs::upload(arguments));
  return loaded_step([scales, kernel, code = std::move(code), function,
                      inputs = std::move(uploaded)](const StepShapes& shapes) -> BindResult {
    const AttentionLayout layout = AttentionLayout::of(shapes.params);
    TRY(check_alignment(layout, kernel));
    AttentionArguments a = arguments_of(layout, scales);
    const AttentionLaunch plan = TRY(plan_attention(kernel, a, function.device().properties().num_multiprocessors));
    TRY(function.check(plan.shape));
    auto bound = std::make_unique<Bound>(Bound{kernel, function, inputs, layout, a, plan});  // maps are aligned to 128
    return bound_step([bound = std::move(bound)](const RunArguments& run) { return bound->run(run); });
  });
}

}  // namespace kiln::cuda
