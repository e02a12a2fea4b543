/// The parts of normalizations, and the one that ONNX calls RMSNormalization, ONNX Runtime simplified layer
/// normalization.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// x / sqrt(mean(x^2) + epsilon) * scale, the mean over `axes`; in f32 up to the product with the scale, unless
/// `in_f32` is not set.
Result<ValueId> normalized_by_root(ImportContext& cx, ValueId x, const Ints& axes, double epsilon, ValueId scale,
                                   bool in_f32 = true);

/// 1 / sqrt(x + epsilon)
Result<ValueId> inverse_root(ImportContext& cx, ValueId x, double epsilon);

/// The mean over `axes` of x - mean(x) squared, and that mean.
struct Statistics {
  ValueId mean, variance;
};
Result<Statistics> statistics(ImportContext& cx, ValueId x, const Ints& axes);

}  // namespace kiln::onnx
