/// The vector that contraction and pooling kernels use, and loads and stores of parts of one.
// Included once for each target, after highway.h: hence the toggled guard.
#if defined(KILN_CPU_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KILN_CPU_VECTOR_INL_H
#undef KILN_CPU_VECTOR_INL_H
#else
#define KILN_CPU_VECTOR_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

/// The first `count` floats from `p`, zeros after them; reads no others.
HWY_INLINE V load_some(const float* p, int count) {
  const D d;
  return count == kLanes ? hn::LoadU(d, p) : hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, p);
}

/// The first `count` lanes to `p`; writes no others.
HWY_INLINE void store_some(V v, float* p, int count) {
  const D d;
  if (count == kLanes)
    hn::StoreU(v, d, p);
  else
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, p);
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggled guard
