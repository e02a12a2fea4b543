#include "backend/cpu/kernels/padded.h"

#include <algorithm>

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

template <class T>
void copy_between_padding(Team& team, const Window& window, int64_t n, int64_t channels, T padding, T* to,
                          FunctionRef<void(int64_t, int64_t, T*)> copy_line) {
  constexpr int64_t kBytesOfPart = 1 << 15;
  const Window whole = padded(window);
  const int64_t line = whole.in[2] * channels, before = window.pad[2] * channels, inner = window.in[2] * channels;
  const int64_t lines = n * whole.in[0] * whole.in[1];
  const int64_t of_part = ceil_div(kBytesOfPart, std::max<int64_t>(line * static_cast<int64_t>(sizeof(T)), 1));
  team.run(ceil_div(lines, of_part), [&](int64_t part, int) {
    for (int64_t i = part * of_part; i < std::min(lines, (part + 1) * of_part); ++i) {
      T* const first = to + i * line;
      const int64_t y = i % whole.in[1] - window.pad[1], z = i / whole.in[1] % whole.in[0] - window.pad[0];
      if (y < 0 || y >= window.in[1] || z < 0 || z >= window.in[0]) {
        std::fill_n(first, line, padding);
        continue;
      }
      std::fill_n(first, before, padding);
      copy_line(i / whole.in[1] / whole.in[0], (z * window.in[1] + y) * window.in[2], first + before);
      std::fill(first + before + inner, first + line, padding);
    }
  });
}
template void copy_between_padding(Team&, const Window&, int64_t, int64_t, float, float*,
                                   FunctionRef<void(int64_t, int64_t, float*)>);

void copy_padded(Team& team, const Window& window, int64_t n, int64_t channels, const uint8_t* x, uint8_t padding,
                 uint8_t* to, uint8_t flip) {
  const auto flipped = [flip](uint8_t byte) { return static_cast<uint8_t>(byte ^ flip); };
  const auto copy_line = [&](int64_t image, int64_t pixel, uint8_t* line) {
    const uint8_t* const from = x + (image * window.in_pixels() + pixel) * channels;
    std::transform(from, from + window.in[2] * channels, line, flipped);
  };
  copy_between_padding<uint8_t>(team, window, n, channels, flipped(padding), to, copy_line);
}

}  // namespace kiln::cpu
