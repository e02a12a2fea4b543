/// Quantized operands of ONNX's operators.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// The zero points of a quantized tensor of `type`, input `input`; kNone where it is left out, or where all are known
/// to be zero: floats have no other. Fails unless there is one, or as many as scales, which kNone leaves open.
Result<ValueId> zero_points(ImportContext& cx, size_t input, DType type, ValueId scale = ValueId::kNone);

/// The scales, input `input`. Fails if they are constants and one is not finite and positive.
Result<ValueId> scales(ImportContext& cx, size_t input);

/// How a tensor is quantized. `zero` may be kNone; it has the shape of `scale`, or one element.
struct Quantization {
  ValueId scale = ValueId::kNone, zero = ValueId::kNone;
  int axis = -1;               ///< of the tensor, where scale is a vector
  std::vector<int64_t> block;  ///< as ops/quantize.h has it
};
/// The quantization whose scales are input `scale` and whose zero points, for a tensor of `type`, are the input behind
/// it.
Result<Quantization> quantization(ImportContext& cx, size_t scale, DType type, int axis = -1);

Result<ValueId> dequantize(ImportContext& cx, ValueId q, const Quantization& by, DType to = DType::kF32);
Result<ValueId> quantize(ImportContext& cx, ValueId x, const Quantization& by, DType to);

/// x as u8, over its own range with zero in it, as DynamicQuantizeLinear has it. Of zeros alone the scale is 1.
struct DynamicallyQuantized {
  ValueId q;
  Quantization by;
};
Result<DynamicallyQuantized> quantize_dynamically(ImportContext& cx, ValueId x);

}  // namespace kiln::onnx
