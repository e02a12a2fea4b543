/// The slots of windows that convolutions, deconvolutions and poolings share: strides, pads, dilations, as lists with a
/// number for each spatial axis.
#pragma once

#include <algorithm>

#include "api/base/convert.h"
#include "api/build/arguments.h"
#include "api/build/layer.h"
#include "ops/padding_mode.h"

namespace kiln::api {

/// A list of the op, or as many of `otherwise` as there are axes where it is empty.
inline nv::Dims window_list(const std::vector<int64_t>& list, size_t axes, int64_t otherwise) {
  return to_api(list.empty() ? std::vector<int64_t>(axes, otherwise) : list);
}

/// ONNX's rule for ceil_mode, which the parser sets, is a variant of rounding up.
inline nv::PaddingMode to_api(ops::PaddingMode mode) {
  return mode == ops::PaddingMode::kRoundUpInside ? nv::PaddingMode::kEXPLICIT_ROUND_UP
                                                  : static_cast<nv::PaddingMode>(mode);
}

}  // namespace kiln::api
