/// The normalization that ONNX calls RMSNormalization, ONNX Runtime simplified layer normalization.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// x / sqrt(mean(x^2) + epsilon) * scale, the mean over `axes`; in f32 up to the product with the scale, unless
/// `in_f32` is not set.
Result<ValueId> normalized_by_root(ImportContext& cx, ValueId x, const Ints& axes, double epsilon, ValueId scale,
                                   bool in_f32 = true);

}  // namespace kiln::onnx
