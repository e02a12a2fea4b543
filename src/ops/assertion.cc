#include "ops/assertion.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::Assertion>();

namespace ops {

namespace {
/// Assumes that a condition is 1. A comparison is assumed as such: its error has both numbers, and a build learns from
/// it.
Status assume_true(InferContext& cx, sym::Expr condition, std::string_view why) {
  const auto is_number = [](sym::Expr e) { return !sym::is_real_operation(e.kind()); };
  const bool compares = (condition.kind() == sym::Kind::kEqual || condition.kind() == sym::Kind::kLess) &&
                        is_number(condition.lhs()) && is_number(condition.rhs());
  if (condition.kind() == sym::Kind::kMin) {  // both
    TRY(assume_true(cx, condition.lhs(), why));
    return assume_true(cx, condition.rhs(), why);
  }
  sym::Assumption assumption{sym::Relation::kLessEqual, 1, condition, std::string(why)};
  if (compares && condition.kind() == sym::Kind::kEqual)
    assumption = {sym::Relation::kEqual, condition.lhs(), condition.rhs(), std::string(why)};
  else if (compares)
    assumption = {sym::Relation::kLessEqual, condition.lhs() + 1, condition.rhs(), std::string(why)};
  return in_context(sym::assume(cx.assumptions(), std::move(assumption)),
                    [&] { return str("the ", why, " does not hold"); });
}
}  // namespace

Status Assertion::infer(InferContext& cx) const {
  const TensorType& condition = TRY(cx.input(0));
  TRY(cx.require(condition.dtype == DType::kBool, "the condition is ", condition, "; booleans are needed"));
  if (!cx.has_values(0)) return {};  // the builder sees to it
  const std::string why = str("assertion '", message, "'");
  for (const sym::Expr& value : TRY(cx.values(0))) {
    TRY(cx.require(value.constant() != 0, "the assertion '", message, "' does not hold"));
    TRY(assume_true(cx, value, why));
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
