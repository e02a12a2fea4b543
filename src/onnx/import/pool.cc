#include "onnx/import/pool.h"

#include "onnx/import/importers.h"
#include "onnx/import/max_pool_indices.h"
#include "onnx/import/window.h"
#include "ops/lrn.h"
#include "ops/pooling.h"

namespace kiln::onnx::importers {
namespace {

Result<ops::Pooling> pooling_of(ImportContext& cx, ops::PoolingKind kind) {
  WindowAttributes w = TRY(window_attributes(cx, TRY(spatial_axes(cx, TRY(cx.input(0))))));
  TRY(require(!w.kernel.empty(), "attribute 'kernel_shape' is missing; INTS is needed"));
  ops::Pooling op;
  op.kind = kind;
  op.window = std::move(w.kernel);
  op.strides = std::move(w.strides);
  op.pre_pads = std::move(w.pre_pads);
  op.post_pads = std::move(w.post_pads);
  op.dilations = std::move(w.dilations);
  op.padding = w.padding;
  if (!is_same(op.padding) && TRY(cx.node().get_int("ceil_mode", 0)) != 0)
    op.padding = ops::PaddingMode::kRoundUpInside;
  return op;
}

/// The spatial axes of x, all reduced to extent 1.
Status global(ImportContext& cx, ReduceKind kind) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) >= 2, "x is ", cx.type(x), "; [N, C, spatial...] is needed"));
  return cx.output(TRY(reduce(cx, kind, x, axes_between(2, cx.rank(x)), true)));
}

/// |x| to the power p, and back.
Result<ValueId> raised(ImportContext& cx, ValueId x, int64_t p) {
  const ValueId size = TRY(unary(cx, UnaryKind::kAbs, x));
  if (p == 1) return size;
  if (p == 2) return binary(cx, ElementWiseKind::kProd, size, size);
  return binary(cx, ElementWiseKind::kPow, size, static_cast<double>(p));
}
Result<ValueId> root(ImportContext& cx, ValueId x, int64_t p) {
  if (p == 1) return x;
  if (p == 2) return unary(cx, UnaryKind::kSqrt, x);
  return binary(cx, ElementWiseKind::kPow, x, 1.0 / static_cast<double>(p));
}

}  // namespace

Status max_pool(ImportContext& cx) {
  const ops::Pooling op = TRY(pooling_of(cx, ops::PoolingKind::kMax));
  const ValueId x = TRY(cx.input(0)), y = TRY(cx.add(op, {x}));
  const bool column_major = TRY(cx.node().get_int("storage_order", 0)) != 0;
  if (cx.wants(1)) {
    TRY(cx.output(1, TRY(max_pool_indices(cx, op, x, y, column_major))));
  }
  return cx.output(y);
}

Status average_pool(ImportContext& cx) { return cx.output(TRY(average_pool_of(cx, TRY(cx.input(0))))); }

/// Pads behind x, so that windows which reach beyond it are those of ceil_mode, and have their taps counted.
Status pad_for_last_windows(ImportContext& cx, ValueId x, ops::Pooling& op) {
  op.padding = ops::PaddingMode::kExplicitRoundDown;
  for (size_t i = 0; i < op.window.size(); ++i) {
    const auto extent = cx.type(x).shape[i + 2].constant();
    TRY(require(extent.has_value(), "ceil_mode is 1 and axis ", i + 2, " of ", cx.type(x),
                " is dynamic, which LpPool does not support"));
    TRY(require(*extent <= kLargestOfWindow, "ceil_mode is 1 and axis ", i + 2, " of ", cx.type(x), " is longer than ",
                kLargestOfWindow));
    const int64_t reach = op.dilations[i] * (op.window[i] - 1) + 1;
    const int64_t beyond = (*extent + op.pre_pads[i] + op.post_pads[i] - reach) % op.strides[i];
    const int64_t last = *extent + op.pre_pads[i] + op.post_pads[i] - reach - beyond + op.strides[i];
    if (beyond > 0 && last < *extent + op.pre_pads[i]) op.post_pads[i] += op.strides[i] - beyond;
  }
  return {};
}

/// The p-th root of the window's sum of p-th powers: an average times the number of taps.
Status lp_pool(ImportContext& cx) {
  ops::Pooling op = TRY(pooling_of(cx, ops::PoolingKind::kAverage));
  const int64_t p = TRY(cx.node().get_int("p", 2));
  op.average_excludes_padding = false;
  if (op.padding == ops::PaddingMode::kRoundUpInside) TRY(pad_for_last_windows(cx, TRY(cx.input(0)), op));
  double taps = 1;
  for (const int64_t extent : op.window) taps *= static_cast<double>(extent);
  const ValueId powers = TRY(raised(cx, TRY(cx.input(0)), p));
  const ValueId average = TRY(cx.add(std::move(op), {powers}));
  return cx.output(TRY(root(cx, TRY(binary(cx, ElementWiseKind::kProd, average, taps)), p)));
}

Status global_average_pool(ImportContext& cx) { return global(cx, ReduceKind::kAvg); }
Status global_max_pool(ImportContext& cx) { return global(cx, ReduceKind::kMax); }
Status global_lp_pool(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t p = TRY(cx.node().get_int("p", 2));
  const ValueId sum = TRY(reduce(cx, ReduceKind::kSum, TRY(raised(cx, x, p)), axes_between(2, cx.rank(x)), true));
  return cx.output(TRY(root(cx, sum, p)));
}

/// x / (bias + alpha / size * s) ^ beta, s the sum of squares of `size` neighbouring channels: an average pool along
/// channels, which stand as a spatial axis meanwhile.
Status lrn(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  TRY(require(cx.rank(x) >= 2, "x is ", cx.type(x), "; [N, C, ...] is needed"));
  const int64_t size = TRY(cx.node().need_int("size"));
  TRY(require(size > 0, "size is ", size, "; it must be positive"));
  const float alpha = TRY(cx.node().get_float("alpha", 1e-4f)), beta = TRY(cx.node().get_float("beta", 0.75f));
  const float bias = TRY(cx.node().get_float("bias", 1));
  return cx.output(TRY(cx.add(ops::Lrn{.window = size, .alpha = alpha, .beta = beta, .k = bias}, {x})));
}

}  // namespace kiln::onnx::importers

namespace kiln::onnx {

Result<ValueId> average_pool_of(ImportContext& cx, ValueId x) {
  ops::Pooling op = TRY(importers::pooling_of(cx, ops::PoolingKind::kAverage));
  op.average_excludes_padding = TRY(cx.node().get_int("count_include_pad", 0)) == 0;
  return cx.add(std::move(op), {x});
}

}  // namespace kiln::onnx
