#include "backend/cpu/kernels/pool/bytes.h"

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/pool/bytes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// y = max(y, x) of whole vectors from element i on; returns where it ended.
template <class DB, class T>
HWY_INLINE int64_t take_vectors(DB d, const T* x, int64_t i, int64_t count, T* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Max(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  return i;
}
/// y = max(y, x) of `count` bytes.
template <class T>
HWY_INLINE void take_greater(const T* x, int64_t count, T* y) {
  int64_t i = take_vectors(hn::ScalableTag<T>(), x, 0, count, y);
  i = take_vectors(hn::CappedTag<T, 16>(), x, i, count, y);
  for (; i < count; ++i) y[i] = std::max(x[i], y[i]);
}

/// Output pixels [begin, end).
template <class T>
void pool_pixels(const PoolShape& shape, const uint8_t* in, int64_t begin, int64_t end, uint8_t* out) {
  const Window& w = shape.window;
  const auto* const x = reinterpret_cast<const T*>(in);
  auto* const y = reinterpret_cast<T*>(out);
  Pixel at = pixel_of(w.out, begin);
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    T* const to = y + pixel * shape.c;
    std::fill_n(to, shape.c, std::numeric_limits<T>::lowest());
    const TapRange range[3] = {taps_inside(w, 0, at.at[0]), taps_inside(w, 1, at.at[1]), taps_inside(w, 2, at.at[2])};
    for (int64_t kz = range[0].begin; kz < range[0].end; ++kz)
      for (int64_t ky = range[1].begin; ky < range[1].end; ++ky) {
        const int64_t z = w.start(0, at.at[0]) + kz * w.dilation[0], row = w.start(1, at.at[1]) + ky * w.dilation[1];
        const T* const line = x + ((at.n * w.in[0] + z) * w.in[1] + row) * w.in[2] * shape.c;
        for (int64_t kx = range[2].begin; kx < range[2].end; ++kx)
          take_greater(line + (w.start(2, at.at[2]) + kx * w.dilation[2]) * shape.c, shape.c, to);
      }
    if (++at.at[2] < w.out[2]) continue;
    at = pixel_of(w.out, pixel + 1);
  }
}

void pool_range(const PoolShape& shape, bool is_signed, const uint8_t* in, int64_t begin, int64_t end, uint8_t* out) {
  is_signed ? pool_pixels<int8_t>(shape, in, begin, end, out) : pool_pixels<uint8_t>(shape, in, begin, end, out);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void pool_bytes(Team& team, const PoolShape& shape, bool is_signed, const uint8_t* in, uint8_t* out) {
  constexpr int64_t kWorkOfPart = 1 << 18;  // bytes compared: some microseconds
  const int64_t pixels = shape.n * shape.window.out_pixels();
  if (pixels == 0 || shape.c == 0) return;
  const int64_t work = pixels * shape.c * shape.window.taps();
  const int64_t parts = std::clamp<int64_t>(work / kWorkOfPart, 1, std::min<int64_t>(64, pixels));
  const int64_t of_part = ceil_div(pixels, parts);
  team.run(ceil_div(pixels, of_part), [&](int64_t part, int) {
    KILN_DISPATCH(pool_range)
    (shape, is_signed, in, part * of_part, std::min(pixels, (part + 1) * of_part), out);
  });
}

}  // namespace kiln::cpu
#endif
