// conv/halo.cu: its launch, and when it is worth timing.
#include <algorithm>
#include <cmath>

#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kGroups = 2, kChunkBytes = 16 * 68 * 4, kMostSums = 256;

int64_t line_of(DType type) { return kLineBytes / (bits_of(type) / 8); }

/// Bytes of a stage, as the kernel's text has them.
int64_t stage_bytes(const ConvKernel& k) {
  return ceil_div((8 + k.kernel_w - 1) * (k.tile.bn / 8 + k.kernel_h - 1) * kLineBytes, 1024) * 1024;
}
int64_t shared_bytes(const ConvKernel& k, int64_t in_channels) {
  const int64_t weights = ceil_div(in_channels, line_of(k.types.a)) * k.kernel_h * k.kernel_w * k.tile.bm * kLineBytes;
  return weights + k.tile.stages * stage_bytes(k) + kGroups * 2 * kChunkBytes + kStageAlignment;
}
constexpr int64_t kFixedBytes = 2048;  ///< barriers, in front of an alignment

int64_t tiles_of(const ConvKernel& k, int64_t images, int64_t high, int64_t wide) {
  return images * ceil_div(high, k.tile.bn / 8) * ceil_div(wide, 8);
}

Result<MapPlan> map_of_tiles(const ConvKernel& kernel, const ConvArguments& a, int64_t channels, const ConvStrides& x) {
  const int64_t size = bytes_of(kernel.types.a);
  const ConvWindow& w = a.window;
  MapPlan map;
  map.type = map_type(kernel.types.a);
  map.rank = 4;
  const int64_t extents[] = {channels, w.in[2], w.in[1], a.images};
  const int64_t strides[] = {x.at[2], x.at[1], x.n};
  const int64_t box[] = {line_of(kernel.types.a), 8 + kernel.kernel_w - 1, kernel.tile.bn / 8 + kernel.kernel_h - 1, 1};
  for (size_t i = 0; i < 4; ++i) {
    map.extents[i] = static_cast<uint64_t>(extents[i]);
    map.box[i] = static_cast<uint32_t>(box[i]);
    if (i == 3) break;
    TRY(require(strides[i] * size % 16 == 0, "pixels ", strides[i], " elements apart are not for tensor maps"));
    map.strides_bytes[i] = static_cast<uint64_t>(strides[i] * size);
  }
  return map;
}

}  // namespace

bool takes_halo(const ConvKernel& k, const FilterExtents& f) {
  const auto within = [](int64_t x, int64_t most) { return x >= 1 && x <= most; };
  return within(k.kernel_h, 7) && within(k.kernel_w, 7) && (k.tile.bm == 64 || k.tile.bm == 128) &&
         k.tile.bn % 16 == 0 && k.tile.bn * k.tile.bm / 64 <= kMostSums && f.groups == 1 &&
         f.taps == k.kernel_h * k.kernel_w && f.out_channels <= k.tile.bm &&
         f.in_channels * bytes_of(k.types.a) % 16 == 0 && within(f.in_channels, 256) && !k.transposed &&
         shared_bytes(k, f.in_channels) + kFixedBytes <= kMostSharedBytes;
}

Result<ConvLaunch> plan_halo(const ConvKernel& kernel, ConvArguments& a, int64_t multiprocessors) {
  const ConvWindow& w = a.window;
  const auto same = [](const int32_t(&values)[3], int64_t h, int64_t width) {
    return values[0] == 1 && values[1] == h && values[2] == width;
  };
  TRY(require(same(w.kernel, kernel.kernel_h, kernel.kernel_w) && same(w.stride, 1, 1) && same(w.dilation, 1, 1) &&
                  w.in[0] == 1 && w.out[0] == 1,
              "a convolution of tiles is not the one that was compiled"));
  const int64_t tiles = tiles_of(kernel, a.images, w.out[1], w.out[2]);
  ConvLaunch launch;
  launch.main.grid[0] = grid_blocks(std::min(tiles, multiprocessors));
  launch.main.pdl = true;
  launch.main.block[0] = 128 * (kGroups + 1);
  launch.main.shared_bytes = static_cast<uint32_t>(shared_bytes(kernel, a.in_channels));
  if (tiles == 0) return launch;
  launch.map_w = map_of_weights(kernel, a, kernel.tile.bm);
  TRY(require_lines(kernel, a));
  const int64_t first = kernel.joined ? a.joined : a.in_channels;
  launch.map_tiles = TRY(map_of_tiles(kernel, a, first, a.x_strides));
  if (kernel.joined) launch.map_tiles_behind = TRY(map_of_tiles(kernel, a, a.in_channels - first, a.joined_strides));
  return launch;
}

std::vector<ConvCandidate> halo_candidates(const ConvTraits& t, const Machine& machine) {
  std::vector<ConvCandidate> result;
  const FilterExtents& f = t.filter;
  if (machine.compute != 90 || !t.constant_filter || t.transposed || !t.pictures || t.stride != 1 || t.stride_h != 1 ||
      t.out_w < 1 || t.out_h < 1 || f.taps < 2 || 4 * f.in_channels < 3 * line_of(t.types.a) ||
      (t.types.a == DType::kF32 && !t.tf32))
    return result;
  ConvKernel kernel = t.kernel_of(ConvFamily::kHalo);
  kernel.kernel_h = t.kernel_h;
  kernel.kernel_w = t.kernel_w;
  kernel.stride = 1;
  const int64_t rows = f.out_channels > 64 ? 2 : 1, images = std::max<int64_t>(1, t.pixels / (t.out_w * t.out_h));
  const int64_t chunks = ceil_div(f.in_channels, line_of(t.types.a));
  for (const int64_t high : {32, 28, 16, 14, 8}) {
    for (const int64_t stages : {4, 3, 2}) {
      kernel.tile = {64 * rows, 8 * high, line_of(t.types.a), 4 * kGroups, 1, 0, 0, stages};
      if (!takes_halo(kernel, f)) continue;
      const double each = static_cast<double>(chunks * f.taps * 4 * rows * kernel.tile.bn / 2) *
                          (bytes_of(t.types.a) == 4 ? 2 : 1) * (high >= 28 ? 1.1 : 1.25);
      const double written = static_cast<double>(kernel.tile.bn / 16 * rows) * 160;
      const double tiles = static_cast<double>(tiles_of(kernel, images, t.out_h, t.out_w));
      const double turns = std::ceil(tiles / static_cast<double>(machine.multiprocessors));
      // Two groups share the units; what the last one writes is not hidden.
      const double cycles = turns * std::max(each, (each + written) / 2) + written + 3500 +
                            static_cast<double>(chunks * f.taps * rows) * 64;
      const double bytes = static_cast<double>(t.pixels * (f.out_channels + f.in_channels) * bytes_of(t.types.a));
      result.push_back(
          {kernel, std::max(1e6 * cycles / machine.clock_hz, 1.5 + 1e6 * bytes / machine.memory_bytes_per_second)});
      break;
    }
  }
  return result;
}

}  // namespace kiln::cuda
