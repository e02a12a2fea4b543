#include "steps/deconvolution.h"

#include "backend/cuda/exec/convolution.h"

namespace kiln::cuda {

Result<std::unique_ptr<LoadedStep>> load(const steps::Deconvolution& step, const LoadArguments& arguments) {
  const auto tuning = TRY(from_record<ConvolutionTuning>(arguments.spec.tuning));
  TRY(require(tuning.conv.has_value(), "a deconvolution needs a kernel in field 'conv'"));
  return load_by_kernel(Filter(step), step.epilogue, *tuning.conv, arguments, ContractionInputs(arguments));
}

}  // namespace kiln::cuda
