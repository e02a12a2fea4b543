/// The epilogue of a contraction, its work on the sums before it writes them.
#pragma once

#include <cstddef>
#include <optional>

#include "steps/byte_operands.h"

namespace kiln::cuda {

using Epilogue = steps::Epilogue;

/// What an epilogue of sums of bytes reads besides (steps/byte_operands.h).
struct ByteScales {
  std::optional<DType> x_scale;  ///< none where it is constant: it is then part of w's
  DType w_scale = DType::kF32;
  bool w_by_channel = false;             ///< else one scale for all of w
  bool corrected = false;                ///< kXZero is what x's zero point added to each channel's sum, in FP32
  std::optional<DType> y_scale, y_zero;  ///< of bytes, where they are computed
  bool y_by_value = false;               ///< they are constants: EpilogueArguments has them
  bool y_shifted = false;                ///< y has a zero point
  bool narrow_sums = false;              ///< sums of integers are within 2^22
};

/// Pointers of an epilogue: bias, residual, the hook's operands, then those of bytes. Kernels take it as it lies here.
struct EpilogueArguments {
  static constexpr size_t kMost = 13;
  static constexpr size_t kMostOfHook = 6;
  static constexpr size_t kFixed = 2;  ///< before the hook's operands
  const void* operand[kMost] = {};
  float y_inverse = 1, y_zero = 0;  ///< 1 / y_scale; of results of bytes whose scale is constant
};

/// Whether kernels can have it: operands are floats or bytes, and not too many.
Status validate(const Epilogue& epilogue);

}  // namespace kiln::cuda
