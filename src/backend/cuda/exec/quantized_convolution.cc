/// Convolutions of bytes: by the kernels that convolve floats.
#include "steps/quantized_convolution.h"

#include "backend/cuda/exec/byte_inputs.h"
#include "backend/cuda/exec/convolution.h"

namespace kiln::cuda {

Result<std::unique_ptr<LoadedStep>> load(const steps::QuantizedConvolution& step, const LoadArguments& arguments) {
  const auto tuning = TRY(from_record<ConvolutionTuning>(arguments.spec.tuning));
  TRY(require(!step.is_depthwise && (tuning.conv || tuning.gemm),
              "a convolution of bytes needs a kernel of ours, and has none that is depthwise"));
  const size_t zero = steps::input_of(steps::ByteOperand::kXZero, arguments.spec.inputs.size());
  TRY(require(!arguments.spec.inputs[zero].present || !step.window.has_pads(),
              "a convolution of bytes with pads reads x with a zero point; its kernel pads with 0"));
  ByteWeights weights;
  if (const HostTensor* w = arguments.constants[1]; w && w->rank() > 0 && w->volume() > 0) {
    const int64_t sum = w->volume() / w->extents()[0];
    weights = {w->extents()[0], sum, sum, 1};
  }
  ContractionInputs inputs = TRY(byte_inputs(arguments, weights));
  if (tuning.conv) return load_by_kernel(Filter(step), step.epilogue, *tuning.conv, arguments, std::move(inputs));
  TRY(require(Filter(step).is_point(), "a convolution of bytes by ", step.window.kernel,
              " with its strides and pads is not a matrix product"));
  TRY(validate(step.epilogue));
  return load_point(*tuning.gemm, arguments, std::move(inputs));
}

}  // namespace kiln::cuda
