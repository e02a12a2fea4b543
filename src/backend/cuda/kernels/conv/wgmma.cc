#include "backend/cuda/kernels/conv/pieces.h"

namespace kiln::cuda {

int64_t ConvWgmma::shared_bytes() const {
  const int64_t stages = tile.stages * (tile.bm + tile.bn) * kLineBytes + kStageAlignment;
  return stages + (splits > 1 ? exchange_bytes(tile.bm, tile.bn, splits) : tile.bm / 16 * slab_bytes(32));
}

Result<ConvLaunch> ConvWgmma::plan(ConvArguments& a, int64_t multiprocessors) const {
  ConvLaunch launch = TRY(plan_padding(a));
  const int64_t k = a.window.taps() * a.in_channels;
  TRY(require(a.groups == 1 && k > 0 && ceil_div(k, tile.bk) >= splits, "a convolution of ", a.groups, " groups and ",
              k, " products a sum cannot be shared by clusters of ", splits));
  const int64_t tiles = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn);
  TRY(set_conv_grid(launch.main, splits > 1 ? tiles * splits : std::min(tiles, multiprocessors), 2 * tile.bm + 128,
                    multiprocessors));
  launch.main.cluster = static_cast<uint32_t>(splits);
  launch.main.shared_bytes = static_cast<uint32_t>(shared_bytes());
  launch.map_w = map_of(types.a, k, a.out_channels, a.w_out, 1, 0, tile.bn);
  return launch;
}

const ConvFamily kConvWgmma = conv_family<ConvWgmma>("wgmma", "conv_wgmma", FloatWeights::kSplit, /*takes_bytes=*/true);

}  // namespace kiln::cuda
