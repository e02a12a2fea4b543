#include "steps/attention.h"

#include "steps/attention_layout.h"
#include "steps/define.h"
#include "steps/quantized_result.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Attention>();

namespace kiln::steps {
namespace {

constexpr size_t kJoinedOperands = 2;  // what holds the keys and the values that follow

}  // namespace

bool Attention::is_joined(const StepTypes& types) { return types.inputs.size() > kInputs && !is_quantized(types); }

Status Attention::check(const StepTypes& types) const {
  const DType q = types.inputs[0].dtype;
  TRY(require(is_kernel_float(q), "attention of ", q, "; f32, f16 and bf16 are possible"));
  if (is_joined(types)) {
    TRY(require(types.inputs.size() == kInputs + kJoinedOperands && types.inputs[kInputs].present &&
                    types.inputs[kInputs + 1].present,
                "attention has ", types.inputs.size(), " inputs; it takes ", kInputs, ", or ",
                kInputs + kJoinedOperands, " that are there but for the mask"));
    return require_one_type(types);
  }
  if (!is_quantized(types)) return require_one_type(types);
  TRY(require(types.inputs.size() == kInputs + kResultOperands, "attention to ", types.outputs[0].dtype, " has ",
              types.inputs.size(), " inputs; ", kInputs + kResultOperands, " are needed"));
  for (const StepTensor& input : std::span(types.inputs).first(kInputs))
    TRY(require(!input.present || input.dtype == q, "attention of ", q, " has an operand of ", input.dtype));
  return check_quantized_result(types, types.inputs[0]);
}

Status Attention::check(const StepTypes& types, const StepShapes& shapes) const {
  const bool joined = is_joined(types);
  const size_t params = joined ? AttentionLayout::kNumJoinedParams : AttentionLayout::kNumParams;
  TRY(require(shapes.params.size() == params, "an attention step has ", shapes.params.size(), " parameters; it takes ",
              params));
  const AttentionLayout layout = AttentionLayout::of(shapes.params);
  TRY(require(joined == (layout.first_keys >= 0), "attention has ", types.inputs.size(), " inputs, and ",
              layout.first_keys, " keys in the first of two tensors"));
  if (is_quantized(types)) TRY(check_quantized_result(types, shapes));
  std::array<int64_t, 7> volumes{};
  for (size_t i = 0; i < kInputs; ++i) volumes[i] = types.inputs[i].present ? volume(shapes.inputs[i]) : -1;
  volumes[4] = volume(shapes.outputs[0]);
  if (joined)
    for (size_t i = kInputs; i < shapes.inputs.size(); ++i) volumes[i + 1] = volume(shapes.inputs[i]);
  return layout.check(volumes);
}

}  // namespace kiln::steps
