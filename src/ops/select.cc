#include "ops/select.h"

#include "ops/define.h"
#include "ops/pointwise.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::Select>();

namespace ops {

namespace {
std::optional<sym::Expr> combine(const void*, DType dtype, std::span<const sym::Expr> at) {
  const sym::Expr condition = at[0], then = at[1], otherwise = at[2];
  if (then == otherwise) return then;
  switch (sym::compare_equal(condition, 0)) {
    case sym::Truth::kYes: return otherwise;
    case sym::Truth::kNo: return then;
    case sym::Truth::kUnknown: break;
  }
  if (is_float(dtype)) return sym::real_choice(condition, then, otherwise);
  return condition * then + (1 - condition) * otherwise;
}
}  // namespace

Status Select::infer(InferContext& cx) const {
  const TensorType& condition = TRY(cx.input(0));
  const TensorType& then = TRY(cx.input(1));
  const TensorType& otherwise = TRY(cx.input(2));
  TRY(cx.require(condition.dtype == DType::kBool, "condition is ", condition, "; Select takes a bool"));
  TRY(cx.require(then.dtype == otherwise.dtype, "Select between ", then, " and ", otherwise,
                 "; both need one type, insert a Cast"));
  TRY(cx.require(bits_of(then.dtype) >= 8, "Select between ", then, "; it takes no 4-bit types"));
  Shape shape = TRY(broadcast_inputs(cx, "Select"));
  return set_pointwise_output(cx, then.dtype, std::move(shape), this, combine);
}

Status Select::reference(ReferenceContext& cx) const {
  const View condition = TRY(cx.input(0)), then = TRY(cx.input(1)), otherwise = TRY(cx.input(2));
  const MutableView y = TRY(cx.output(0));
  BroadcastWalk walk = TRY(walk_output(cx));
  for (int64_t i = 0; !walk.done(); ++i, walk.next()) {
    if (condition.integer(walk.at()[0]))
      y.copy_element(i, then, walk.at()[1]);
    else
      y.copy_element(i, otherwise, walk.at()[2]);
  }
  return {};
}

Scalar Select::scalar() const { return {ScalarFn::kSelect}; }

}  // namespace ops
}  // namespace kiln
