/// Vectors of floats from and to tensors of f32, f16 and bf16.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_LANES_ELEMENT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_LANES_ELEMENT_INL_H
#undef KILN_CPU_LANES_ELEMENT_INL_H
#else
#define KILN_CPU_LANES_ELEMENT_INL_H
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/cpu/kernels/vector-inl.h"
#include "tensor/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

using Mask = hn::Mask<D>;

/// The representation of a type in memory: 16-bit floats as their bits.
template <DType T>
using Stored = std::conditional_t<T == DType::kF32, float, uint16_t>;

HWY_INLINE V widen_half(const uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  const hn::Rebind<uint16_t, D> bits;
  return hn::PromoteTo(D(), hn::BitCast(half, hn::LoadU(bits, p)));
}
HWY_INLINE V widen_bfloat16(const uint16_t* p) {
  const hn::Rebind<uint16_t, D> bits;
  const hn::Rebind<uint32_t, D> wide;
  return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(bits, p))));
}
HWY_INLINE void narrow_half(V v, uint16_t* p) {
  const hn::Rebind<hwy::float16_t, D> half;
  const hn::Rebind<uint16_t, D> bits;
  hn::StoreU(hn::BitCast(bits, hn::DemoteTo(half, v)), bits, p);
}
/// Rounds to nearest, ties to even; a NaN stays one.
HWY_INLINE void narrow_bfloat16(V v, uint16_t* p) {
  const hn::Rebind<uint32_t, D> wide;
  const hn::Rebind<int32_t, D> wide_signed;
  const hn::Rebind<uint16_t, D> narrow;
  const auto bits = hn::BitCast(wide, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(wide, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(wide, 0x400000));
  const auto kept = hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_signed, hn::ShiftRight<16>(kept))), narrow, p);
}

template <DType T>
HWY_INLINE V load(const Stored<T>* p) {
  if constexpr (T == DType::kF32) return hn::LoadU(D(), p);
  if constexpr (T == DType::kF16) return widen_half(p);
  if constexpr (T == DType::kBF16) return widen_bfloat16(p);
}
template <DType T>
HWY_INLINE void store(V v, Stored<T>* p) {
  if constexpr (T == DType::kF32) hn::StoreU(v, D(), p);
  if constexpr (T == DType::kF16) narrow_half(v, p);
  if constexpr (T == DType::kBF16) narrow_bfloat16(v, p);
}
/// The first `count` elements, zeros after them; reads no others.
template <DType T>
HWY_INLINE V load(const Stored<T>* p, int count) {
  if (count == kLanes) return load<T>(p);
  if constexpr (T == DType::kF32) return load_some(p, count);
  Stored<T> padded[kLanes] = {};
  std::memcpy(padded, p, static_cast<size_t>(count) * sizeof(Stored<T>));
  return load<T>(padded);
}
/// The first `count` lanes; writes no others.
template <DType T>
HWY_INLINE void store(V v, Stored<T>* p, int count) {
  if (count == kLanes) return store<T>(v, p);
  if constexpr (T == DType::kF32) return store_some(v, p, count);
  Stored<T> padded[kLanes];
  store<T>(v, padded);
  std::memcpy(p, padded, static_cast<size_t>(count) * sizeof(Stored<T>));
}
HWY_INLINE Mask first(int count) { return hn::FirstN(D(), static_cast<size_t>(count)); }

/// The greater one, or the NaN if either is.
HWY_INLINE V greater(V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b)); }
HWY_INLINE V lesser(V a, V b) { return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b)); }

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
