/// The types that arithmetic is defined for, and the type that it is done in.
#pragma once

#include "tensor/dtype.h"

namespace kiln {

/// Float types that arithmetic is defined for; narrower ones only travel through Quantize, Dequantize and Cast.
constexpr bool is_compute_float(DType t) { return is_kernel_float(t) || t == DType::kF64; }
constexpr bool is_compute_integer(DType t) { return is_integer(t) && t != DType::kI4; }
/// Types whose sums and products are computed in the type itself; other floats' are computed in FP32.
constexpr bool is_own_kind(DType t) { return t == DType::kF64 || is_index(t); }

}  // namespace kiln
