#include "ops/ragged_softmax.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::RaggedSoftmax>();

namespace ops {

Status RaggedSoftmax::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& bounds = TRY(cx.input(1));
  TRY(cx.require(is_compute_float(x.dtype) && x.rank() >= 2, "x is ", x,
                 "; RaggedSoftmax takes f32, f16 or bf16 of two axes at least"));
  TRY(cx.require(bounds.dtype == DType::kI32 && bounds.rank() == x.rank(), "bounds are ", bounds,
                 "; i32 of x's rank is needed, x is ", x));
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const bool is_last = i + 1 == x.shape.size();
    TRY(cx.assume_equal(bounds.shape[i], is_last ? sym::Expr(1) : x.shape[i],
                        str("axis ", i, " of bounds ", bounds, ", one for each sequence of x ", x)));
  }
  return cx.set_output(0, x, x.shape);
}

Status RaggedSoftmax::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), bounds = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const int64_t extent = x.extents().back();
  for (int64_t row = 0; row < bounds.volume(); ++row) {
    const int64_t begin = row * extent, length = std::clamp<int64_t>(bounds.integer(row), 0, extent);
    double peak = -INFINITY, sum = 0;
    for (int64_t i = 0; i < length; ++i) peak = std::max(peak, x[begin + i]);
    for (int64_t i = 0; i < length; ++i) sum += std::exp(x[begin + i] - peak);
    for (int64_t i = 0; i < extent; ++i) y.set(begin + i, i < length ? std::exp(x[begin + i] - peak) / sum : 0);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
