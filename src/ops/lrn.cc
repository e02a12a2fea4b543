#include "ops/lrn.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::Lrn>();

namespace ops {

Status Lrn::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_compute_float(x.dtype) && x.rank() >= 2, "x is ", x,
                 "; Lrn takes f32, f16, bf16 or f64 [N, C, ...]"));
  TRY(cx.require(window >= 1, "window is ", window, "; 1 is the least"));
  return cx.set_output(0, x, x.shape);
}

Status Lrn::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const int64_t channels = x.extents()[1], inner = volume(std::span(x.extents()).subspan(2));
  for (int64_t i = 0; i < x.volume(); ++i) {
    const int64_t c = i / inner % channels;
    const int64_t first = std::max<int64_t>(c - (window - 1) / 2, 0), end = std::min(c + window / 2 + 1, channels);
    double sum = 0;
    for (int64_t at = first; at < end; ++at) {
      const double value = x[i + (at - c) * inner];
      sum += value * value;
    }
    y.set(i, x[i] / std::pow(k + alpha / static_cast<double>(window) * sum, beta));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
