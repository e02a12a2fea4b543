/// Matrix products, and convolutions of one tap, by cuBLASLt.
#pragma once

#include <optional>

#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/executor.h"
#include "steps/quantized_matrix_multiply.h"

namespace kiln::cuda {

/// A step with this epilogue: a product of `matrices`, or where there are none a convolution of one tap, channels last.
Result<std::unique_ptr<LoadedStep>> load_by_cublaslt(const steps::Epilogue& epilogue, const LtTuning& tuning,
                                                     std::optional<ops::MatrixMultiply> matrices,
                                                     const LoadArguments& arguments);

/// What the library has of a product of bytes beside its matrices.
struct LtBytes {
  std::vector<float> scales;       ///< of sums: one, or one a column; y's scale is part of them where y is of bytes
  std::optional<HostTensor> bias;  ///< of library_bias_type; divided by y's scale likewise
};
/// The constants of a product of bytes; those that it does not have, or that are computed, are null.
struct LtByteConstants {
  const HostTensor *x_scale, *w_scale, *y_scale, *bias;
  bool has_zero = false;  ///< a zero point, of x or y
};
/// Fails where the library cannot compute the product: it takes i8 to i8, or FP8 to f16, bf16, FP8, or f32 without a
/// bias; constant scales without zero points; and of epilogues a constant bias and a relu.
Result<LtBytes> library_bytes(const ContractionTypes& types, const steps::Epilogue& epilogue,
                              const LtByteConstants& constants);
/// A product of bytes. Its b is packed [n][k].
Result<std::unique_ptr<LoadedStep>> load_bytes_by_cublaslt(const steps::QuantizedMatrixMultiply& step,
                                                           const LtTuning& tuning, const LoadArguments& arguments);

}  // namespace kiln::cuda
