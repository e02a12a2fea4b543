#include "backend/cuda/exec/library_inputs.h"

#include "backend/cuda/kernels/sizes.h"
#include "tensor/view.h"

namespace kiln::cuda {

bool is_relu(const steps::Epilogue& epilogue) { return epilogue.lo == 0; }

Status check_library(const StepTypes& types, const steps::Epilogue& epilogue) {
  const DType x = types.inputs[0].dtype, w = types.inputs[1].dtype, y = types.outputs[0].dtype;
  TRY(require(x == w && is_kernel_float(x) && is_kernel_float(y), "no library makes ", y, " of ", x, " and ", w));
  const steps::Epilogue none;
  return require(!epilogue.hook && epilogue.hi == none.hi && (is_relu(epilogue) || epilogue.lo == none.lo),
                 "libraries fuse a bias, a residual and a relu, and no other epilogue");
}

Status put_library_bias(const LoadArguments& arguments, StepInputs& inputs) {
  const StepTensor& bias = arguments.spec.inputs[steps::Epilogue::kBias];
  const DType result = arguments.spec.outputs[0].dtype;
  if (!bias.present || bias.dtype == result) return {};
  const HostTensor* given = arguments.constants[steps::Epilogue::kBias];
  TRY(require(given != nullptr, "the bias is ", bias.dtype, " for a result of ", result,
              "; a library can take it only as a constant"));
  const HostTensor same = HostTensor::of(result, given->extents(), View(*given).numbers());
  return inputs.put(steps::Epilogue::kBias, arguments, same.bytes());
}

}  // namespace kiln::cuda
