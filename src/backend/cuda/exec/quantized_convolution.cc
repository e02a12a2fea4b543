/// Convolutions of bytes: by the kernels that convolve floats.
#include "steps/quantized_convolution.h"

#include <algorithm>

#include "backend/cuda/exec/byte_inputs.h"
#include "backend/cuda/exec/convolution.h"

namespace kiln::cuda {

Result<std::unique_ptr<LoadedStep>> load(const steps::QuantizedConvolution& step, const LoadArguments& arguments) {
  const auto tuning = TRY(from_record<ConvolutionTuning>(arguments.spec.tuning));
  TRY(require(tuning.conv || tuning.gemm, "a convolution of bytes needs a kernel of ours"));
  const size_t zero = steps::input_of(steps::ByteOperand::kXZero, arguments.spec.inputs.size());
  const bool pads_with_zero = tuning.conv && (*tuning.conv)->facts().pads_with_zero;
  TRY(require(!arguments.spec.inputs[zero].present || pads_with_zero || !step.window.has_pads(),
              "a convolution of bytes with pads reads x with a zero point; its kernel pads with 0"));
  ByteWeights weights;
  if (const HostTensor* w = arguments.constants[1]; w && w->rank() > 0 && w->volume() > 0) {
    const int64_t sum = w->volume() / w->extents()[0];
    weights = {w->extents()[0], sum, sum, 1};
  }
  ContractionInputs inputs = TRY(byte_inputs(arguments, weights));
  const Filter filter(step, std::max<int64_t>(1, weights.channels));
  if (tuning.conv) return load_by_kernel(filter, step.epilogue, *tuning.conv, arguments, std::move(inputs));
  TRY(require(!step.is_depthwise && filter.is_point(), "a convolution of bytes by ", step.window.kernel,
              " with its strides and pads is not a matrix product"));
  TRY(validate(step.epilogue));
  return load_point(*tuning.gemm, arguments, std::move(inputs));
}

}  // namespace kiln::cuda
