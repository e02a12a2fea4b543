/// Matrix products, and convolutions of one tap, by cuBLASLt.
#pragma once

#include <optional>

#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/executor.h"

namespace kiln::cuda {

/// A step with this epilogue: a product of `matrices`, or where there are none a convolution of one tap, channels last.
Result<std::unique_ptr<LoadedStep>> load_by_cublaslt(const steps::Epilogue& epilogue, const LtTuning& tuning,
                                                     std::optional<ops::MatrixMultiply> matrices,
                                                     const LoadArguments& arguments);

}  // namespace kiln::cuda
