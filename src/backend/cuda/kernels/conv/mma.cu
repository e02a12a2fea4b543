// Convolution on tensor cores as a product without a copy of its input, channels last: rows are output pixels, columns
// the output channels of a group, k runs over taps and then a group's input channels.
// Defines: those of mma_product.cuh (both operands K-major) and slab.cuh, A_PIECE (bytes of x that belong to one tap
// and are aligned), B_PIECE, SPLIT as in gemm/mma.cu, and those of arguments.cuh. Channels of x, y are contiguous, and
// k of w.
#define A_K_MAJOR 1
#define B_K_MAJOR 1
#include "conv/arguments.cuh"
#include "conv/pad_channels.cuh"
#include "conv/pixel_lines.cuh"
#include "gemm/add_parts.cuh"
#include "gemm/mma_product.cuh"
#include "gemm/raster.cuh"

namespace kiln {

extern "C" __global__ void __launch_bounds__(kThreads) conv_mma(const __grid_constant__ ConvArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int tiles_m = (args.pixels + BM - 1) / BM, tiles_n = (args.out_channels + BN - 1) / BN;
  const int split = blockIdx.x % args.splits, index = blockIdx.x / args.splits;
  const int group = index / (tiles_m * tiles_n);
  const TilePlace place = tile_place(index % (tiles_m * tiles_n), tiles_m, tiles_n);
  const int row0 = place.m * BM, column0 = place.n * BN;
  const int columns = args.out_channels - column0;
  const Window& window = args.window;
  const int k = window.kernel[0] * window.kernel[1] * window.kernel[2] * args.in_channels,
            all_tiles = (k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(all_tiles) * split / args.splits);
  const int last = static_cast<int>(static_cast<long long>(all_tiles) * (split + 1) / args.splits);
  const ELEMENT* x = args.x + group * args.in_channels;
  const ELEMENT* w = args.w + group * args.w_group + column0 * args.w_out;
  PixelLines<ATile, kThreads> lines(args, row0, first * BK);
  pdl_wait();
  Sums sums = {};
  mma_product(sums, shared_address(shared), last - first, [&](unsigned stage, int tile) {
    const int at = (first + tile) * BK;
    lines.copy(stage, x, at);
    BTile::copy<kThreads, B_PIECE>(stage + ATile::kBytes, w + at, args.w_out, columns, k - at);
  });
  pdl_launch();
  const int channel0 = group * args.out_channels + column0;
  for_each_sum(sums, shared, args.pixels - row0, columns, [&](float(&value)[VEC], int row, int column) {
#if SPLIT
    const long long line = static_cast<long long>(split) * args.pixels + row0 + row;
    store_vector(args.partial + line * (args.groups * args.out_channels) + channel0 + column, value);
#else
    finish(args, value, row0 + row, channel0 + column);
#endif
  });
}

#if SPLIT
/// Adds the partial sums in the order of the splits. A thread a vector of y.
extern "C" __global__ void __launch_bounds__(256)
    conv_reduce(const __grid_constant__ ConvArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[VEC] = {};
  add_parts(x, args, vectors, vector);
  const int per_row = args.groups * args.out_channels / VEC;
  finish(args, x, static_cast<int>(vector / per_row), static_cast<int>(vector % per_row) * VEC);
}
#endif

}  // namespace kiln
