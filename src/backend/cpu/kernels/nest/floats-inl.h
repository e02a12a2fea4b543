/// A vector of floats as a number: the operators and simple functions that the expressions of ops/*-inl.h need.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_NEST_FLOATS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_NEST_FLOATS_INL_H
#undef KILN_CPU_NEST_FLOATS_INL_H
#else
#define KILN_CPU_NEST_FLOATS_INL_H
#endif

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

struct Floats {
  V raw;
  HWY_INLINE Floats(V v) : raw(v) {}
  HWY_INLINE explicit Floats(double constant) : raw(hn::Set(D(), static_cast<float>(constant))) {}
};
/// One truth value a lane.
struct Truths {
  hn::Mask<D> raw;
};

HWY_INLINE Floats operator+(Floats a, Floats b) { return hn::Add(a.raw, b.raw); }
HWY_INLINE Floats operator-(Floats a, Floats b) { return hn::Sub(a.raw, b.raw); }
HWY_INLINE Floats operator*(Floats a, Floats b) { return hn::Mul(a.raw, b.raw); }
HWY_INLINE Floats operator/(Floats a, Floats b) { return hn::Div(a.raw, b.raw); }
HWY_INLINE Floats operator-(Floats a) { return hn::Neg(a.raw); }
HWY_INLINE Truths operator==(Floats a, Floats b) { return {hn::Eq(a.raw, b.raw)}; }
HWY_INLINE Truths operator<(Floats a, Floats b) { return {hn::Lt(a.raw, b.raw)}; }
HWY_INLINE Floats select(Truths t, Floats a, Floats b) { return hn::IfThenElse(t.raw, a.raw, b.raw); }
/// a * b + c, rounded once.
HWY_INLINE Floats fma(Floats a, Floats b, Floats c) { return hn::MulAdd(a.raw, b.raw, c.raw); }

HWY_INLINE Floats abs(Floats x) { return hn::Abs(x.raw); }
HWY_INLINE Floats sqrt(Floats x) { return hn::Sqrt(x.raw); }
HWY_INLINE Floats ceil(Floats x) { return hn::Ceil(x.raw); }
HWY_INLINE Floats floor(Floats x) { return hn::Floor(x.raw); }
HWY_INLINE Floats round_even(Floats x) { return hn::Round(x.raw); }
HWY_INLINE Floats floor_div(Floats a, Floats b) { return floor(a / b); }
HWY_INLINE Floats copy_sign(Floats magnitude, Floats sign) { return hn::CopySign(magnitude.raw, sign.raw); }
HWY_INLINE Truths is_nan(Floats x) { return {hn::IsNaN(x.raw)}; }
HWY_INLINE Truths is_inf(Floats x) { return abs(x) == Floats(INFINITY); }
// x86's max and min give their second operand where either is NaN; NEON's give NaN.
HWY_INLINE Floats at_least(Floats x, Floats low) { return hn::Max(low.raw, x.raw); }
HWY_INLINE Floats at_most(Floats x, Floats high) { return hn::Min(high.raw, x.raw); }
HWY_INLINE Floats max(Floats a, Floats b) { return hn::IfThenElse(hn::IsNaN(a.raw), a.raw, hn::Max(a.raw, b.raw)); }
HWY_INLINE Floats min(Floats a, Floats b) { return hn::IfThenElse(hn::IsNaN(a.raw), a.raw, hn::Min(a.raw, b.raw)); }

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
