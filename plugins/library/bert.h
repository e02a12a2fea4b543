/// What the plugins of BERT have in common.
#pragma once

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// Of the layer normalizations, whose variance may be 0.
constexpr double kLayerNormEps = 1e-6;

/// Fails for what `type_id` cannot be: 0 is FP32, 1 FP16; INT8 is not in Kiln.
Status require_float_type(const Fields& fields);
/// A list of one number for each of the hidden units; fails where it is absent.
Result<std::vector<float>> hidden_numbers(const Fields& fields, std::string_view name);

}  // namespace kiln::plugins
