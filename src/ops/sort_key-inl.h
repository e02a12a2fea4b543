// Keys of numbers: unsigned integers in the numbers' order, for kernels that select and sort. 0 and -0 have one key;
// that of NaN is the greatest of a type.
#if defined(KILN_OPS_SORT_KEY_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_SORT_KEY_INL_H_
#undef KILN_OPS_SORT_KEY_INL_H_
#else
#define KILN_OPS_SORT_KEY_INL_H_
#endif

#include "ops/scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// The key of a float with these bits; `infinity` has the bits of +infinity.
template <class Bits>
HWY_INLINE Bits float_key(Bits bits, Bits infinity) {
  constexpr Bits kSign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const Bits magnitude = Bits(bits & Bits(~kSign));
  const Bits key = bits & kSign ? Bits(~bits) : Bits(bits | kSign);
  if (magnitude > infinity) return Bits(~Bits(0));
  return magnitude == 0 ? kSign : key;
}
/// The key of a signed integer with these bits.
template <class Bits>
HWY_INLINE Bits integer_key(Bits bits) {
  return Bits(bits ^ Bits(Bits(1) << (8 * sizeof(Bits) - 1)));
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
