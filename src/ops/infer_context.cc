#include "ops/infer_context.h"

#include "tensor/view.h"

namespace kiln {

Result<Ref<const TensorType>> InferContext::input(int i) const {
  if (!has_input(i)) return error(Code::kInvalidArgument, "input ", i, " is missing");
  return std::cref(*inputs_[static_cast<size_t>(i)].type);
}

bool InferContext::has_values(int i) const {
  if (!has_input(i)) return false;
  if (inputs_[static_cast<size_t>(i)].type->values) return true;
  const HostTensor* known = constant(i);
  return known && (is_integer(known->dtype()) || known->dtype() == DType::kBool);
}

Result<SymbolicValues> InferContext::values(int i) const {
  const TensorType& type = TRY(input(i));
  if (type.values) return *type.values;
  if (const HostTensor* known = constant(i)) {
    TRY(kiln::require(is_integer(known->dtype()) || known->dtype() == DType::kBool, "input ", i, " is ", type,
                      "; integers are needed where shapes depend on values"));
    const View view(*known);
    SymbolicValues result;
    for (int64_t k = 0; k < view.volume(); ++k) result.emplace_back(view.integer(k));
    return result;
  }
  return error(Code::kInvalidArgument, "input ", i, " (", type,
               ") must be known before the op runs, from constants, shapes or shape inputs; it is computed from data");
}

Status InferContext::set_output(int i, TensorType type) {
  CHECK(i >= 0 && i < num_outputs());
  TRY(kiln::require(type.rank() <= kMaxRank, "output ", i, " would have rank ", type.rank(), "; at most ", kMaxRank,
                    " axes are possible"));
  for (const sym::Expr& e : type.shape) {
    TRY(kiln::require(e.is_valid(), "output ", i, " has an extent without a value: ", e.why_invalid()));
    TRY(kiln::require(e.max() >= 0, "output ", i, " would be ", type, ", with a negative extent"));
  }
  outputs_[static_cast<size_t>(i)] = std::move(type);
  return {};
}

Result<int> InferContext::axis(int64_t axis, const TensorType& x, std::string_view name) const {
  const int rank = x.rank();
  if (axis < -rank || axis >= rank)
    return error(Code::kInvalidArgument, "axis ", axis, " is outside [", -rank, ", ", rank, ") of ", name, " ", x);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Status InferContext::assume_equal(sym::Expr a, sym::Expr b, std::string_view why) {
  switch (sym::compare_equal(a, b)) {
    case sym::Truth::kYes: return {};
    case sym::Truth::kNo: return error(Code::kInvalidArgument, why, ": ", a, " and ", b, " differ");
    case sym::Truth::kUnknown: break;
  }
  return sym::assume(assumptions_, {sym::Relation::kEqual, a, b, std::string(why)});
}

Result<sym::Expr> InferContext::broadcast(sym::Expr a, sym::Expr b) {
  if (a == b || b == sym::Expr(1)) return a;
  if (a == sym::Expr(1)) return b;
  for (const auto& [small, large] : {std::pair(a, b), std::pair(b, a)})
    if (small.max() == 1 && large.max() > 1) {  // x[-1:] of an axis that varies, say
      TRY(assume_equal(small, 1, "a broadcast extent"));
      return large;
    }
  TRY(assume_equal(a, b, "broadcast extents"));
  return a.is_const() ? a : b.is_const() ? b : a;
}

Result<Shape> InferContext::broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) result[offset + i] = TRY(broadcast(longer[offset + i], shorter[i]));
  return result;
}

}  // namespace kiln
