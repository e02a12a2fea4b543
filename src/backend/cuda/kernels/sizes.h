/// Arithmetic of sizes and types that the host's halves of several families share.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace kiln::cuda {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// Bytes of an element of a byte or more.
constexpr int64_t bytes_of(DType type) { return bits_of(type) / 8; }

}  // namespace kiln::cuda
