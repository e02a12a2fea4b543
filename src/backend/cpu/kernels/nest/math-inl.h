/// Elementary functions of vectors of floats, within a few units in the last place (nest's float_test.cc states and
/// checks each bound). The polynomials are minimax fits of our own: Lawson's iteration on Chebyshev nodes, in double.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_NEST_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_NEST_MATH_INL_H
#undef KILN_CPU_NEST_MATH_INL_H
#else
#define KILN_CPU_NEST_MATH_INL_H
#endif

#include <cmath>
#include <cstdint>
#include <numbers>

#include "backend/cpu/kernels/nest/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;

/// c[0] + c[1] x + c[2] x^2 + ...
template <class... C>
HWY_INLINE Floats polynomial(Floats x, double c0, C... rest) {
  if constexpr (sizeof...(rest) == 0)
    return Floats(c0);
  else
    return fma(polynomial(x, rest...), x, Floats(c0));
}
/// 2^n for n in [-126, 127].
HWY_INLINE Floats power_of_two(VI n) { return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(DI(), 127)))); }
/// Lane by lane through double, where a fast way is not worth its code or where arguments are rare.
template <class F>
HWY_NOINLINE Floats by_lane(Floats x, F f) {
  alignas(64) float lanes[kLanes];
  hn::Store(x.raw, D(), lanes);
  for (float& lane : lanes) lane = static_cast<float>(f(static_cast<double>(lane)));
  return hn::Load(D(), lanes);
}

/// x = n ln 2 + r with |r| at most half of ln 2.
struct ExpParts {
  VI n;
  Floats r;
};
HWY_INLINE ExpParts split_exp(Floats x) {
  // The sum has no bits after its point, so that n stands in its lowest ones: cheaper than conversions there and back.
  const Floats shift(12582912);  // 1.5 * 2^23
  const Floats shifted = fma(x, Floats(std::numbers::log2e), shift), nf = shifted - shift;
  const VI n = hn::Sub(hn::BitCast(DI(), shifted.raw), hn::BitCast(DI(), shift.raw));
  // ln 2 in two parts; the first has few bits, so that n times it is exact
  return {n, fma(nf, Floats(2.12194442e-4), fma(nf, Floats(-0.693359375), x))};
}
/// exp(r) - 1
HWY_INLINE Floats expm1_of_rest(Floats r) {
  const Floats q = polynomial(r, 0.500000005, 0.166666668, 0.0416663535, 0.00833327283, 0.00139411023, 0.000199143019);
  return fma(q, r * r, r);
}
HWY_INLINE Floats exp(Floats x) {
  const ExpParts parts = split_exp(at_least(at_most(x, Floats(89)), Floats(-105)));
  const VI half = hn::ShiftRight<1>(parts.n);  // 2^n itself may be subnormal or beyond the largest float
  return (Floats(1) + expm1_of_rest(parts.r)) * power_of_two(half) * power_of_two(hn::Sub(parts.n, half));
}
/// exp(x) for x in [-87, 88].
HWY_INLINE Floats exp_within(Floats x) {
  const ExpParts parts = split_exp(x);
  const Floats scale = power_of_two(parts.n);
  return fma(scale, expm1_of_rest(parts.r), scale);
}
/// Takes precedence over ops/activation-inl.h's, which is the one for large arguments.
HWY_INLINE Floats sigmoid(Floats x) {
  if (!hn::AllTrue(D(), (abs(x) < Floats(87)).raw)) [[unlikely]] {  // NaN is not
    const Floats e = exp(-abs(x));
    return select(x < Floats(0), e, Floats(1)) / (Floats(1) + e);
  }
  const Floats denominator = Floats(1) + exp_within(-x);
  if constexpr (kLanes < 16) return Floats(1) / denominator;
  const Floats rough = hn::ApproximateReciprocal(denominator.raw);  // to 14 bits; Newton's step doubles them
  return fma(rough, Floats(hn::NegMulAdd(denominator.raw, rough.raw, Floats(1).raw)), rough);
}
HWY_INLINE Floats expm1(Floats x) {
  const ExpParts parts = split_exp(at_least(at_most(x, Floats(89)), Floats(-40)));
  const Floats scale = power_of_two(hn::Sub(parts.n, hn::Set(DI(), 1)));  // half of 2^n, which may overflow
  const Floats half = fma(scale, expm1_of_rest(parts.r), scale - Floats(0.5));
  return select(x == Floats(0), x, half + half);  // keeps the sign of 0
}
HWY_INLINE Floats tanh(Floats x) {
  const Floats e = expm1(at_most(Floats(2) * abs(x), Floats(20)));
  return copy_sign(e / (e + Floats(2)), x);
}
HWY_INLINE Floats sinh(Floats x) {
  return by_lane(x, [](double a) { return std::sinh(a); });
}
HWY_INLINE Floats cosh(Floats x) {
  return by_lane(x, [](double a) { return std::cosh(a); });
}

HWY_INLINE Floats log(Floats x) {
  const Truths subnormal = x < Floats(1.17549435e-38);
  const Floats normal = select(subnormal, x * Floats(8388608), x);  // 2^23
  // m in [sqrt(1/2), sqrt(2)): the exponent counts from the bits of sqrt(1/2)
  const VI bits = hn::BitCast(DI(), normal.raw);
  const VI origin = hn::Set(DI(), 0x3f3504f3);
  const VI n = hn::ShiftRight<23>(hn::Sub(bits, origin));
  const Floats m = hn::BitCast(D(), hn::Sub(bits, hn::ShiftLeft<23>(n)));
  const Floats exponent = Floats(hn::ConvertTo(D(), n)) - select(subnormal, Floats(23), Floats(0));
  const Floats f = m - Floats(1), square = f * f;
  const Floats q = polynomial(f, 0.333333104, -0.249999866, 0.200022266, -0.166692512, 0.142186589, -0.123843431,
                              0.118729655, -0.117898352, 0.0691542446);
  const Floats tail = fma(Floats(-0.5), square, fma(exponent, Floats(-2.12194442e-4), q * square * f));
  const Floats y = fma(exponent, Floats(0.693359375), f + tail);
  const Floats infinity(INFINITY);
  const Floats outside = select(x == Floats(0), -infinity, select(x == infinity, infinity, Floats(NAN)));
  return select(Truths{hn::And((Floats(0) < x).raw, (x < infinity).raw)}, y, outside);
}
/// log(1 + x) for x in [0, 1]: 2 atanh(x / (2 + x))
HWY_INLINE Floats log1p_unit(Floats x) {
  const Floats s = x / (Floats(2) + x), z = s * s;
  return fma(polynomial(z, 0.666666757, 0.399988729, 0.286170352, 0.21425852, 0.24308321), z * s, s + s);
}

HWY_INLINE Floats erf(Floats x) {
  const Floats a = at_most(abs(x), Floats(4)), z = a * a;  // erf(4) rounds to 1
  const Floats inner = fma(a,
                           polynomial(z, 0.12837917, -0.376126258, 0.112835851, -0.0268538119, 0.00518832767,
                                      -0.000801019351, 7.85386097e-05),
                           a);  // the leading 1 of 2/sqrt(pi) apart: its rounding would show
  const Floats log_erfc = polynomial(a, -0.000188037107, 1.12957841, 0.633219919, 0.108418551, -0.025208241,
                                     0.00420455634, -0.000441335314, 2.16867642e-05);
  return copy_sign(select(a < Floats(1), inner, Floats(1) - exp_within(-log_erfc)), x);
}

/// x = n pi/2 + r with |r| at most pi/4, for |x| below kLargestAngle.
constexpr double kLargestAngle = 65536;
struct Angle {
  VI n;
  Floats r;
};
HWY_INLINE Angle split_angle(Floats x) {
  const VI n = hn::NearestInt((x * Floats(std::numbers::inv_pi * 2)).raw);
  const Floats nf = hn::ConvertTo(D(), n);
  // pi/2 in three floats: the first product is exact, the second exact where r is small
  Floats r = fma(nf, Floats(-1.5707963705062866), x);
  r = fma(nf, Floats(4.371138828673793e-08), r);
  return {n, fma(nf, Floats(1.7150994166548195e-15), r)};
}
/// The sine of r + n pi/2.
HWY_INLINE Floats sine_of(Floats r, VI n) {
  const Floats z = r * r;
  const Floats sine = fma(polynomial(z, -0.166666666, 0.00833332936, -0.000198393271, 2.71823727e-06), z * r, r);
  const Floats cosine = fma(polynomial(z, 0.0416666666, -0.00138888837, 2.47995117e-05, -2.72095448e-07), z * z,
                            fma(Floats(-0.5), z, Floats(1)));
  const auto is_odd = hn::TestBit(n, hn::Set(DI(), 1));
  const Floats y = select(Truths{hn::RebindMask(D(), is_odd)}, cosine, sine);
  const VI sign = hn::ShiftLeft<30>(hn::And(n, hn::Set(DI(), 2)));
  return hn::Xor(y.raw, hn::BitCast(D(), sign));
}
HWY_INLINE bool all_small_angles(Floats x) {
  return hn::AllTrue(D(), (abs(x) < Floats(kLargestAngle)).raw);  // NaN is not
}
HWY_INLINE Floats sin(Floats x) {
  if (!all_small_angles(x)) [[unlikely]]
    return by_lane(x, [](double a) { return std::sin(a); });
  const Angle angle = split_angle(x);
  return select(x == Floats(0), x, sine_of(angle.r, angle.n));
}
HWY_INLINE Floats cos(Floats x) {
  if (!all_small_angles(x)) [[unlikely]]
    return by_lane(x, [](double a) { return std::cos(a); });
  const Angle angle = split_angle(x);
  return sine_of(angle.r, hn::Add(angle.n, hn::Set(DI(), 1)));
}
HWY_INLINE Floats tan(Floats x) {
  return by_lane(x, [](double a) { return std::tan(a); });
}
HWY_INLINE Floats asin(Floats x) {
  return by_lane(x, [](double a) { return std::asin(a); });
}
HWY_INLINE Floats acos(Floats x) {
  return by_lane(x, [](double a) { return std::acos(a); });
}
HWY_INLINE Floats atan(Floats x) {
  return by_lane(x, [](double a) { return std::atan(a); });
}
HWY_INLINE Floats asinh(Floats x) {
  return by_lane(x, [](double a) { return std::asinh(a); });
}
HWY_INLINE Floats acosh(Floats x) {
  return by_lane(x, [](double a) { return std::acosh(a); });
}
HWY_INLINE Floats atanh(Floats x) {
  return by_lane(x, [](double a) { return std::atanh(a); });
}

/// Squares, cubes and roots at full speed, since networks have them; else lane by lane.
HWY_INLINE Floats pow(Floats x, Floats y) {
  const auto all = [&](double exponent) { return hn::AllTrue(D(), (y == Floats(exponent)).raw); };
  if (all(2)) return x * x;
  if (all(3)) return x * x * x;
  if (all(0.5)) return select(x == Floats(-INFINITY), Floats(INFINITY), sqrt(x) + Floats(0));  // of -0: 0
  alignas(64) float bases[kLanes], exponents[kLanes];
  hn::Store(x.raw, D(), bases);
  hn::Store(y.raw, D(), exponents);
  for (int i = 0; i < kLanes; ++i)
    bases[i] = static_cast<float>(std::pow(static_cast<double>(bases[i]), static_cast<double>(exponents[i])));
  return hn::Load(D(), bases);
}

/// Lane by lane: a quotient may have more bits than any type of a vector.
HWY_INLINE Floats mod(Floats x, Floats y) {
  alignas(64) float a[kLanes], b[kLanes];
  hn::Store(x.raw, D(), a);
  hn::Store(y.raw, D(), b);
  for (int i = 0; i < kLanes; ++i) a[i] = std::fmod(a[i], b[i]);
  return hn::Load(D(), a);
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
