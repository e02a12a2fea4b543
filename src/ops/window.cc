#include "ops/window.h"

#include <algorithm>

#include "ops/infer_context.h"

namespace kiln::ops {
namespace {

constexpr int64_t kLargest = INT32_MAX;  // products of two of these fit in int64

struct List {
  std::string_view name;
  std::span<const int64_t> values;
  int64_t least, otherwise;
};

/// Entry `i`, checked, or what an empty list stands for.
Result<int64_t> entry(const List& list, size_t i, size_t rank) {
  if (list.values.empty()) return list.otherwise;
  TRY(require(list.values.size() == rank, list.name, " is ", list.values, ", with ", list.values.size(),
              " entries; there are ", rank, " spatial axes"));
  const int64_t value = list.values[i];
  TRY(require(value >= list.least && value <= kLargest, list.name, " is ", list.values, "; ", value, " is outside [",
              list.least, ", ", kLargest, "]"));
  return value;
}

int64_t ceil_of(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : -(-a / b); }

WindowAxis halve(WindowAxis window, PaddingMode mode, int64_t total) {
  const int64_t smaller = total / 2;
  window.pre = mode == PaddingMode::kSameUpper ? smaller : total - smaller;
  window.post = total - window.pre;
  return window;
}

}  // namespace

Result<std::vector<WindowAxis>> window_axes(const WindowAttributes& a) {
  const size_t rank = a.kernel.size();
  const List kernel{"kernel", a.kernel, 1, 1}, strides{"strides", a.strides, 1, 1},
      dilations{"dilations", a.dilations, 1, 1}, pre{"pre_pads", a.pre_pads, 0, 0},
      post{"post_pads", a.post_pads, a.negative_post_pads ? -kLargest : 0, 0};
  std::vector<WindowAxis> axes(rank);
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& axis = axes[i];
    axis.kernel = TRY(entry(kernel, i, rank));
    axis.stride = TRY(entry(strides, i, rank));
    axis.dilation = TRY(entry(dilations, i, rank));
    axis.pre = TRY(entry(pre, i, rank));
    axis.post = TRY(entry(post, i, rank));
  }
  return axes;
}

Result<sym::Expr> window_extent(InferContext& cx, sym::Expr in, const WindowAxis& window, PaddingMode mode, int axis) {
  const sym::Expr stride = window.stride;
  if (is_same(mode)) return sym::ceil_div(in, stride);
  const sym::Expr padded = in + sym::Expr(window.pre + window.post), reach = window.reach();
  // Of a window that rounds up inside, less than a stride may reach beyond all pads, as of any other last window.
  const sym::Expr least = mode == PaddingMode::kRoundUpInside ? reach - (stride - 1) : reach;
  if (sym::provably_less(padded, least))
    return error(Code::kInvalidArgument, "the window reaches over ", reach, " elements of axis ", axis, ", which has ",
                 in, " and pads of ", window.pre, " and ", window.post);
  if (!sym::provably_less_equal(least, padded))
    TRY(sym::assume(cx.assumptions(),
                    {sym::Relation::kLessEqual, least, padded, str("the window must fit into padded axis ", axis)}));
  const sym::Expr steps = padded - reach;
  if (mode == PaddingMode::kExplicitRoundDown) return sym::floor_div(steps, stride) + 1;
  const sym::Expr up = sym::ceil_div(steps, stride) + 1;
  if (mode == PaddingMode::kExplicitRoundUp) return up;
  return sym::min(up, sym::floor_div(in + sym::Expr(window.pre - 1), stride) + 1);
}

WindowAxis with_pads(WindowAxis window, PaddingMode mode, int64_t in) {
  if (!is_same(mode)) return window;
  const int64_t covered = (ceil_of(in, window.stride) - 1) * window.stride + window.reach();
  return halve(window, mode, std::max<int64_t>(covered - in, 0));
}

sym::Expr deconvolution_extent(sym::Expr in, const WindowAxis& window) {
  return (in - 1) * sym::Expr(window.stride) + sym::Expr(window.reach() - window.pre - window.post);
}

WindowAxis with_deconvolution_pads(WindowAxis window, PaddingMode mode) {
  if (!is_same(mode)) return window;
  return halve(window, mode, std::max<int64_t>(window.reach() - window.stride, 0));
}

IndexRange outputs_inside(const WindowAxis& window, int64_t tap, int64_t in, int64_t out) {
  const int64_t offset = tap * window.dilation - window.pre;  // of the input index that output 0 reads
  const int64_t begin = std::max<int64_t>(ceil_of(-offset, window.stride), 0);
  const int64_t end = std::min(ceil_of(in - offset, window.stride), out);
  return {begin, std::max(begin, end)};
}

}  // namespace kiln::ops
