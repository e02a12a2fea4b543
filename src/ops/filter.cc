#include "ops/filter.h"

namespace kiln::ops {

Status check_filter_types(InferContext& cx, std::string_view op, bool may_be_float) {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& w = TRY(cx.input(1));
  TRY(cx.require(is_float(x.dtype), "x is ", x, "; ", op, " takes a float type"));
  TRY(cx.require(x.rank() >= 3 && x.rank() <= 5, "x is ", x, ", of rank ", x.rank(),
                 "; it must be [N, C] and 1 to 3 spatial axes"));
  const bool is_float_of_half = may_be_float && is_kernel_float(x.dtype) && w.dtype == DType::kF32;
  TRY(cx.require(w.dtype == x.dtype || is_float_of_half, "w is ", w, " and x is ", x, "; their types must agree"));
  TRY(cx.require(w.rank() == x.rank(), "w is ", w, ", of rank ", w.rank(), "; x ", x, " needs rank ", x.rank()));
  return {};
}

Result<Extents> filter_kernel(const TensorType& w, std::span<const int64_t> stated) {
  Extents kernel;
  for (size_t i = 2; i < w.shape.size(); ++i) {
    const auto extent = w.shape[i].constant();
    TRY(require(extent.has_value(), "w is ", w, "; its extent ", w.shape[i], " of axis ", i, " must be a constant"));
    kernel.push_back(*extent);
  }
  TRY(require(stated.empty() || std::equal(stated.begin(), stated.end(), kernel.begin(), kernel.end()), "kernel is ",
              stated, ", but w is ", w));
  return kernel;
}

Status check_filter_bias(InferContext& cx, sym::Expr outputs) {
  if (!cx.has_input(2)) return {};
  const TensorType& w = TRY(cx.input(1));
  const TensorType& bias = TRY(cx.input(2));
  TRY(cx.require(bias.dtype == w.dtype, "bias is ", bias, " and w is ", w, "; their types must agree"));
  TRY(cx.require(bias.rank() == 1, "bias is ", bias, ", of rank ", bias.rank(), "; it must have one axis"));
  return cx.assume_equal(bias.shape[0], outputs, "bias has one element an output channel");
}

FilterAxes filter_axes(std::span<const WindowAxis> windows, std::span<const int64_t> wide,
                       std::span<const int64_t> narrow) {
  FilterAxes axes;
  const size_t skip = axes.size() - windows.size();
  for (size_t i = 0; i < windows.size(); ++i) axes[skip + i] = {windows[i], wide[i], narrow[i]};
  return axes;
}

}  // namespace kiln::ops
