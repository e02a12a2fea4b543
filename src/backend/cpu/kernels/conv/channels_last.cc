#include "backend/cpu/kernels/conv/channels_last.h"

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/conv/channels_last.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// kChannels vectors at a time; returns the pixel that it stopped at.
template <int kChannels>
int64_t interleave(const float* in, int64_t plane, int64_t begin, int64_t end, float* out) {
  const D d;
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    const V a = hn::LoadU(d, in + i), b = hn::LoadU(d, in + plane + i);
    if constexpr (kChannels == 2) {
      hn::StoreInterleaved2(a, b, d, out + i * 2);
    } else if constexpr (kChannels == 3) {
      hn::StoreInterleaved3(a, b, hn::LoadU(d, in + 2 * plane + i), d, out + i * 3);
    } else {
      hn::StoreInterleaved4(a, b, hn::LoadU(d, in + 2 * plane + i), hn::LoadU(d, in + 3 * plane + i), d, out + i * 4);
    }
  }
  return i;
}

void run(const float* in, int64_t plane, int64_t c, int64_t begin, int64_t end, float* out) {
  int64_t from = begin;
  if (c == 2) from = interleave<2>(in, plane, begin, end, out);
  if (c == 3) from = interleave<3>(in, plane, begin, end, out);
  if (c == 4) from = interleave<4>(in, plane, begin, end, out);
  for (int64_t i = from; i < end; ++i)
    for (int64_t channel = 0; channel < c; ++channel) out[i * c + channel] = in[channel * plane + i];
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void to_channels_last(const float* in, int64_t plane, int64_t c, int64_t begin, int64_t end, float* out) {
  KILN_DISPATCH(run)(in, plane, c, begin, end, out);
}

}  // namespace kiln::cpu
#endif
