/// How a sliding window (Convolution, Deconvolution, Pooling) meets the edges of its input.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::ops {

/// nvinfer1::PaddingMode and, behind it, what ONNX's ceil_mode means. ops/window.h has the formulas.
enum class PaddingMode : int32_t {
  kExplicitRoundDown,  ///< pre_pads and post_pads as given; only windows that lie within the padded input
  kExplicitRoundUp,    ///< the same, and a last window that may begin within the padded input and end beyond it
  kSameUpper,          ///< ceil(in / stride) windows, padded as evenly as possible, the odd one behind
  kSameLower,          ///< the same, the odd one before
  kRoundUpInside       ///< kExplicitRoundUp without windows that begin behind the input; Pooling only
};
inline std::span<const std::string_view> enum_names(PaddingMode) {
  static constexpr std::string_view kNames[] = {"explicit_round_down", "explicit_round_up", "same_upper", "same_lower",
                                                "round_up_inside"};
  return kNames;
}
constexpr bool is_same(PaddingMode mode) { return mode == PaddingMode::kSameUpper || mode == PaddingMode::kSameLower; }

}  // namespace kiln::ops
