#include "backend/cpu/kernels/gemm8/padded.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {
namespace {

/// The extent of an axis up to the end of the last window, counted from the first padding.
int64_t reach(const Window& w, int axis) {
  return (w.out[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1;
}

}  // namespace

bool hangs_over_edges(const Window& window) {
  bool hangs = false;
  for (int axis = 0; axis < 3; ++axis)
    hangs |= window.pad[axis] > 0 || reach(window, axis) > window.in[axis] + window.pad[axis];
  return hangs;
}

Window padded(const Window& window) {
  Window result = window;
  for (int axis = 0; axis < 3; ++axis) {
    result.in[axis] = std::max(window.in[axis] + window.pad[axis], reach(window, axis));
    result.pad[axis] = 0;
  }
  return result;
}

int64_t first_pixel(const Window& padded, int64_t row) {
  const Pixel at = pixel_of(padded.out, row);
  int64_t pixel = at.n;
  for (int axis = 0; axis < 3; ++axis) pixel = pixel * padded.in[axis] + at.at[axis] * padded.stride[axis];
  return pixel;
}

void copy_padded(Team& team, const Window& window, int64_t n, int64_t channels, const uint8_t* x, uint8_t padding,
                 uint8_t* to, uint8_t flip) {
  constexpr int64_t kBytesOfPart = 1 << 16;
  const Window whole = padded(window);
  const int64_t line = whole.in[2] * channels, before = window.pad[2] * channels, inner = window.in[2] * channels;
  const int64_t lines = n * whole.in[0] * whole.in[1], of_part = ceil_div(kBytesOfPart, std::max<int64_t>(line, 1));
  team.run(ceil_div(lines, of_part), [&](int64_t part, int) {
    for (int64_t i = part * of_part; i < std::min(lines, (part + 1) * of_part); ++i) {
      const int64_t y = i % whole.in[1] - window.pad[1], z = i / whole.in[1] % whole.in[0] - window.pad[0];
      const int64_t image = i / whole.in[1] / whole.in[0];
      std::memset(to + i * line, padding ^ flip, static_cast<size_t>(line));
      if (y < 0 || y >= window.in[1] || z < 0 || z >= window.in[0]) continue;
      const uint8_t* const from = x + ((image * window.in[0] + z) * window.in[1] + y) * inner;
      std::transform(from, from + inner, to + i * line + before,
                     [flip](uint8_t byte) { return static_cast<uint8_t>(byte ^ flip); });
    }
  });
}

}  // namespace kiln::cpu
