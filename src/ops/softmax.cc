#include "ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "ops/define.h"
#include "ops/lane.h"

namespace kiln {
template const OpInfo& op_info<ops::Softmax>();

namespace ops {

Status Softmax::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  TRY(cx.require(is_float(x.dtype), "x is ", x, "; Softmax takes a float type"));
  TRY(cx.axis(axis, x));
  return cx.set_output(0, TensorType(x.dtype, x.shape));
}

Status Softmax::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  const int along = TRY(cx.axis(axis, x.rank()));
  for (const Lane& lane : lanes(x.extents(), along)) {
    double peak = -INFINITY, sum = 0;
    for (const int64_t i : lane) peak = std::max(peak, x[i]);
    for (const int64_t i : lane) sum += std::exp(x[i] - peak);
    for (const int64_t i : lane) y.set(i, std::exp(x[i] - peak) / sum);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
