// conv/im2col.cu: its launch, and when it is worth timing.
#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

int64_t shared_bytes(const ConvKernel& kernel) {
  const TileShape& t = kernel.tile;
  const int64_t slabs = (t.bm >= 128 ? 8 : 4) * slab_bytes(std::min<int64_t>(t.bn, 32));
  return t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment +
         (kernel.splits > 1 ? exchange_bytes(t.bm, t.bn, kernel.splits) : slabs);
}
/// Shared memory with the barriers.
int64_t all_shared_bytes(const ConvKernel& kernel) { return shared_bytes(kernel) + kernel.tile.stages * 16; }

Result<PixelMapPlan> map_of_pixels(const ConvKernel& kernel, const ConvArguments& a, int64_t channels,
                                   const ConvStrides& x) {
  const int64_t size = bytes_of(kernel.types.a);
  const ConvWindow& w = a.window;
  PixelMapPlan map;
  map.type = map_type(kernel.types.a);
  map.extents[0] = static_cast<uint64_t>(channels);
  map.extents[1] = static_cast<uint64_t>(w.in[2]);
  map.extents[2] = static_cast<uint64_t>(w.in[1]);
  map.extents[3] = static_cast<uint64_t>(a.images);
  const int64_t strides[] = {x.at[2], x.at[1], x.n};
  for (size_t i = 0; i < 3; ++i) {
    TRY(require(strides[i] * size % 16 == 0, "pixels ", strides[i], " elements apart are not for tensor maps"));
    map.strides_bytes[i] = static_cast<uint64_t>(strides[i] * size);
  }
  for (size_t i = 0; i < 2; ++i) {  // width, height
    const size_t axis = 2 - i;
    map.lower[i] = -w.pad[axis];
    map.upper[i] = (w.out[axis] - 1) * w.stride[axis] + 1 - w.pad[axis] - w.in[axis];
    map.steps[1 + i] = static_cast<uint32_t>(w.stride[axis]);
    const int reach = w.dilation[axis] * (w.kernel[axis] - 1);
    TRY(require(map.lower[i] >= -128 && map.lower[i] <= 127 && map.upper[i] >= -128 && map.upper[i] <= 127 &&
                    reach <= 255 && w.stride[axis] <= 8,
                "a window from ", map.lower[i], " to ", map.upper[i], " of a picture is not for tensor maps"));
  }
  map.channels = static_cast<uint32_t>(kLineBytes / size);
  map.pixels = static_cast<uint32_t>(kernel.tile.bm);
  return map;
}

}  // namespace

MapPlan map_of_weights(const ConvKernel& kernel, const ConvArguments& a, int64_t box_columns) {
  const int64_t size = bytes_of(kernel.types.a);
  MapPlan map;
  map.type = map_type(kernel.types.a);
  map.extents[0] = static_cast<uint64_t>(a.in_channels);
  map.extents[1] = static_cast<uint64_t>(a.window.taps());
  map.extents[2] = static_cast<uint64_t>(a.out_channels);
  map.strides_bytes[0] = static_cast<uint64_t>(a.w_tap * size);
  map.strides_bytes[1] = static_cast<uint64_t>(a.w_out * size);
  map.box[0] = static_cast<uint32_t>(kLineBytes / size);
  map.box[2] = static_cast<uint32_t>(box_columns);
  return map;
}

Status require_lines(const ConvKernel& kernel, const ConvArguments& a) {
  const int64_t line = kLineBytes / bytes_of(kernel.types.a);
  return require(!kernel.joined || (a.joined > 0 && a.joined < a.in_channels && a.joined % line == 0),
                 "a convolution's first ", a.joined, " of ", a.in_channels, " channels are not lines of ", line);
}

Status shuffle_taps(ConvArguments& a) {
  ConvWindow& w = a.window;
  TRY(require(w.kernel[0] == 1 && w.in[0] == 1, "taps of three axes are not shuffled"));
  a.tap_columns = a.out_channels;
  a.taps_w = w.kernel[2];
  a.tap_y = a.y_strides.at[1];
  a.tap_x = a.y_strides.at[2];
  TRY(require(a.out_channels < (int64_t{1} << 31) / w.taps(), "a deconvolution has ", w.taps(), " taps of ",
              a.out_channels, " channels; kernels count to 2^31"));
  a.out_channels *= static_cast<int32_t>(w.taps());
  a.w_tap = a.w_out;  // there is one
  for (size_t axis = 0; axis < 3; ++axis) {
    TRY(require(w.out[axis] == int64_t{w.in[axis]} * w.stride[axis], "a deconvolution makes ", w.out[axis], " of ",
                w.in[axis], " by ", w.stride[axis]));
    a.y_strides.at[axis] *= w.stride[axis];
    w.out[axis] = w.in[axis];
    w.kernel[axis] = w.stride[axis] = w.dilation[axis] = 1;
    w.pad[axis] = 0;
  }
  a.pixels = static_cast<int32_t>(a.images * w.out_pixels());
  return {};
}

Result<ConvLaunch> plan_im2col(const ConvKernel& kernel, ConvArguments& a, int64_t multiprocessors) {
  const TileShape& tile = kernel.tile;
  const int64_t steps = a.window.taps() * ceil_div(a.in_channels, tile.bk), splits = kernel.splits;
  TRY(require(a.groups == 1 && a.window.kernel[0] == 1 && a.window.in[0] == 1 && steps >= splits, "a convolution of ",
              a.groups, " groups and ", steps, " steps is not for copies of pixels in clusters of ", splits));
  ConvLaunch launch;
  const int64_t tiles = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn);
  const int64_t blocks = splits > 1 ? tiles * splits : std::min(tiles, multiprocessors);
  TRY(require(blocks < (int64_t{1} << 31), "a convolution of ", blocks, " blocks is more than a grid"));
  launch.main.grid[0] = grid_blocks(blocks);
  launch.main.pdl = blocks <= 2 * multiprocessors;
  launch.main.block[0] = static_cast<uint32_t>(std::min<int64_t>(2 * tile.bm, 256) + 128);
  launch.main.cluster = static_cast<uint32_t>(splits);
  launch.main.shared_bytes = static_cast<uint32_t>(shared_bytes(kernel));
  if (tiles == 0) return launch;
  const ConvStrides& y = a.y_strides;
  const ConvWindow& w = a.window;
  const bool dense = y.at[1] == w.out[2] * y.at[2] && (a.images == 1 || y.n == w.out[1] * y.at[1]);
  a.y_pixel = dense && !kernel.shuffle ? y.at[2] : 0;
  launch.map_w = map_of_weights(kernel, a, tile.bn);
  const int64_t first = kernel.joined ? a.joined : a.in_channels;
  TRY(require_lines(kernel, a));
  launch.map_x = TRY(map_of_pixels(kernel, a, first, a.x_strides));
  if (kernel.joined) launch.map_x_behind = TRY(map_of_pixels(kernel, a, a.in_channels - first, a.joined_strides));
  return launch;
}

std::vector<ConvCandidate> im2col_candidates(const ConvTraits& t, const Machine& machine) {
  const FilterExtents& f = t.filter;
  const int64_t size = bytes_of(t.types.a), bk = kLineBytes / size;
  std::vector<ConvCandidate> result;
  if (machine.compute != 90 || machine.shared_bytes < kMostSharedBytes || !t.pictures || !t.constant_filter ||
      f.groups != 1 || f.in_channels * size % 16 != 0 || f.in_channels * size < 64 ||
      (t.types.a == DType::kF32 && !t.tf32) || (t.transposed && t.phases == 0))
    return result;
  ConvKernel kernel = t.kernel_of(ConvFamily::kIm2col);
  kernel.shuffle = t.abutting;
  kernel.piece = 16;
  const double phases = t.transposed ? static_cast<double>(t.phases) : 1;
  const double launches = kernel.shuffle ? 1 : phases;
  const int64_t taps = t.transposed ? std::max<int64_t>(1, f.taps / t.phases) : f.taps;
  const int64_t outs = kernel.shuffle ? f.out_channels * f.taps : f.out_channels;
  const int64_t pixels = t.transposed ? std::max<int64_t>(1, t.pixels / t.phases) : t.pixels;
  const int64_t steps = taps * ceil_div(f.in_channels, bk);
  for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                       {256, 128, 4},
                                       {128, 128, 6},
                                       {256, 64, 5},
                                       {128, 64, 8},
                                       {64, 128, 6},
                                       {64, 64, 8},
                                       {128, 32, 8},
                                       {64, 32, 8}}) {
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    const int64_t tiles = ceil_div(pixels, bm) * ceil_div(outs, bn);
    for (const int64_t splits : {1, 2, 4, 8}) {
      kernel.splits = splits;
      if (splits > 1 && (t.transposed || bm > 128 || bn / 8 % splits != 0 || steps < 2 * splits ||
                         tiles * splits > machine.multiprocessors + 12))
        continue;
      if (all_shared_bytes(kernel) > machine.shared_bytes) continue;
      // Cycles of a step: multiplying (64 columns keep shared memory busier than the units), or its bytes.
      const double area = static_cast<double>(bm * bn), lines = static_cast<double>(bm + bn);
      const double rate = (size == 4 ? 2048 : 4096) * (bn >= 256 ? 0.9 : bn >= 128 ? 0.85 : bn >= 64 ? 0.6 : 0.35);
      const double per_step = std::max({2 * area * static_cast<double>(bk) / rate, lines * 128 / 40, 110.0});
      const double rounds =
          splits > 1 ? 1 : std::ceil(static_cast<double>(tiles) / static_cast<double>(machine.multiprocessors));
      const double steps_each = std::ceil(static_cast<double>(steps) / static_cast<double>(splits));
      const double cycles = rounds * (steps_each * per_step + 400 + area / 16 / static_cast<double>(splits)) + 2500 +
                            (splits > 1 ? 1200 : 0);
      const double moved =
          static_cast<double>(size) * (static_cast<double>(t.pixels) * static_cast<double>(f.out_channels) +
                                       static_cast<double>(pixels * f.in_channels));
      result.push_back({kernel, launches * std::max(1e6 * cycles / machine.clock_hz,
                                                    1.5 + 1e6 * moved / machine.memory_bytes_per_second)});
    }
  }
  return result;
}

}  // namespace kiln::cuda
