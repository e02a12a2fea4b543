/// The copies that make a concatenation of views.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/move/move.h"
#include "steps/concatenation.h"

namespace kiln::cuda {

/// The copies that put `count` inputs, whose views `params` have, one after the other along `axis` of a tensor of
/// extents `y`.
inline std::vector<StridedCopy> copies_of_views(const Extents& y, size_t count, std::span<const int64_t> params,
                                                int axis) {
  std::vector<StridedCopy> inputs;
  for (size_t i = 0; i < count; ++i) {
    const steps::JoinedView view = steps::Concatenation::view_of(i, y.size(), params);
    StridedCopy& copy = inputs.emplace_back(StridedCopy{y});
    copy.extents[static_cast<size_t>(axis)] = view.extent;
    std::ranges::copy(view.strides, copy.from.begin());
    copy.from_offset = view.offset;
  }
  return concatenation_copies(std::move(inputs), axis);
}

}  // namespace kiln::cuda
