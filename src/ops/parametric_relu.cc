#include "ops/parametric_relu.h"

#include "ops/define.h"
#include "ops/pointwise.h"

namespace kiln {
template const OpInfo& op_info<ops::ParametricRelu>();

namespace ops {

Status ParametricRelu::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& slope = TRY(cx.input(1));
  TRY(cx.require(is_compute_float(x.dtype), "x is ", x, "; ParametricRelu takes f32, f16 or bf16"));
  TRY(cx.require(slope.dtype == x.dtype && slope.rank() == x.rank(), "slope is ", slope, " and x ", x,
                 "; one type and rank are needed"));
  for (size_t i = 0; i < x.shape.size(); ++i)
    TRY(cx.assume_one_or(slope.shape[i], x.shape[i], str("axis ", i, " of slope ", slope, " broadcasts to x ", x)));
  return cx.set_output(0, x, x.shape);
}

Status ParametricRelu::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), slope = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  BroadcastWalk walk = TRY(walk_output(cx));
  for (int64_t i = 0; !walk.done(); ++i, walk.next()) y.set(i, x[i] < 0 ? x[i] * slope[walk.at()[1]] : x[i]);
  return {};
}

}  // namespace ops
}  // namespace kiln
