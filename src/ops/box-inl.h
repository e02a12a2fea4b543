// Boxes and how much of each other they cover, in FP32: the same bits in the reference and in all kernels.
#if defined(KILN_OPS_BOX_INL_H_) == defined(HWY_TARGET_TOGGLE)  // once for each instruction set
#ifdef KILN_OPS_BOX_INL_H_
#undef KILN_OPS_BOX_INL_H_
#else
#define KILN_OPS_BOX_INL_H_
#endif

#include "ops/scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln {
namespace HWY_NAMESPACE {

/// A box by its least and greatest coordinates.
struct Box {
  float low[2], high[2];
};

/// Both return `a` where the two are equal or one is NaN.
HWY_INLINE float lesser_of(float a, float b) { return b < a ? b : a; }
HWY_INLINE float greater_of(float a, float b) { return a < b ? b : a; }
/// A product that no compiler fuses with a sum, which would round once less.
HWY_INLINE float rounded_product(float a, float b) {
#ifdef __CUDACC_RTC__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// The box of four numbers: two opposite corners, or (`is_center`) the centre and the extents.
HWY_INLINE Box box_of(const float (&numbers)[4], bool is_center) {
  Box box;
  for (int i = 0; i < 2; ++i) {
    const float a = numbers[i], b = numbers[2 + i];
    box.low[i] = is_center ? a - rounded_product(b, 0.5f) : lesser_of(a, b);
    box.high[i] = is_center ? a + rounded_product(b, 0.5f) : greater_of(a, b);
  }
  return box;
}
HWY_INLINE float area_of(const Box& box) { return rounded_product(box.high[0] - box.low[0], box.high[1] - box.low[1]); }

/// Whether what two boxes share is more than `threshold` of what they cover together.
HWY_INLINE bool overlap(const Box& a, const Box& b, float threshold) {
  const float height = lesser_of(a.high[0], b.high[0]) - greater_of(a.low[0], b.low[0]);
  const float width = lesser_of(a.high[1], b.high[1]) - greater_of(a.low[1], b.low[1]);
  if (!(height > 0 && width > 0)) return false;
  const float of_a = area_of(a), of_b = area_of(b), shared = rounded_product(height, width);
  const float whole = of_a + of_b - shared;
  return of_a > 0 && of_b > 0 && whole > 0 && shared / whole > threshold;
}

}  // namespace HWY_NAMESPACE
}  // namespace kiln
HWY_AFTER_NAMESPACE();

#endif
