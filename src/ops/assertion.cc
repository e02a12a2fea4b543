#include "ops/assertion.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Assertion>();

namespace ops {

Status Assertion::infer(InferContext& cx) const {
  const TensorType& condition = TRY(cx.input(0));
  TRY(cx.require(condition.dtype == DType::kBool, "the condition is ", condition, "; booleans are needed"));
  for (const sym::Expr& value : TRY(cx.values(0))) {
    TRY(cx.require(value.constant() != 0, "the assertion '", message, "' does not hold"));
    TRY(sym::assume(cx.assumptions(), {sym::Relation::kLessEqual, 1, value, str("assertion '", message, "'")}));
  }
  return {};
}

Status Assertion::reference(ReferenceContext& cx) const {
  for (const int64_t value : TRY(cx.input(0)).integers())
    TRY(require(value != 0, "the assertion '", message, "' does not hold"));
  return {};
}

}  // namespace ops
}  // namespace kiln
