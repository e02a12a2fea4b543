/// Shared by Convolution and Deconvolution: the rules of their inputs, and planes of up to three spatial axes.
#pragma once

#include <array>
#include <string_view>

#include "ops/infer_context.h"
#include "ops/window.h"
#include "tensor/view.h"

namespace kiln::ops {

/// Types of x and w: floats, one type or, where it `may_be_float`, w FP32 for halves; ranks 3 to 5.
Status check_filter_types(InferContext& cx, std::string_view op, bool may_be_float = false);
/// w's spatial extents, which must be constants and, if `stated` is not empty, equal to it.
Result<Extents> filter_kernel(const TensorType& w, std::span<const int64_t> stated);
/// One axis of w's type.
Status check_filter_bias(InferContext& cx, sym::Expr outputs);

/// A spatial axis with extents: what a reference walks over. `wide` is the axis whose index the window divides: the
/// input of a convolution, the output of a deconvolution.
struct FilterAxis {
  WindowAxis window;
  int64_t wide = 1, narrow = 1;
};
/// Always three, missing ones in front with extent 1.
using FilterAxes = std::array<FilterAxis, 3>;
FilterAxes filter_axes(std::span<const WindowAxis> windows, std::span<const int64_t> wide,
                       std::span<const int64_t> narrow);
/// Calls `row(wide_first, wide_stride, narrow_first, count)` for each run along the innermost axis that tap `tap`
/// (an index into the kernel's elements) connects: element i of it is at wide_first + i * wide_stride of the wide plane
/// and at narrow_first + i of the narrow one.
template <class Row>
void for_each_run(const FilterAxes& axes, int64_t tap, Row row) {
  const auto& [d, h, w] = axes;
  const std::array<int64_t, 3> t{tap / (h.window.kernel * w.window.kernel), tap / w.window.kernel % h.window.kernel,
                                 tap % w.window.kernel};
  std::array<IndexRange, 3> inside{};
  for (size_t i = 0; i < 3; ++i) inside[i] = outputs_inside(axes[i].window, t[i], axes[i].wide, axes[i].narrow);
  const auto wide_at = [&](size_t i, int64_t p) {
    return p * axes[i].window.stride - axes[i].window.pre + t[i] * axes[i].window.dilation;
  };
  const int64_t count = inside[2].end - inside[2].begin;
  if (count <= 0) return;
  for (int64_t z = inside[0].begin; z < inside[0].end; ++z)
    for (int64_t y = inside[1].begin; y < inside[1].end; ++y)
      row((wide_at(0, z) * h.wide + wide_at(1, y)) * w.wide + wide_at(2, inside[2].begin), w.window.stride,
          (z * h.narrow + y) * w.narrow + inside[2].begin, count);
}

}  // namespace kiln::ops
