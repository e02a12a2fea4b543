#include "backend/cuda/kernels/pool/pool.h"

#include <algorithm>

#include "backend/cuda/kernels/sizes.h"
#include "ops/quantization.h"

namespace kiln::cuda {

Status PoolTuning::check() const {
  TRY(require(is_width(vec, 16) && (!pieces || is_width(pieces->vec, 8)), "a pooling loads ", vec, " channels or ",
              pieces ? pieces->vec : 1, " columns at once"));
  TRY(require(lines + tall + pieces.has_value() <= 1, "a pooling has more than one kernel beside the plain ones"));
  return require(vec == 1 || (!lines && !pieces), "a pooling of columns loads ", vec, " channels at once");
}

std::string pool_entry(int vec) { return str("pool_", vec); }

namespace {
constexpr int64_t kMostTaps = 9;
constexpr int64_t kManyThreads = 1024;  // of a multiprocessor

}  // namespace

std::string PoolPieces::entry() const {
  return str("pool_pieces_", window[0], 'x', window[1], "_by_", strides[0], 'x', strides[1], "_from_", left, '_', vec);
}

std::optional<PoolPieces> pool_pieces(DType type, PoolKind kind, std::span<const int64_t> window,
                                      std::span<const int64_t> strides, std::span<const int64_t> dilations,
                                      int64_t left, int vec) {
  constexpr int64_t kWidest = 5, kFarthest = 4;  // what registers hold
  const auto within = [](std::span<const int64_t> extents, int64_t most) {
    return std::ranges::all_of(extents, [&](int64_t extent) { return extent >= 1 && extent <= most; });
  };
  if (kind == PoolKind::kBlend || !is_kernel_float(type) || window.size() != 2 || !within(window, kWidest) ||
      !within(strides, kFarthest) || !within(dilations, 1) || left < 0 || left >= window[1])
    return std::nullopt;
  PoolPieces pieces{{window[0], window[1]}, {strides[0], strides[1]}, left, vec, 4, 2};
  if (bits_of(type) == 16 && strides[1] % 2 == 1) pieces.out = 8;
  if (strides[0] == 1 && window[0] <= 3) pieces.rows = 4;
  return pieces;
}

bool has_window_kernels(DType type, PoolKind kind, std::span<const int64_t> window) {
  const bool is_of_bytes = kind == PoolKind::kMax && is_byte(type);
  return kind != PoolKind::kBlend && (is_kernel_float(type) || is_of_bytes) && window.size() == 2 &&
         volume(window) <= kMostTaps;
}

Result<PoolLaunch> pool_launch(const PoolShape& s, int vec) {
  constexpr uint32_t kThreads = 128;
  PoolLaunch launch;
  PoolArgument& a = launch.argument;
  const ConvWindow& w = s.window;
  const bool last = s.x.channel == 1 && s.y.channel == 1;
  const int64_t images = last ? s.n : s.n * s.channels, vectors = last ? s.channels / vec : 1;
  const int64_t extents[] = {images, w.out[0], w.out[1], w.out[2], vectors};
  int64_t count = 1;
  bool overflow = false;
  for (const int64_t extent : extents)
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count) || count >= int64_t{1} << 31;
  if (std::ranges::count(extents, 0) > 0) count = 0, overflow = false;
  TRY(require(!overflow, "pooling of ", count, " outputs; 2^31 are too many"));
  if (count == 0) {
    launch.shape.grid[0] = 0;
    return launch;
  }
  a.walk.count = static_cast<uint32_t>(count);
  a.walk.rank = 5;
  for (int axis = 0; axis < 5; ++axis) a.walk.axes[axis] = divisor_of(extents[axis]);
  a.x_image = last ? s.x.n : s.x.channel;
  a.y_image = last ? s.y.n : s.y.channel;
  for (size_t i = 0; i < 3; ++i) {
    a.x_at[i] = s.x.at[i];
    a.y_at[i] = s.y.at[i];
    a.in[i] = w.in[i];
    a.kernel[i] = w.kernel[i];
    a.stride[i] = w.stride[i];
    a.dilation[i] = w.dilation[i];
    a.pad[i] = w.pad[i];
    a.pad_after[i] = s.pad_after[i];
  }
  a.excludes_padding = s.excludes_padding;
  a.blend = s.blend;
  launch.shape.block[0] = kThreads;
  launch.shape.grid[0] = static_cast<uint32_t>((count + kThreads - 1) / kThreads);
  launch.shape.pdl = true;
  return launch;
}

std::string PoolTall::entry() const { return str("pool_tall_", window[0], 'x', window[1], "_by_", down); }

std::optional<PoolTall> pool_tall(DType type, PoolKind kind, std::span<const int64_t> window,
                                  std::span<const int64_t> strides, std::span<const int64_t> dilations) {
  const bool fits = kind == PoolKind::kAverage && has_window_kernels(type, kind, window) && strides[0] < window[0] &&
                    std::ranges::all_of(dilations, [](int64_t step) { return step == 1; });
  if (!fits) return std::nullopt;
  return PoolTall{{window[0], window[1]}, strides[0]};
}

namespace {

/// Whether the windows are dense, lie in pictures, and each covers a part of x.
bool is_covered(const PoolShape& s) {
  const ConvWindow& w = s.window;
  const bool is_dense = w.dilation[1] == 1 && w.dilation[2] == 1;
  const auto hits = [&](size_t axis) {
    return w.pad[axis] >= 0 && w.pad[axis] < w.kernel[axis] &&
           (int64_t{w.out[axis]} - 1) * w.stride[axis] - w.pad[axis] < w.in[axis];
  };
  const bool is_picture = hits(1) && hits(2) && w.kernel[0] == 1 && w.in[0] == 1 && w.out[0] == 1;
  return is_dense && is_picture && s.n * s.channels * w.out_pixels() > 0;
}
/// Whether windows are covered, and columns lie together in memory.
bool has_lines(const PoolShape& s) { return is_covered(s) && s.x.at[2] == 1 && s.y.at[2] == 1 && s.x.channel != 1; }
/// A thread makes `columns` of each of `rows` rows.
Result<PoolLaunch> bands_launch(const PoolShape& s, int64_t rows, int64_t columns) {
  PoolLaunch launch = TRY(pool_launch(s, 1));
  PoolArgument& a = launch.argument;
  const int64_t bands = (int64_t{s.window.out[1]} + rows - 1) / rows;
  const int64_t pieces = (int64_t{s.window.out[2]} + columns - 1) / columns;
  a.rows = s.window.out[1];
  a.columns = s.window.out[2];
  a.whole = s.window.out[2] % columns == 0;
  a.walk.axes[2] = divisor_of(bands);
  a.walk.axes[3] = divisor_of(pieces);
  a.walk.count = static_cast<uint32_t>(s.n * s.channels * bands * pieces);
  launch.shape.grid[0] = (a.walk.count + launch.shape.block[0] - 1) / launch.shape.block[0];
  return launch;
}

}  // namespace

Result<std::optional<PoolLaunch>> pool_lines_launch(const PoolShape& s, int num_sms) {
  constexpr int64_t kRows = 4;
  if (!has_lines(s)) return std::nullopt;
  const PoolLaunch launch = TRY(bands_launch(s, kRows, 1));
  if (launch.argument.walk.count < kManyThreads * num_sms) return std::nullopt;
  return launch;
}

Result<std::optional<PoolLaunch>> pool_pieces_launch(const PoolShape& s, const PoolPieces& p) {
  const ConvWindow& w = s.window;
  bool fits = has_lines(s) && w.pad[2] == p.left && w.in[2] % p.vec == 0;
  for (size_t i = 0; i < 2; ++i) fits &= w.kernel[i + 1] == p.window[i] && w.stride[i + 1] == p.strides[i];
  if (!fits) return std::nullopt;
  return TRY(bands_launch(s, p.rows, p.out));
}

Result<std::optional<PoolLaunch>> pool_tall_launch(const PoolShape& s, const PoolTall& tall, DType type) {
  const int vec = 128 / bits_of(type);
  const ConvWindow& w = s.window;
  if (!is_covered(s) || s.x.channel != 1 || s.y.channel != 1 || s.channels % vec != 0 ||
      w.kernel[1] != tall.window[0] || w.kernel[2] != tall.window[1] || w.stride[1] != tall.down)
    return std::nullopt;
  PoolLaunch launch = TRY(pool_launch(s, vec));
  PoolArgument& a = launch.argument;
  const int64_t bands = (int64_t{w.out[1]} + PoolTall::kRows - 1) / PoolTall::kRows;
  a.rows = w.out[1];
  a.walk.axes[2] = divisor_of(bands);
  a.walk.count = static_cast<uint32_t>(s.n * bands * w.out[2] * (s.channels / vec));
  launch.shape.grid[0] = (a.walk.count + launch.shape.block[0] - 1) / launch.shape.block[0];
  return launch;
}

bool is_large_tall(DType type, std::span<const int64_t> out, int num_sms) {
  return volume(out) / (PoolTall::kRows * (128 / bits_of(type))) >= kManyThreads * num_sms;
}

}  // namespace kiln::cuda
