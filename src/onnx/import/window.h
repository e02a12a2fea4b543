/// The attributes that convolutions and pools share: pads, strides, dilations and auto_pad.
#pragma once

#include "onnx/import/compose.h"
#include "ops/padding_mode.h"

namespace kiln::onnx {

inline constexpr int64_t kLargestOfWindow = INT32_MAX;  ///< of its numbers: products of two fit in int64

struct WindowAttributes {
  Ints kernel;  ///< empty if not stated
  Ints strides, dilations, pre_pads, post_pads;
  ops::PaddingMode padding = ops::PaddingMode::kExplicitRoundDown;
};
/// Reads a node whose input has `spatial` axes behind batch and channels. Every list gets an entry for each axis, none
/// above kLargestOfWindow.
Result<WindowAttributes> window_attributes(ImportContext& cx, int spatial);
/// The spatial axes of x, [N, C, spatial...]; fails where there are none or more than Kiln's three.
Result<int> spatial_axes(ImportContext& cx, ValueId x);

}  // namespace kiln::onnx
