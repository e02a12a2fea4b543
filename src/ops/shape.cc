#include "ops/shape.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Shape>();

namespace ops {

Status Shape::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  return cx.set_output(0, TensorType(DType::kI64, {sym::Expr(x.rank())}, SymbolicValues(x.shape)));
}

Status Shape::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  for (int i = 0; i < x.rank(); ++i) y.set_integer(i, x.extents()[static_cast<size_t>(i)]);
  return {};
}

}  // namespace ops
}  // namespace kiln
