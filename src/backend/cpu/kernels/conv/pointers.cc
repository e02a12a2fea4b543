#include "backend/cpu/kernels/conv/pointers.h"

#include <algorithm>
#include <cstring>

namespace kiln::cpu {
namespace {

/// Output pixels next to each other in one row, and where their entries go: [tap][step].
struct Run {
  Pixel first;
  int64_t pixels;
  const float** entries;
  int64_t step;
};

/// One kernel row's entries, a tap a pixel. `line` is the input row, or null if it is padding.
void pixel_entries(const PointerSource& s, const Run& run, const float* line, const float** entries) {
  const Window& w = s.window;
  const ptrdiff_t advance = w.stride[2] * s.ld;
  for (int64_t kx = 0; kx < w.kernel[2]; ++kx, entries += run.step) {
    int64_t x = w.start(2, run.first.at[2]) + kx * w.dilation[2];
    if (!line) {
      std::fill_n(entries, run.pixels, s.zeros);
      continue;
    }
    const float* at = line + x * s.ld;
    for (int64_t i = 0; i < run.pixels; ++i, x += w.stride[2], at += advance)
      entries[i] = static_cast<uint64_t>(x) < static_cast<uint64_t>(w.in[2]) ? at : s.zeros;
  }
}

/// One kernel row's entries, one tap for the whole row. Returns what is left of `border`.
float* row_entries(const PointerSource& s, const Run& run, const float* line, const float** entries, float* border) {
  const Window& w = s.window;
  for (int64_t i = 0; i < run.pixels; ++i) {
    const int64_t x = w.start(2, run.first.at[2] + i);
    const int64_t begin = std::clamp<int64_t>(-x, 0, w.kernel[2]), end = std::min(w.kernel[2], w.in[2] - x);
    if (!line || begin >= end) {
      entries[i] = s.zeros;
    } else if (begin == 0 && end == w.kernel[2]) {
      entries[i] = line + x * s.ld;
    } else {
      std::fill_n(border, s.row_floats(), 0.0f);
      std::copy_n(line + (x + begin) * s.ld, (end - begin) * s.ld, border + begin * s.ld);
      entries[i] = border;
      border += s.row_floats();
    }
  }
  return border;
}

float* fill_run(const PointerSource& s, const Run& run, float* border) {
  const Window& w = s.window;
  const float** entries = run.entries;
  const int64_t taps_of_row = s.taps == Taps::kRows ? 1 : w.kernel[2];
  for (int64_t kz = 0; kz < w.kernel[0]; ++kz) {
    const int64_t z = w.start(0, run.first.at[0]) + kz * w.dilation[0];
    for (int64_t ky = 0; ky < w.kernel[1]; ++ky, entries += taps_of_row * run.step) {
      const int64_t y = w.start(1, run.first.at[1]) + ky * w.dilation[1];
      const bool inside = z >= 0 && z < w.in[0] && y >= 0 && y < w.in[1];
      const float* line = inside ? s.in + ((run.first.n * w.in[0] + z) * w.in[1] + y) * w.in[2] * s.ld : nullptr;
      if (s.taps == Taps::kRows)
        border = row_entries(s, run, line, entries, border);
      else
        pixel_entries(s, run, line, entries);
    }
  }
  return border;
}

}  // namespace

void fill_pointers(const PointerSource& source, int64_t row0, int64_t rows, int64_t tile_rows, const float** table,
                   float* border) {
  const int64_t group = source.num_taps() * tile_rows;
  for (int64_t row = 0; row < rows; row += tile_rows, table += group) {
    const int64_t lanes = std::min(tile_rows, rows - row);
    for (int64_t lane = 0; lane < lanes;) {
      Run run{pixel_of(source.window.out, row0 + row + lane), 0, table + lane, tile_rows};
      run.pixels = std::min(lanes - lane, source.window.out[2] - run.first.at[2]);
      border = fill_run(source, run, border);
      lane += run.pixels;
    }
  }
}

}  // namespace kiln::cpu
