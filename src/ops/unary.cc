#include "ops/unary.h"

#include "ops/define.h"
#include "ops/pointwise.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"

namespace kiln {
template const OpInfo& op_info<ops::Unary>();

namespace ops {

std::span<const std::string_view> enum_names(UnaryKind) {
  static constexpr std::string_view kNames[] = {
      "exp",  "log",   "sqrt",  "recip", "abs",  "neg",   "sin", "cos", "tan",  "sinh",  "cosh",  "asin", "acos",
      "atan", "asinh", "acosh", "atanh", "ceil", "floor", "erf", "not", "sign", "round", "isinf", "isnan"};
  return kNames;
}

namespace {
bool takes_integers(UnaryKind kind) {
  return kind == UnaryKind::kAbs || kind == UnaryKind::kNeg || kind == UnaryKind::kSign;
}
std::optional<sym::Expr> combine(const void* op, std::span<const sym::Expr> at) {
  const sym::Expr x = at[0];
  switch (static_cast<const Unary*>(op)->kind) {
    case UnaryKind::kAbs: return sym::max(x, -x);
    case UnaryKind::kNeg: return -x;
    case UnaryKind::kSign: return sym::less(0, x) - sym::less(x, 0);
    case UnaryKind::kNot: return 1 - x;
    default: return std::nullopt;
  }
}
}  // namespace

Status Unary::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  if (kind == UnaryKind::kNot) {
    TRY(cx.require(x.dtype == DType::kBool, "x is ", x, "; Unary not takes bool"));
  } else {
    TRY(cx.require(is_compute_float(x.dtype) || (takes_integers(kind) && is_compute_integer(x.dtype)), "x is ", x,
                   "; Unary ", kind, " takes f32, f16 or bf16", takes_integers(kind) ? ", or an integer" : ""));
  }
  const bool gives_bool = kind == UnaryKind::kIsInf || kind == UnaryKind::kIsNan;
  return set_pointwise_output(cx, gives_bool ? DType::kBool : x.dtype, x.shape, this, combine);
}

Status Unary::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  using HWY_NAMESPACE::Integer;
  const auto run_integers = [&](auto f) {
    for (int64_t i = 0; i < x.volume(); ++i) y.set_integer(i, f(Integer(x.integer(i))).value);
    return Status{};
  };
  if (!is_float(x.dtype())) {
    if (kind == UnaryKind::kNot) return run_integers([](Integer a) { return Integer(a.value == 0); });
    if (kind == UnaryKind::kAbs) return run_integers([](Integer a) { return abs(a); });
    if (kind == UnaryKind::kNeg) return run_integers([](Integer a) { return -a; });
    return run_integers([](Integer a) { return HWY_NAMESPACE::sign(a); });
  }
  with_scalar_fn<ScalarFn::kExp, ScalarFn::kIsNan>(scalar().fn, [&]<ScalarFn kFn>() {
    for (int64_t i = 0; i < x.volume(); ++i) y.set(i, static_cast<double>(HWY_NAMESPACE::unary<kFn>(x[i])));
  });
  return {};
}

Scalar Unary::scalar() const {
  return {static_cast<ScalarFn>(static_cast<int>(ScalarFn::kExp) + static_cast<int>(kind))};
}

}  // namespace ops
}  // namespace kiln
