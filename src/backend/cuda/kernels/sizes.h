/// Arithmetic of sizes and types that the host's halves of several families share.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace kiln::cuda {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// Bytes of an element of a byte or more.
constexpr int64_t bytes_of(DType type) { return bits_of(type) / 8; }
/// The floats that kernels load and store; they compute in FP32.
constexpr bool is_kernel_float(DType type) {
  return type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

}  // namespace kiln::cuda
