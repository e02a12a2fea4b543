#include "ops/unary.h"

#include <cmath>

#include "ops/define.h"
#include "ops/pointwise.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"
#include "sym/real.h"

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
std::optional<sym::Expr> combine_reals(UnaryKind kind, sym::Expr x) {
  using sym::RealFunction;
  switch (kind) {
    case UnaryKind::kExp: return sym::real_function(RealFunction::kExp, x);
    case UnaryKind::kLog: return sym::real_function(RealFunction::kLog, x);
    case UnaryKind::kSqrt: return sym::real_function(RealFunction::kSqrt, x);
    case UnaryKind::kRecip: return sym::real_div(sym::real_of(1), x);
    case UnaryKind::kAbs: return sym::real_max(x, sym::real_negative(x));
    case UnaryKind::kNeg: return sym::real_negative(x);
    case UnaryKind::kCeil: return sym::real_function(RealFunction::kCeil, x);
    case UnaryKind::kFloor: return sym::real_function(RealFunction::kFloor, x);
    case UnaryKind::kRound: return sym::real_function(RealFunction::kRound, x);
    case UnaryKind::kSign: return sym::real(sym::real_less(0, x) - sym::real_less(x, 0));
    case UnaryKind::kIsInf: return sym::real_equal(sym::real_max(x, sym::real_negative(x)), sym::real_of(INFINITY));
    case UnaryKind::kIsNan: return 0;
    default: return std::nullopt;
  }
}
std::optional<sym::Expr> combine(const void* op, DType dtype, std::span<const sym::Expr> at) {
  const sym::Expr x = at[0];
  const UnaryKind kind = static_cast<const Unary*>(op)->kind;
  if (is_float(dtype)) return combine_reals(kind, x);
  switch (kind) {
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
