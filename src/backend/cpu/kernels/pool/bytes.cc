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

/// The part of an input that lies in one window: `rows` rows of `pixels` pixels in each of `planes` planes.
template <class T>
struct WindowView {
  const T* first;  // the first pixel's channels
  int64_t planes, rows, pixels;
  ptrdiff_t plane_step, row_step, pixel_step;
};

/// to[c] = the greatest of channel c in the window, for the vectors of channels [c, c + kVecs * lanes).
template <int kVecs, class DB, class T>
HWY_INLINE void take_greatest(DB d, const WindowView<T>& window, int64_t c, T* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<DB> greatest[kVecs];
  for (int v = 0; v < kVecs; ++v) greatest[v] = hn::Set(d, std::numeric_limits<T>::lowest());
  const T* plane = window.first + c;
  for (int64_t z = 0; z < window.planes; ++z, plane += window.plane_step) {
    const T* row = plane;
    for (int64_t y = 0; y < window.rows; ++y, row += window.row_step) {
      const T* pixel = row;
      for (int64_t x = 0; x < window.pixels; ++x, pixel += window.pixel_step)
        for (int v = 0; v < kVecs; ++v) greatest[v] = hn::Max(greatest[v], hn::LoadU(d, pixel + v * lanes));
    }
  }
  for (int v = 0; v < kVecs; ++v) hn::StoreU(greatest[v], d, to + c + v * lanes);
}

/// Vectors of channels from `c` on as long as there are whole ones; what is left then ends in a vector that takes
/// some channels once more. Returns the first channel that is left because all have fewer than a vector.
template <class DB, class T>
HWY_INLINE int64_t take_vectors(DB d, const WindowView<T>& window, int64_t c, int64_t channels, T* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (channels < lanes) return c;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) take_greatest<4>(d, window, c, to);
  for (; c + lanes <= channels; c += lanes) take_greatest<1>(d, window, c, to);
  if (c < channels) take_greatest<1>(d, window, channels - lanes, to);
  return channels;
}

/// The taps of an axis that are inside, as positions of the input.
struct Span {
  int64_t first, count;
};
HWY_INLINE Span span_inside(const Window& w, int axis, int64_t o) {
  const TapRange taps = taps_inside(w, axis, o);
  return {w.start(axis, o) + taps.begin * w.dilation[axis], std::max<int64_t>(taps.end - taps.begin, 0)};
}

/// Output pixels [begin, end).
template <class T>
void pool_pixels(const PoolShape& shape, const uint8_t* in, int64_t begin, int64_t end, uint8_t* out) {
  const Window& w = shape.window;
  const auto* const x = reinterpret_cast<const T*>(in);
  auto* const y = reinterpret_cast<T*>(out);
  const ptrdiff_t row_step = w.in[2] * shape.c, plane_step = w.in[1] * row_step;
  for (int64_t pixel = begin; pixel < end;) {
    Pixel at = pixel_of(w.out, pixel);
    const Span planes = span_inside(w, 0, at.at[0]), rows = span_inside(w, 1, at.at[1]);
    const int64_t end_of_row = std::min(end, pixel + w.out[2] - at.at[2]);
    for (; pixel < end_of_row; ++pixel, ++at.at[2]) {
      const Span pixels = span_inside(w, 2, at.at[2]);
      const bool is_empty = planes.count == 0 || rows.count == 0 || pixels.count == 0;
      const ptrdiff_t offset =
          (at.n * w.in[0] + planes.first) * plane_step + rows.first * row_step + pixels.first * shape.c;
      const WindowView<T> window{.first = x + (is_empty ? 0 : offset),
                                 .planes = is_empty ? 0 : planes.count,
                                 .rows = rows.count,
                                 .pixels = pixels.count,
                                 .plane_step = w.dilation[0] * plane_step,
                                 .row_step = w.dilation[1] * row_step,
                                 .pixel_step = w.dilation[2] * shape.c};
      T* const to = y + pixel * shape.c;
      int64_t c = take_vectors(hn::ScalableTag<T>(), window, 0, shape.c, to);
      c = take_vectors(hn::CappedTag<T, 16>(), window, c, shape.c, to);
      for (; c < shape.c; ++c) take_greatest<1>(hn::CappedTag<T, 1>(), window, c, to);
    }
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
