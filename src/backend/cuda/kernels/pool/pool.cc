#include "backend/cuda/kernels/pool/pool.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {

bool can_pool(PoolKind kind, DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16: return true;
    case DType::kI8:
    case DType::kU8:
    case DType::kI32: return kind == PoolKind::kMax;
    default: return false;
  }
}

std::string pool_entry(int vec) { return str("pool_", vec); }

namespace {
constexpr std::string_view kKinds[] = {"kMax", "kAverage", "kBlend"};
constexpr int64_t kMostTaps = 9;
}  // namespace

bool has_window_kernels(DType type, PoolKind kind, std::span<const int64_t> window) {
  return kind != PoolKind::kBlend && register_name(type) == "float" && window.size() == 2 &&
         volume(window) <= kMostTaps;
}

KernelSource pool_source(DType type, PoolKind kind, int vec, std::span<const int64_t> window, bool lines) {
  const std::string_view held = register_name(type);
  const std::string_view least = held == "float"      ? "__int_as_float(0xff800000)"
                                 : type == DType::kU8 ? "0"
                                 : type == DType::kI8 ? "-128"
                                                      : "-2147483647 - 1";
  KernelSource source;
  source.entry = pool_entry(vec);
  source.prelude = "#include \"pool/pool.cuh\"\n";
  const std::string kind_name(kKinds[static_cast<size_t>(kind)]);
  if (lines)
    source.prelude += str("KILN_POOL_LINES(", kPoolLinesEntry, ", ", element_name(type), ", ", kind_name, ", ",
                          window[0], ", ", window[1], ")\n");
  if (vec * bits_of(type) == 128 && has_window_kernels(type, kind, window)) {
    source.prelude += str("KILN_POOL_WINDOW(", pool_entry(vec), ", ", element_name(type), ", ", kind_name, ", ",
                          window[0], ", ", window[1], ")\n");
    vec = 1;
  }
  for (;; vec = 1) {
    source.prelude += str("KILN_POOL(", pool_entry(vec), ", ", element_name(type), ", ", held, ", ", least, ", ",
                          kKinds[static_cast<size_t>(kind)], ", ", vec, ")\n");
    if (vec == 1) return source;
  }
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

Result<std::optional<PoolLaunch>> pool_lines_launch(const PoolShape& s, int num_sms) {
  constexpr int64_t kRows = 4,
                    kManyThreads = 1024;  // of a thread; of a multiprocessor
  const ConvWindow& w = s.window;
  const bool is_dense = w.dilation[1] == 1 && w.dilation[2] == 1 && s.x.at[2] == 1 && s.y.at[2] == 1;
  const auto hits = [&](size_t axis) {  // whether x has a part of every window
    return w.pad[axis] >= 0 && w.pad[axis] < w.kernel[axis] &&
           (int64_t{w.out[axis]} - 1) * w.stride[axis] - w.pad[axis] < w.in[axis];
  };
  const bool is_picture = hits(1) && hits(2) && w.kernel[0] == 1 && w.in[0] == 1 && w.out[0] == 1;
  const int64_t bands = (int64_t{w.out[1]} + kRows - 1) / kRows, threads = s.n * s.channels * bands * w.out[2];
  if (!is_dense || !is_picture || s.x.channel == 1 || threads < kManyThreads * num_sms) return std::nullopt;
  PoolLaunch launch = TRY(pool_launch(s, 1));
  launch.argument.rows = w.out[1];
  launch.argument.walk.axes[2] = divisor_of(bands);
  launch.argument.walk.count = static_cast<uint32_t>(threads);
  launch.shape.grid[0] = static_cast<uint32_t>((threads + launch.shape.block[0] - 1) / launch.shape.block[0]);
  return launch;
}

}  // namespace kiln::cuda
