#include "steps/attention.h"

#include "steps/attention_layout.h"
#include "steps/define.h"
#include "steps/quantized_result.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Attention>();

namespace kiln::steps {

Status Attention::check(const StepTypes& types) const {
  const DType q = types.inputs[0].dtype;
  TRY(require(is_kernel_float(q), "attention of ", q, "; f32, f16 and bf16 are possible"));
  const bool quantizes = is_quantized(types);
  const size_t needed = kInputs + (quantizes ? kResultOperands : 0);
  TRY(require(types.inputs.size() == needed, "attention to ", types.outputs[0].dtype, " has ", types.inputs.size(),
              " inputs; ", needed, " are needed"));
  if (!quantizes) return require_one_type(types);
  for (const StepTensor& input : std::span(types.inputs).first(kInputs))
    TRY(require(!input.present || input.dtype == q, "attention of ", q, " has an operand of ", input.dtype));
  return check_quantized_result(types, types.inputs[0]);
}

Status Attention::check(const StepTypes& types, const StepShapes& shapes) const {
  TRY(require(shapes.params.size() == AttentionLayout::kNumParams, "an attention step has ", shapes.params.size(),
              " parameters; it takes ", AttentionLayout::kNumParams));
  if (is_quantized(types)) TRY(check_quantized_result(types, shapes));
  std::array<int64_t, 5> volumes;
  for (size_t i = 0; i < kInputs; ++i) volumes[i] = types.inputs[i].present ? volume(shapes.inputs[i]) : -1;
  volumes[4] = volume(shapes.outputs[0]);
  return AttentionLayout::of(shapes.params).check(volumes);
}

}  // namespace kiln::steps
