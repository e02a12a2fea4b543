#include "steps/attention.h"

#include <cmath>

#include "steps/attention_layout.h"
#include "steps/define.h"
#include "steps/quantized_result.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Attention>();

namespace kiln::steps {
namespace {

bool is_scale(double x) { return std::isfinite(x) && x > 0; }

constexpr size_t kJoinedOperands = 2;  // what holds the keys and the values that follow

}  // namespace

bool Attention::is_joined(const StepTypes& types) { return types.inputs.size() > kInputs && !is_quantized(types); }

bool Attention::reads_bytes(const StepTypes& types) {
  return types.inputs[0].dtype == DType::kI8 || types.inputs[0].dtype == DType::kF8E4M3;
}

Status Attention::check_bytes(const StepTypes& types) const {
  const DType q = types.inputs[0].dtype, y = types.outputs[0].dtype;
  for (const StepTensor& input : std::span(types.inputs).first(3))
    TRY(require_alike(input, types.inputs[0], "an operand of attention"));
  TRY(require(is_scale(value_scale) && (weight_scale == 0 || is_scale(weight_scale)), "attention of ", q,
              " has values by a scale of ", value_scale, " and weights by one of ", weight_scale));
  const StepTensor& mask = types.inputs[3];
  TRY(require(!mask.present || (is_kernel_float(mask.dtype) && mask.format == types.inputs[0].format),
              "the mask of attention is ", mask.dtype, " in format ", mask.format, "; f32, f16 and bf16 in format ",
              types.inputs[0].format, " are possible"));
  const size_t inputs = kInputs + (is_quantized(types) ? kResultOperands : 0);
  TRY(require(types.inputs.size() == inputs, "attention of ", q, " to ", y, " has ", types.inputs.size(), " inputs; ",
              inputs, " are needed"));
  if (is_quantized(types)) return check_quantized_result(types, types.inputs[0]);
  TRY(require(types.outputs[0].format == types.inputs[0].format, "attention of ", q, " writes format ",
              types.outputs[0].format));
  return require(is_kernel_float(y) && (!mask.present || mask.dtype == y), "attention of ", q, " with a mask of ",
                 mask.dtype, " makes ", y);
}

Status Attention::check(const StepTypes& types) const {
  const DType q = types.inputs[0].dtype;
  if (reads_bytes(types)) return check_bytes(types);
  TRY(require(value_scale == 1 && weight_scale == 0, "attention of ", q, " has scales of bytes"));
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
