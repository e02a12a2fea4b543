/// Weights of four bits without a sign, which Kiln keeps as INT4.
#pragma once

#include "onnx/import/quantization.h"

namespace kiln::onnx {

/// A DequantizeLinear of constant UINT4, which a model's reader makes i32 (dtypes.h), in INT4: matrices that kernels
/// take as they are. `x` and the zero points of `by` become those; others stay.
Status narrow_to_int4(ImportContext& cx, ValueId& x, Quantization& by);

}  // namespace kiln::onnx
