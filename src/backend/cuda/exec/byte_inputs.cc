#include "backend/cuda/exec/byte_inputs.h"

#include "steps/byte_operands.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

using steps::ByteOperand;

/// The operands of a step.
struct Operands {
  const LoadArguments& arguments;
  size_t at(ByteOperand which) const { return steps::input_of(which, arguments.spec.inputs.size()); }
  bool present(ByteOperand which) const { return arguments.spec.inputs[at(which)].present; }
  const HostTensor* constant(ByteOperand which) const { return arguments.constants[at(which)]; }
};

Status put_scales(const Operands& operands, ContractionInputs& inputs) {
  const HostTensor *x = operands.constant(ByteOperand::kXScale), *w = operands.constant(ByteOperand::kWScale);
  if (!x || !w) return {};
  TRY(require(x->volume() == 1, "x has ", x->volume(), " scales; one is needed"));
  std::vector<float> products;
  const View of_w(*w);
  for (int64_t i = 0; i < of_w.volume(); ++i) products.push_back(static_cast<float>(of_w[i] * View(*x)[0]));
  return inputs.put(operands.at(ByteOperand::kWScale), operands.arguments, std::as_bytes(std::span(products)));
}

/// What x's zero point adds to each channel's sum, in FP32.
Status put_correction(const Operands& operands, const ByteWeights& weights, ContractionInputs& inputs) {
  if (!operands.present(ByteOperand::kXZero)) return {};
  const HostTensor *zero = operands.constant(ByteOperand::kXZero), *w = operands.arguments.constants[1];
  TRY(require(
      zero && zero->volume() == 1 && w && w->dtype() == DType::kI8 && w->volume() == weights.channels * weights.sum,
      "the kernel needs x's zero point and the weights as constants of the plan"));
  const auto z = static_cast<int64_t>(View(*zero)[0]);
  inputs.x_zero = static_cast<int32_t>(z);
  const int8_t* const bytes = w->data<int8_t>();
  std::vector<float> added;
  for (int64_t c = 0; c < weights.channels; ++c) {
    int64_t total = 0;
    for (int64_t i = 0; i < weights.sum; ++i) total += bytes[c * weights.channel + i * weights.element];
    added.push_back(static_cast<float>(z * total));
  }
  return inputs.put(operands.at(ByteOperand::kXZero), operands.arguments, std::as_bytes(std::span(added)));
}

}  // namespace

Result<ContractionInputs> byte_inputs(const LoadArguments& arguments, const ByteWeights& weights) {
  const Operands operands{arguments};
  ContractionInputs inputs(arguments);
  TRY(put_scales(operands, inputs));
  TRY(put_correction(operands, weights, inputs));
  const HostTensor *scale = operands.constant(ByteOperand::kYScale), *zero = operands.constant(ByteOperand::kYZero);
  if (scale && (zero || !operands.present(ByteOperand::kYZero))) {
    TRY(require(scale->volume() == 1 && (!zero || zero->volume() == 1), "y has more than one scale"));
    inputs.y_inverse = 1 / static_cast<float>(View(*scale)[0]);
    inputs.y_zero = zero ? static_cast<float>(View(*zero)[0]) : 0;
  }
  return inputs;
}

}  // namespace kiln::cuda
