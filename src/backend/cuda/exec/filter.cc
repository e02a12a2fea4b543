#include "backend/cuda/exec/filter.h"

#include <algorithm>

#include "steps/step_tensors.h"

namespace kiln::cuda {

Result<FilterExtents> Filter::extents(const Extents& w) const {
  TRY(require(w.size() == window.kernel.size() + 2 && std::ranges::equal(std::span(w).subspan(2), window.kernel),
              "the convolution's weights ", w, " do not fit its window ", window.kernel));
  return FilterExtents::of(w, groups, transposed);
}

Status check_point(const StepShapes& shapes) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const Extents &x = shapes.inputs[0], &w = shapes.inputs[1], &y = shapes.outputs[0];
  TRY(require(
      w.size() >= 2 && x.size() >= 2 && x[1] == w[1] && w[0] < kMost && w[1] < kMost && volume(w) == w[0] * w[1],
      "weights ", w, " do not make ", y, " of ", x, " by a convolution of one tap"));
  Extents made = x;
  made[1] = w[0];
  return require_extents(y, made, "a convolution by one tap");
}

ConvStrides strides_of(const Format& format, std::span<const int64_t> extents) {
  const Extents all = format.strides(extents);
  ConvStrides strides{all[0], all[1], {0, 0, 0}};
  for (size_t i = 2; i < all.size(); ++i) strides.at[3 - (all.size() - 2) + (i - 2)] = all[i];
  return strides;
}

}  // namespace kiln::cuda
