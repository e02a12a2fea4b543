/// The window of a convolution, deconvolution or pooling as a step has it.
#pragma once

#include "ops/padding_mode.h"
#include "steps/window.h"

namespace kiln {

/// One number a spatial axis; an empty attribute means `absent` for each.
inline Extents or_all(const std::vector<int64_t>& attribute, size_t axes, int64_t absent) {
  return attribute.empty() ? Extents(axes, absent) : Extents(attribute);
}

/// The window of an op with strides, dilations, pre_pads and padding, whose kernel has extents `kernel`.
template <class T>
steps::Window window_of(const T& op, const Extents& kernel) {
  const size_t axes = kernel.size();
  return {.kernel = kernel,
          .strides = or_all(op.strides, axes, 1),
          .dilations = or_all(op.dilations, axes, 1),
          .pads = or_all(op.pre_pads, axes, 0),
          .same_upper = op.padding == ops::PaddingMode::kSameUpper,
          .same_lower = op.padding == ops::PaddingMode::kSameLower};
}

}  // namespace kiln
