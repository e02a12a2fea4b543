/// exp of a vector of floats, to two units in the last place.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_LANES_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_LANES_EXP_INL_H
#undef KILN_CPU_LANES_EXP_INL_H
#else
#define KILN_CPU_LANES_EXP_INL_H
#endif

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

/// x = power * ln 2 + r with |r| <= ln 2 / 2, and exp(r) by its Taylor polynomial of degree 7, whose next term is below
/// 2^-27.
struct ExpParts {
  V fraction;  // exp(r)
  hn::Vec<hn::RebindToSigned<D>> power;
};
HWY_INLINE ExpParts exp_parts(V x) {
  const D d;
  constexpr float kLog2E = 1.44269504f;
  constexpr float kLn2High = 0.693359375f;  // nine bits: n times it is exact
  constexpr float kLn2Low = -2.12194440e-4f;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, kLog2E)));
  const V r = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  V p = hn::Set(d, 1.0f / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  return {hn::MulAdd(hn::Mul(p, r), r, hn::Add(r, hn::Set(d, 1.0f))), hn::ConvertTo(hn::RebindToSigned<D>(), n)};
}
/// 2^power, power in [-126, 127].
HWY_INLINE V power_of_two(hn::Vec<hn::RebindToSigned<D>> power) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(power, hn::Set(di, 127))));
}

/// The exponential of any x; the power in two halves, so that denormal and infinite results come by themselves. NaN
/// gives NaN.
HWY_INLINE V exp(V x) {
  const D d;
  const ExpParts parts = exp_parts(hn::Min(hn::Set(d, 89.0f), hn::Max(hn::Set(d, -104.0f), x)));  // NaN stays
  const auto half = hn::ShiftRight<1>(parts.power);
  return hn::Mul(hn::Mul(parts.fraction, power_of_two(half)), power_of_two(hn::Sub(parts.power, half)));
}

/// The exponential of x <= 0, with zero for denormal results: those cost a hundred cycles each, and masked scores are
/// many.
HWY_INLINE V exp_to_zero(V x) {
  const ExpParts parts = exp_parts(x);
  const auto tiny = hn::Lt(x, hn::Set(D(), -87.0f));  // false of NaN, which so stays
  return hn::IfThenZeroElse(tiny, hn::Mul(parts.fraction, power_of_two(parts.power)));
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
