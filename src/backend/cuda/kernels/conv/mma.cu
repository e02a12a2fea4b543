// Convolution on tensor cores as a product without a copy of its input, channels last: rows are output pixels, columns
// the output channels of a group, k runs over taps and then a group's input channels.
// Channels of x, y are contiguous, and k of w. Splits are as in gemm/mma.cu.
#include "conv/arguments.cuh"
#include "conv/pixel_lines.cuh"
#include "gemm/mma_product.cuh"
#include "gemm/raster.cuh"

namespace kiln {

using ATile = Operand<kTile.bm, true>;
using BTile = Operand<kTile.bn, true>;

extern "C" __global__ void __launch_bounds__(kThreads) conv_mma(const __grid_constant__ ConvArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int tiles_m = (args.pixels + kTile.bm - 1) / kTile.bm, tiles_n = (args.out_channels + kTile.bn - 1) / kTile.bn;
  const int split = blockIdx.x % args.splits, index = blockIdx.x / args.splits;
  const int group = index / (tiles_m * tiles_n);
  const TilePlace place = tile_place(index % (tiles_m * tiles_n), tiles_m, tiles_n);
  const int row0 = place.m * kTile.bm, column0 = place.n * kTile.bn;
  const int columns = args.out_channels - column0;
  const Window& window = args.window;
  const int k = window.kernel[0] * window.kernel[1] * window.kernel[2] * args.in_channels,
            all_tiles = (k + kTile.bk - 1) / kTile.bk;
  const int first = static_cast<int>(static_cast<long long>(all_tiles) * split / args.splits);
  const int last = static_cast<int>(static_cast<long long>(all_tiles) * (split + 1) / args.splits);
  const Element* x = args.x + group * args.in_channels;
  const Element* w = args.w + group * args.w_group + column0 * args.w_out;
  PixelLines<ATile, kThreads> lines(args, row0, first * kTile.bk);
  pdl_wait();
  Sums sums = {};
  mma_product<ATile, BTile>(sums, shared_address(shared), last - first, [&](unsigned stage, int tile) {
    const int at = (first + tile) * kTile.bk;
    lines.copy(stage, x, at);
    BTile::copy<kThreads, 16>(stage + ATile::kBytes, w + at, args.w_out, columns, k - at);
  });
  pdl_launch();
  const int channel0 = group * args.out_channels + column0;
  for_each_sum(sums, shared, args.pixels - row0, columns, [&](float(&value)[kTile.vec], int row, int column) {
    if constexpr (kTile.splits > 1) {
      const long long line = static_cast<long long>(split) * args.pixels + row0 + row;
      store_vector(args.partial + line * (args.groups * args.out_channels) + channel0 + column, value);
    } else {
      finish(args, value, row0 + row, channel0 + column);
    }
  });
}

}  // namespace kiln
