/// What the plugins of BERT have in common.
#pragma once

#include <limits>

#include "library/standard_plugin.h"

namespace kiln::plugins {

/// Added to the variance of a layer normalization: what TensorRT adds in FP32 for 768 and 1024 hidden units of a skip
/// layer normalization. Elsewhere it adds nothing, and equal numbers give NaN.
constexpr double kLayerNormEps = std::numeric_limits<float>::epsilon();

/// What the field `type_id` says of a plugin's numbers.
enum class BertType : int8_t {
  kF32 = 0,
  kF16 = 1,
  kBytes = 2  ///< i8 by ranges
};
Result<BertType> bert_type(const Fields& fields);
/// Fails for other types than floats.
Status require_float_type(const Fields& fields);
/// Fails where the starts of packed sequences are a constant that does not begin with 0, falls, or ends behind the
/// tokens; `tokens` is the number of all.
Status check_starts(const Value& starts, const Extent& tokens);
/// A list of one number for each of the hidden units; fails where it is absent.
Result<std::vector<float>> hidden_numbers(const Fields& fields, std::string_view name);

}  // namespace kiln::plugins
