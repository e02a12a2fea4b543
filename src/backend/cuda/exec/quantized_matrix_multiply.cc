/// Products of bytes: by the kernels that multiply floats.
#include "steps/quantized_matrix_multiply.h"

#include "backend/cuda/exec/byte_inputs.h"
#include "backend/cuda/exec/cublaslt.h"
#include "backend/cuda/exec/matrix_multiply.h"

namespace kiln::cuda {

Result<std::unique_ptr<LoadedStep>> load(const steps::QuantizedMatrixMultiply& step, const LoadArguments& arguments) {
  const ProductTuning tuning = TRY(from_record<ProductTuning>(arguments.spec.tuning));
  if (tuning.cublaslt) return load_bytes_by_cublaslt(step, *tuning.cublaslt, arguments);
  ByteWeights weights;
  if (const HostTensor* b = arguments.constants[1]; b && b->rank() >= 2) {
    const ProductOperand right = right_operand(b->extents(), step.op.b);
    weights = {right.cols, right.rows, right.col_stride, right.row_stride};
  }
  ContractionInputs inputs = TRY(byte_inputs(arguments, weights));
  return load_product(step.op, step.epilogue, tuning, arguments, std::move(inputs));
}

}  // namespace kiln::cuda
