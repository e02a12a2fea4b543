/// The window of a convolution, deconvolution or pooling as a step's payload has it.
#pragma once

#include "backend/cpu/exec/window.h"
#include "ops/padding_mode.h"

namespace kiln::cpu {

/// One number a spatial axis; an empty attribute means `absent` for each.
inline Extents or_all(const std::vector<int64_t>& attribute, size_t axes, int64_t absent) {
  return attribute.empty() ? Extents(axes, absent) : Extents(attribute);
}

/// Of an op with strides, dilations, pre_pads and padding.
template <class T>
WindowSpec window_spec(const T& op, const Extents& kernel) {
  return {kernel,
          or_all(op.strides, kernel.size(), 1),
          or_all(op.dilations, kernel.size(), 1),
          or_all(op.pre_pads, kernel.size(), 0),
          op.padding == ops::PaddingMode::kSameUpper,
          op.padding == ops::PaddingMode::kSameLower};
}

}  // namespace kiln::cpu
