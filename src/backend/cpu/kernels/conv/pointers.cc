#include "backend/cpu/kernels/conv/pointers.h"

#include <algorithm>
#include <cstring>

namespace kiln::cpu {
namespace {

/// Output pixels next to each other in one row, and where their entries go: [tap][step].
template <class T>
struct Run {
  Pixel first;
  int64_t pixels;
  const T** entries;
  int64_t step;
};

/// The pixels [begin, end) of a run whose position in the input's width, `x` for the first of them, is in [0, room).
struct Inside {
  int64_t begin, end;
};
template <class T>
Inside inside_of(const Run<T>& run, int64_t x, int64_t stride, int64_t room) {
  if (x >= 0 && x + (run.pixels - 1) * stride < room) return {0, run.pixels};  // nearly always: spare the divisions
  const int64_t begin = x >= 0 ? 0 : std::min(run.pixels, (stride - 1 - x) / stride);
  const int64_t end = room <= x ? begin : std::clamp((room - x + stride - 1) / stride, begin, run.pixels);
  return {begin, end};
}

/// One kernel row's entries, a tap a pixel. `line` is the input row, or null if it is padding.
template <class T>
void pixel_entries(const PointerSource<T>& s, const Run<T>& run, const T* line, const T** entries) {
  const Window& w = s.window;
  const ptrdiff_t advance = w.stride[2] * s.ld;
  int64_t x = w.start(2, run.first.at[2]);
  for (int64_t kx = 0; kx < w.kernel[2]; ++kx, entries += run.step, x += w.dilation[2]) {
    if (!line) {
      std::fill_n(entries, run.pixels, s.zeros);
      continue;
    }
    const T* const first = line + x * s.ld;
    const Inside inside = inside_of(run, x, w.stride[2], w.in[2]);
    std::fill(entries, entries + inside.begin, s.zeros);
    for (int64_t i = inside.begin; i < inside.end; ++i) entries[i] = first + i * advance;
    std::fill(entries + inside.end, entries + run.pixels, s.zeros);
  }
}

/// A copy in `border` of the window at `x`, which hangs over an edge, or null if nothing of it is inside.
template <class T>
const T* border_window(const PointerSource<T>& s, const T* line, int64_t x, T* border) {
  const Window& w = s.window;
  const int64_t begin = std::clamp<int64_t>(-x, 0, w.kernel[2]), end = std::min(w.kernel[2], w.in[2] - x);
  if (begin >= end) return nullptr;
  std::fill_n(border, s.row_elements(), *s.zeros);
  std::copy_n(line + (x + begin) * s.ld, (end - begin) * s.ld, border + begin * s.ld);
  return border;
}

/// One kernel row's entries, one tap for the whole row. Returns what is left of `border`.
template <class T>
T* row_entries(const PointerSource<T>& s, const Run<T>& run, const T* line, const T** entries, T* border) {
  const Window& w = s.window;
  if (!line) {
    std::fill_n(entries, run.pixels, s.zeros);
    return border;
  }
  const int64_t x = w.start(2, run.first.at[2]), stride = w.stride[2], room = w.in[2] - w.kernel[2] + 1;
  const ptrdiff_t advance = stride * s.ld;
  const T* const first = line + x * s.ld;
  const auto over_edge = [&](int64_t i) {
    const T* const copy = border_window(s, line, x + i * stride, border);
    entries[i] = copy ? copy : s.zeros;
    if (copy) border += s.row_elements();
  };
  const Inside inside = inside_of(run, x, stride, room);
  for (int64_t i = 0; i < inside.begin; ++i) over_edge(i);
  for (int64_t i = inside.begin; i < inside.end; ++i) entries[i] = first + i * advance;
  for (int64_t i = inside.end; i < run.pixels; ++i) over_edge(i);
  return border;
}

template <class T>
T* fill_run(const PointerSource<T>& s, const Run<T>& run, T* border) {
  const Window& w = s.window;
  const T** entries = run.entries;
  const int64_t taps_of_row = s.taps == Taps::kRows ? 1 : w.kernel[2];
  for (int64_t kz = 0; kz < w.kernel[0]; ++kz) {
    const int64_t z = w.start(0, run.first.at[0]) + kz * w.dilation[0];
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky, entries += taps_of_row * run.step) {
      const int64_t y = w.start(1, run.first.at[1]) + ky * w.dilation[1];
      const bool inside = z >= 0 && z < w.in[0] && y >= 0 && y < w.in[1];
      const T* line = inside ? s.in + ((run.first.n * w.in[0] + z) * w.in[1] + y) * w.in[2] * s.ld : nullptr;
      if (s.taps == Taps::kRows)
        border = row_entries(s, run, line, entries, border);
      else
        pixel_entries(s, run, line, entries);
    }
  }
  return border;
}

/// Moves on by pixels of one row of the output, at most to its end.
void advance(Pixel& at, const int64_t (&extents)[3], int64_t pixels) {
  at.at[2] += pixels;
  for (int axis = 2; axis > 0 && at.at[axis] == extents[axis]; --axis) {
    at.at[axis] = 0;
    ++at.at[axis - 1];
  }
  if (at.at[0] == extents[0]) at.at[0] = 0, ++at.n;
}

/// Whether the window has one tap, and output pixel i reads input pixel i.
bool is_plain(const Window& w) {
  bool same = w.taps() == 1;
  for (int axis = 0; axis < 3; ++axis) same &= w.stride[axis] == 1 && w.pad[axis] == 0 && w.in[axis] == w.out[axis];
  return same;
}

}  // namespace

template <class T>
void fill_pointers(const PointerSource<T>& source, int64_t row0, int64_t rows, int64_t tile_rows, const T** table,
                   T* border) {
  if (is_plain(source.window)) {
    const T* const first = source.in + row0 * source.ld;
    for (int64_t i = 0; i < rows; ++i) table[i] = first + i * source.ld;
    return;
  }
  const int64_t group = source.num_taps() * tile_rows;
  Pixel at = pixel_of(source.window.out, row0);
  for (int64_t row = 0; row < rows; row += tile_rows, table += group) {
    const int64_t lanes = std::min(tile_rows, rows - row);
    for (int64_t lane = 0; lane < lanes;) {
      const Run<T> run{at, std::min(lanes - lane, source.window.out[2] - at.at[2]), table + lane, tile_rows};
      border = fill_run(source, run, border);
      lane += run.pixels;
      advance(at, source.window.out, run.pixels);
    }
  }
}

template <class T>
void fill_tap_offsets(const PointerSource<T>& source, ptrdiff_t* offsets) {
  const Window& w = source.window;
  const int64_t taps_of_row = source.taps == Taps::kRows ? 1 : w.kernel[2];
  for (int64_t kz = 0; kz < w.kernel[0]; ++kz)
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky)
      for (int64_t kx = 0; kx < taps_of_row; ++kx)
        *offsets++ = ((kz * w.dilation[0] * w.in[1] + ky * w.dilation[1]) * w.in[2] + kx * w.dilation[2]) * source.ld;
}

template void fill_tap_offsets(const PointerSource<float>&, ptrdiff_t*);
template void fill_pointers(const PointerSource<float>&, int64_t, int64_t, int64_t, const float**, float*);
template void fill_pointers(const PointerSource<uint8_t>&, int64_t, int64_t, int64_t, const uint8_t**, uint8_t*);

}  // namespace kiln::cpu
