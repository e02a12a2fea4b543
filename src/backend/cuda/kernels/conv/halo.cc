#include "backend/cuda/kernels/conv/halo.h"

namespace kiln::cuda {

std::string ConvHalo::name() const { return str("halo ", tile.name(), " in ", tile.stages); }

int64_t ConvHalo::shared_bytes(int64_t in_channels) const {
  const int64_t stage = ceil_div((8 + kernel_w - 1) * (tile.bn / 8 + kernel_h - 1) * kLineBytes, 1024) * 1024;
  const int64_t weights = ceil_div(in_channels, line()) * kernel_h * kernel_w * tile.bm * kLineBytes;
  return weights + tile.stages * stage + kGroups * 2 * kChunkBytes + kStageAlignment;
}

bool ConvHalo::takes(const FilterExtents& f) const {
  constexpr int64_t kMostSums = 256;
  return ConvTiled::takes(f) && is_within(kernel_h, 7) && is_within(kernel_w, 7) && has_all_channels(f, kMostSums) &&
         f.taps == kernel_h * kernel_w && f.in_channels * bytes_of(types.a) % 16 == 0 &&
         is_within(f.in_channels, 256) && all_shared_bytes(f.in_channels) <= kMostSharedBytes;
}

Result<MapPlan> ConvHalo::map_of_tiles(const ConvArguments& a, int64_t channels, const ConvStrides& x) const {
  const ConvWindow& w = a.window;
  MapPlan map;
  map.type = map_type(types.a);
  map.rank = 4;
  const int64_t extents[] = {channels, w.in[2], w.in[1], a.images};
  const int64_t box[] = {line(), 8 + kernel_w - 1, tile.bn / 8 + kernel_h - 1, 1};
  std::ranges::copy(extents, map.extents);
  std::ranges::copy(box, map.box);
  std::ranges::copy(TRY(pixel_strides(types.a, x)), map.strides_bytes);
  return map;
}

Result<ConvLaunch> ConvHalo::plan(ConvArguments& a, int64_t multiprocessors) const {
  const ConvWindow& w = a.window;
  TRY(require(is_picture_window(w, kernel_h, kernel_w, 1, 1),
              "the convolution's window is not the one that the kernel was compiled for"));
  const int64_t count = tiles(a.images, w.out[1], w.out[2]);
  ConvLaunch launch;
  launch.main.grid[0] = grid_blocks(std::min(count, multiprocessors));
  launch.main.pdl = true;
  launch.main.block[0] = 128 * (kGroups + 1);
  launch.main.shared_bytes = static_cast<uint32_t>(shared_bytes(a.in_channels));
  if (count == 0) return launch;
  launch.map_w = map_of_weights(*this, a, tile.bm);
  const int64_t first = TRY(first_channels(*this, joined, a));
  launch.map_tiles = TRY(map_of_tiles(a, first, a.x_strides));
  if (joined) launch.map_tiles_behind = TRY(map_of_tiles(a, a.in_channels - first, a.joined_strides));
  return launch;
}

const ConvFamily kConvHalo = conv_family<ConvHalo>("halo", "conv_halo");

}  // namespace kiln::cuda
