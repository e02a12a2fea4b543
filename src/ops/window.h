/// The geometry of sliding windows, one spatial axis at a time: output extents, and pads where the mode implies them.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "ops/padding_mode.h"
#include "sym/expr.h"
#include "tensor/extents.h"

namespace kiln {
class InferContext;
}

namespace kiln::ops {

/// A window along one spatial axis. Output index o reads input indices o * stride - pre + t * dilation for the taps t
/// in [0, kernel); a deconvolution has the two indices swapped.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1, pre = 0, post = 0;
  int64_t reach() const { return dilation * (kernel - 1) + 1; }  ///< from the first tap to the last, both included
  bool operator==(const WindowAxis&) const = default;
};

/// The attributes as an op has them: empty vectors mean ones (strides, dilations) and zeros (pads).
struct WindowAttributes {
  std::span<const int64_t> kernel, strides, pre_pads, post_pads, dilations;
  bool negative_post_pads = false;  ///< allowed: how a deconvolution says that its output is longer
};
/// One axis for each entry of `kernel`. Fails if a list has another length or a number is out of range.
Result<std::vector<WindowAxis>> window_axes(const WindowAttributes& attributes);
/// The window of an op with fields strides, pre_pads, post_pads and dilations.
template <class T>
Result<std::vector<WindowAxis>> window_axes(const T& op, std::span<const int64_t> kernel) {
  return window_axes(WindowAttributes{.kernel = kernel,
                                      .strides = op.strides,
                                      .pre_pads = op.pre_pads,
                                      .post_pads = op.post_pads,
                                      .dilations = op.dilations});
}

/// The number of windows along an axis of extent `in`; with I = in, M = I + pre + post:
///   kExplicitRoundDown  floor((M - reach) / stride) + 1        kExplicitRoundUp  ceil((M - reach) / stride) + 1
///   kSame*              ceil(I / stride)
///   kRoundUpInside      kExplicitRoundUp's, but at most floor((I + pre - 1) / stride) + 1; M may be less than
///                       reach, by less than a stride
/// `axis` is named in the error of an input that is too short, or in the assumption that it is not.
Result<sym::Expr> window_extent(InferContext& cx, sym::Expr in, const WindowAxis& window, PaddingMode mode, int axis);
/// The axis with the pads that `mode` implies for an input of extent `in`: as they are, or of kSame*
/// P = max((ceil(in / stride) - 1) * stride + reach - in, 0), halved.
WindowAxis with_pads(WindowAxis window, PaddingMode mode, int64_t in);

/// The extent of a deconvolution's output: (in - 1) * stride + reach - pre - post after `with_deconvolution_pads`.
sym::Expr deconvolution_extent(sym::Expr in, const WindowAxis& window);
/// The pads that `mode` implies: as they are, or of kSame* P = max(reach - stride, 0), halved.
WindowAxis with_deconvolution_pads(WindowAxis window, PaddingMode mode);

/// The output indices [begin, end) whose tap `tap` lies within the input.
struct IndexRange {
  int64_t begin, end;
};
IndexRange outputs_inside(const WindowAxis& window, int64_t tap, int64_t in, int64_t out);

}  // namespace kiln::ops
