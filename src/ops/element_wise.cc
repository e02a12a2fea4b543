#include "ops/element_wise.h"

#include "ops/define.h"
#include "ops/element_wise-inl.h"
#include "ops/pointwise.h"
#include "ops/with_scalar_fn.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::ElementWise>();

namespace ops {

std::span<const std::string_view> enum_names(ElementWiseKind) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "max", "min",   "sub",     "div",  "pow", "floor_div",
                                                "and", "or",   "xor", "equal", "greater", "less", "mod"};
  return kNames;
}

namespace {
constexpr int64_t kLargestSymbolicExponent = 8;  // n^8 of an extent exceeds int64 before this is reached

bool is_logical(ElementWiseKind kind) {
  return kind == ElementWiseKind::kAnd || kind == ElementWiseKind::kOr || kind == ElementWiseKind::kXor;
}
bool is_comparison(ElementWiseKind kind) { return kind >= ElementWiseKind::kEqual && kind <= ElementWiseKind::kLess; }

HWY_NAMESPACE::Integer apply(ElementWiseKind kind, HWY_NAMESPACE::Integer a, HWY_NAMESPACE::Integer b) {
  using enum ElementWiseKind;
  switch (kind) {
    case kSum: return a + b;
    case kProd: return a * b;
    case kMax: return max(a, b);
    case kMin: return min(a, b);
    case kSub: return a - b;
    case kDiv: return a / b;
    case kPow: return pow(a, b);
    case kFloorDiv: return floor_div(a, b);
    case kAnd: return a.value && b.value;
    case kOr: return a.value || b.value;
    case kXor: return !a.value != !b.value;
    case kEqual: return a == b;
    case kGreater: return a > b;
    case kLess: return a < b;
    case kMod: break;  // of floats alone
  }
  return 0;
}
std::optional<sym::Expr> power(sym::Expr base, sym::Expr exponent) {
  if (!exponent.is_const() || exponent.value() < 0 || exponent.value() > kLargestSymbolicExponent) return std::nullopt;
  sym::Expr result = 1;
  for (int64_t i = 0; i < exponent.value(); ++i) result *= base;
  return result;
}
std::optional<sym::Expr> combine_reals(ElementWiseKind kind, sym::Expr a, sym::Expr b) {
  using enum ElementWiseKind;
  switch (kind) {
    case kSum: return sym::real_sum(a, b);
    case kProd: return sym::real_prod(a, b);
    case kMax: return sym::real_max(a, b);
    case kMin: return sym::real_min(a, b);
    case kSub: return sym::real_sum(a, sym::real_negative(b));
    case kDiv: return sym::real_div(a, b);
    case kPow: return sym::real_pow(a, b);
    case kFloorDiv: return sym::real_function(sym::RealFunction::kFloor, sym::real_div(a, b));
    case kEqual: return sym::real_equal(a, b);
    case kGreater: return sym::real_less(b, a);
    case kLess: return sym::real_less(a, b);
    default: return std::nullopt;
  }
}
/// Rounds towards zero, whatever the signs are.
sym::Expr truncated_quotient(sym::Expr a, sym::Expr b) {
  if (b.min() > 0 || (a.min() >= 0 && b.min() >= 0)) return sym::truncated_div(a, b);
  const sym::Expr is_negative = 1 - sym::equal(sym::less(a, 0), sym::less(b, 0));
  return (1 - 2 * is_negative) * sym::floor_div(sym::max(a, -a), sym::max(b, -b));
}
std::optional<sym::Expr> combine_values(const void* op, DType dtype, std::span<const sym::Expr> at) {
  using enum ElementWiseKind;
  const ElementWiseKind kind = static_cast<const ElementWise*>(op)->kind;
  const sym::Expr a = at[0], b = at[1];
  if (is_float(dtype)) return combine_reals(kind, a, b);
  if (kind == kMod) return std::nullopt;
  if (a.is_const() && b.is_const()) return sym::Expr(apply(kind, a.value(), b.value()).value);
  switch (kind) {
    case kSum: return a + b;
    case kProd: return a * b;
    case kMax: return sym::max(a, b);
    case kMin: return sym::min(a, b);
    case kSub: return a - b;
    case kDiv: return truncated_quotient(a, b);
    case kPow: return power(a, b);
    case kFloorDiv: return sym::floor_div(a, b);
    case kAnd: return sym::min(a, b);
    case kOr: return sym::max(a, b);
    case kXor: return 1 - sym::equal(a, b);
    case kEqual: return sym::equal(a, b);
    case kGreater: return sym::less(b, a);
    case kLess: return sym::less(a, b);
    case kMod: break;
  }
  return std::nullopt;
}
}  // namespace

Status ElementWise::infer(InferContext& cx) const {
  const TensorType& a = TRY(cx.input(0));
  const TensorType& b = TRY(cx.input(1));
  TRY(cx.require(a.dtype == b.dtype, "ElementWise ", kind, " of ", a, " and ", b,
                 "; both need one type, insert a Cast"));
  const bool bools = is_logical(kind) || (kind == ElementWiseKind::kEqual && a.dtype == DType::kBool);
  if (bools) {
    TRY(cx.require(a.dtype == DType::kBool, "ElementWise ", kind, " of ", a, " and ", b, "; it takes bools"));
  } else {
    TRY(cx.require(is_compute_float(a.dtype) || is_compute_integer(a.dtype), "ElementWise ", kind, " of ", a, " and ",
                   b, "; it takes f32, f16, bf16 or an integer"));
  }
  TRY(cx.require(kind != ElementWiseKind::kMod || is_float(a.dtype), "ElementWise ", kind, " of ", a, " and ", b,
                 "; it takes f32, f16 or bf16"));
  Shape shape = TRY(broadcast_inputs(cx, str("ElementWise ", kind)));
  return set_pointwise_output(cx, is_comparison(kind) ? DType::kBool : a.dtype, std::move(shape), this, combine_values);
}

Status ElementWise::reference(ReferenceContext& cx) const {
  const View a = TRY(cx.input(0)), b = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  BroadcastWalk walk = TRY(walk_output(cx));
  if (!is_float(a.dtype())) {
    for (int64_t i = 0; !walk.done(); ++i, walk.next())
      y.set_integer(i, apply(kind, a.integer(walk.at()[0]), b.integer(walk.at()[1])).value);
    return {};
  }
  const auto run = [&]<ScalarFn kFn>() {
    for (int64_t i = 0; !walk.done(); ++i, walk.next())
      y.set(i, static_cast<double>(HWY_NAMESPACE::element_wise<kFn>(a[walk.at()[0]], b[walk.at()[1]])));
  };
  with_scalar_fn<ScalarFn::kSum, ScalarFn::kLess>(scalar().fn, run);
  with_scalar_fn<ScalarFn::kMod, ScalarFn::kMod>(scalar().fn, run);
  return {};
}

Scalar ElementWise::scalar() const {
  if (kind == ElementWiseKind::kMod) return {ScalarFn::kMod};
  return {static_cast<ScalarFn>(static_cast<int>(ScalarFn::kSum) + static_cast<int>(kind))};
}

}  // namespace ops
}  // namespace kiln
