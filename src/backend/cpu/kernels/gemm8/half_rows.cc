#include "backend/cpu/kernels/gemm8/half_rows.h"

#include <algorithm>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/padded.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kMostRows = 96;

int64_t taps_of(const ByteShape& shape) {
  return shape.window.taps() / (shape.taps == Taps::kRows ? shape.window.kernel[2] : 1);
}
int64_t channels_of(const ByteShape& shape, int64_t k) {
  return shape.taps == Taps::kRows ? k / shape.window.kernel[2] : k;
}

/// Pixels from the first to the last one that a window reads.
int64_t span_of(const Window& w) {
  int64_t last = 0;
  for (int axis = 0; axis < 3; ++axis) last = last * w.in[axis] + (w.kernel[axis] - 1) * w.dilation[axis];
  return last + 1;
}

/// The most pixels from the first to the last one that the windows of `rows` output pixels in a row read.
int64_t most_pixels(const Window& w, int64_t n, int64_t rows) {
  // From an output pixel to the next one, windows move by a step along one axis, and back to the start of axes inside
  // it: less than that step. Where an axis ends they move by what of x no step reaches, too.
  const int64_t moves = rows - 1, line = w.in[2], plane = w.in[1] * line;
  int64_t lines = ceil_div(moves, w.out[2]), planes = ceil_div(moves, w.out[1] * w.out[2]);
  int64_t images = ceil_div(moves, w.out_pixels());
  images = std::min(images, n - 1);
  planes = std::min(planes, n * w.out[0] - 1);
  lines = std::min(lines, n * w.out[0] * w.out[1] - 1);
  return std::min(moves, w.out[2] - 1) * w.stride[2] + lines * w.stride[1] * line +
         planes * std::max<int64_t>(w.stride[0] * plane - w.out[1] * w.stride[1] * line, 0) +
         images * std::max<int64_t>(w.in[0] * plane - w.out[0] * w.stride[0] * plane, 0) + span_of(w);
}

/// Pointers to rows, and what they point to.
struct Memory {
  const uint8_t** narrow;
  const int16_t** wide;
  uint8_t* bytes;
  int16_t* numbers;

  Memory(const RowPlan& plan, std::byte* memory)
      : narrow(reinterpret_cast<const uint8_t**>(memory)),
        wide(reinterpret_cast<const int16_t**>(memory)),
        bytes(reinterpret_cast<uint8_t*>(memory + pointer_bytes())),
        numbers(reinterpret_cast<int16_t*>(bytes + byte_room(plan))) {}

  static int64_t pointer_bytes() { return kMostRows * static_cast<int64_t>(sizeof(void*)); }
  static int64_t byte_room(const RowPlan& plan) { return round_up(plan.bytes + kDotGroup, kCacheLine); }
};

}  // namespace

RowPlan plan_rows(const ByteShape& shape, int64_t k) {
  constexpr int64_t kWideBytes = 1 << 17, kMostInPlace = 1 << 18;
  const Window window = padded(shape.window);
  const int64_t channels = channels_of(shape, k);
  int64_t rows = kMostRows;
  const auto bytes = [&] { return most_pixels(window, shape.n, rows) * channels; };
  while (rows > kDotRows && bytes() * 2 > kWideBytes) rows -= kDotRows;
  if (bytes() <= kMostInPlace) return {true, rows, bytes()};
  const int64_t depth = gathered_depth(taps_of(shape), k);
  rows = std::clamp(kWideBytes / std::max<int64_t>(depth * 2, 1) / kDotRows * kDotRows, kDotRows, kMostRows);
  return {false, rows, rows * depth};
}

int64_t row_memory_bytes(const RowPlan& plan) { return Memory::pointer_bytes() + 3 * Memory::byte_room(plan); }

PlacedRows place_rows(const RowSource& from, const RowPlan& plan, int64_t row0, int64_t rows, std::byte* memory) {
  const Memory to(plan, memory);
  const int64_t channels = channels_of(from.shape, from.k), first = first_pixel(from.window, row0);
  const int64_t pixels = first_pixel(from.window, row0 + rows - 1) - first + span_of(from.window);
  const uint8_t* bytes = from.x + first * channels;
  const bool is_wide = magnitude_of(bytes, pixels * channels) == Magnitude::kTo255;
  if (is_wide) {
    widen_bytes(bytes, pixels * channels, from.is_signed, to.numbers);
  } else if (!from.has_slack) {
    std::copy_n(bytes, pixels * channels, to.bytes);
    bytes = to.bytes;
  }
  const auto place = [&](auto* begin, auto** pointers) {
    for (int64_t r = 0; r < rows;) {  // line by line: divisions take their time
      auto* at = begin + (first_pixel(from.window, row0 + r) - first) * channels;
      const int64_t end = std::min(rows, r + from.window.out[2] - (row0 + r) % from.window.out[2]);
      for (; r < end; ++r, at += from.window.stride[2] * channels) pointers[r] = at;
    }
  };
  if (is_wide)
    place(static_cast<const int16_t*>(to.numbers), to.wide);
  else
    place(bytes, to.narrow);
  return is_wide ? PlacedRows{.wide = to.wide} : PlacedRows{.narrow = to.narrow};
}

PlacedRows place_rows(const RowsOfA& from, bool is_signed, const RowPlan& plan, std::byte* memory) {
  const Memory to(plan, memory);
  const int64_t depth = gathered_depth(from.taps, from.k);
  if (gather_rows(from, to.bytes) == Magnitude::kTo127) {
    for (int64_t r = 0; r < from.rows; ++r) to.narrow[r] = to.bytes + r * depth;
    return {.narrow = to.narrow};
  }
  widen_bytes(to.bytes, from.rows * depth, is_signed, to.numbers);
  for (int64_t r = 0; r < from.rows; ++r) to.wide[r] = to.numbers + r * depth;
  return {.wide = to.wide};
}

int64_t step_bytes(int64_t taps, int64_t k) {
  return taps * (ceil_div(k, kDotGroup) + ceil_div(k, 2)) * static_cast<int64_t>(sizeof(int32_t));
}

Steps fill_steps(const ByteShape& shape, const Window& w, int64_t k, bool in_place, std::byte* memory) {
  const int64_t taps = taps_of(shape), channels = channels_of(shape, k);
  auto* narrow = reinterpret_cast<int32_t*>(memory);
  auto* wide = narrow + taps * ceil_div(k, kDotGroup);
  const Steps steps{narrow, wide, taps * ceil_div(k, kDotGroup), taps * ceil_div(k, 2)};
  const int64_t along_x = shape.taps == Taps::kRows ? 1 : w.kernel[2];
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t x = tap % along_x, y = tap / along_x % w.kernel[1], z = tap / along_x / w.kernel[1];
    const int64_t pixel = (z * w.dilation[0] * w.in[1] + y * w.dilation[1]) * w.in[2] + x * w.dilation[2];
    const int64_t at = in_place ? pixel * channels : tap * round_up(k, kDotGroup);
    for (int64_t i = 0; i < k; i += kDotGroup) *narrow++ = static_cast<int32_t>(at + i);
    for (int64_t i = 0; i < k; i += 2) *wide++ = static_cast<int32_t>(at + i);
  }
  return steps;
}

}  // namespace kiln::cpu
