/// What the plugins of BERT have in common.
#pragma once

#include <limits>

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// Added to the variance of a layer normalization: what TensorRT adds in FP32 for 768 and 1024 hidden units of a skip
/// layer normalization. Elsewhere it adds nothing, and equal numbers give NaN.
constexpr double kLayerNormEps = std::numeric_limits<float>::epsilon();

/// Fails for what `type_id` cannot be: 0 is FP32, 1 FP16; INT8 is not in Kiln.
Status require_float_type(const Fields& fields);
/// A list of one number for each of the hidden units; fails where it is absent.
Result<std::vector<float>> hidden_numbers(const Fields& fields, std::string_view name);

}  // namespace kiln::plugins
