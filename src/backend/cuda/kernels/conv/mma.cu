// Convolution on tensor cores as a product without a copy of its input, channels last: rows are output pixels, columns
// the output channels of a group, k runs over taps and then a group's input channels.
// Defines: those of mma_product.cuh (both operands K-major) and slab.cuh, A_PIECE (bytes of x that belong to one tap and
// are aligned), B_PIECE, SPLIT as in gemm/mma.cu, and those of arguments.cuh. Channels of x, y are contiguous, and k of w.
#define A_K_MAJOR 1
#define B_K_MAJOR 1
#include "conv/arguments.cuh"
#include "gemm/raster.cuh"
#include "gemm/mma_product.cuh"

namespace kiln {

/// Where a piece of k looks: a tap and a channel.
struct Reach {
  int channel, at[3];
  Reach() = default;
  __device__ Reach(const ConvArguments& args, int k) {
    const Window& w = args.window;
    const Tap tap(w, k / args.in_channels);
    channel = k % args.in_channels;
    for (int axis = 0; axis < 3; ++axis) at[axis] = tap.at[axis];
  }
  __device__ void advance(const ConvArguments& args, int by) {
    channel += by;
    while (channel >= args.in_channels) {
      channel -= args.in_channels;
      if (++at[2] < args.window.kernel[2]) continue;
      at[2] = 0;
      if (++at[1] < args.window.kernel[1]) continue;
      at[1] = 0;
      ++at[0];
    }
  }
};

/// The lines of A that a thread copies: a pixel each, all at the same chunk of k. Offsets fit 32 bits: the host sees to it.
class PixelLines {
 public:
  __device__ PixelLines(const ConvArguments& args, int row0, int first_k) : args_(args) {
    const Window& w = args.window;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int row = row0 + line(i);
      const Pixel pixel(w, min(row, args.pixels - 1));
      int at[3];
      for (int axis = 0; axis < 3; ++axis) at[axis] = pixel.at[axis] * w.stride[axis] - w.pad[axis];
      const Strides& s = args.x_strides;
      offset_[i] = static_cast<int>(pixel.n * s.n + at[0] * s.at[0] + at[1] * s.at[1] + at[2] * s.at[2]);
      z_[i] = row < args.pixels ? at[0] : -(1 << 30);  // a pixel that is not there looks at nothing
      y_[i] = at[1];
      x_[i] = at[2];
    }
    if constexpr (kPieces == 1) reach_ = Reach(args, first_k + chunk() * kElements);
  }

  /// Copies the next BK of k, which begin at `k`. Calls come in order of k.
  __device__ __forceinline__ void copy(unsigned tile, const ELEMENT* x, int k) {
    if constexpr (kPieces == 1) {
      copy_piece(tile, x, 0, reach_);
      reach_.advance(args_, BK);
    } else {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece)
        copy_piece(tile, x, piece, Reach(args_, k + (chunk() * kPieces + piece) * kElements));
    }
  }

 private:
  static constexpr int kPieces = 16 / A_PIECE, kElements = A_PIECE / sizeof(ELEMENT);
  static constexpr int kEach = BM * ATile::kChunks / kThreads;
  static_assert(kThreads % ATile::kChunks == 0 && BM * ATile::kChunks % kThreads == 0, "a thread stays at one chunk");
  static __device__ int chunk() { return threadIdx.x % ATile::kChunks; }
  static __device__ int line(int i) { return (i * kThreads + threadIdx.x) / ATile::kChunks; }

  __device__ __forceinline__ void copy_piece(unsigned tile, const ELEMENT* x, int piece, const Reach& reach) const {
    const Window& w = args_.window;
    const int dz = reach.at[0] * w.dilation[0], dy = reach.at[1] * w.dilation[1], dx = reach.at[2] * w.dilation[2];
    const Strides& s = args_.x_strides;
    const int step = static_cast<int>(dz * s.at[0] + dy * s.at[1] + dx * s.at[2]) + reach.channel;
    const bool more = reach.at[0] < w.kernel[0];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool valid = more && static_cast<unsigned>(z_[i] + dz) < static_cast<unsigned>(w.in[0]) &&
                         static_cast<unsigned>(y_[i] + dy) < static_cast<unsigned>(w.in[1]) &&
                         static_cast<unsigned>(x_[i] + dx) < static_cast<unsigned>(w.in[2]);
      copy_async<A_PIECE>(ATile::at(tile, line(i), chunk()) + piece * A_PIECE, valid ? x + (offset_[i] + step) : x,
                          valid);
    }
  }

  const ConvArguments& args_;
  int offset_[kEach], z_[kEach], y_[kEach], x_[kEach];
  Reach reach_;
};

__device__ __forceinline__ void finish(const ConvArguments& args, float (&x)[VEC], int pixel, int channel) {
  const long long index = Pixel(args.window, pixel).offset(args.y_strides) + channel;
  args.epilogue.apply(x, index, channel);
  store_vector(args.y + index, x);
}

extern "C" __global__ void __launch_bounds__(kThreads) conv_mma(const __grid_constant__ ConvArguments args) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int tiles_m = (args.pixels + BM - 1) / BM, tiles_n = (args.out_channels + BN - 1) / BN;
  const int split = blockIdx.x % args.splits, index = blockIdx.x / args.splits;
  const int group = index / (tiles_m * tiles_n);
  const TilePlace place = tile_place(index % (tiles_m * tiles_n), tiles_m, tiles_n);
  const int row0 = place.m * BM, column0 = place.n * BN;
  const int columns = args.out_channels - column0;
  const Window& window = args.window;
  const int k = window.kernel[0] * window.kernel[1] * window.kernel[2] * args.in_channels, all_tiles = (k + BK - 1) / BK;
  const int first = static_cast<int>(static_cast<long long>(all_tiles) * split / args.splits);
  const int last = static_cast<int>(static_cast<long long>(all_tiles) * (split + 1) / args.splits);
  const ELEMENT* x = args.x + group * args.in_channels;
  const ELEMENT* w = args.w + group * args.w_group + column0 * args.w_out;
  PixelLines lines(args, row0, first * BK);
  pdl_wait();
  Sums sums = {};
  mma_product(sums, shared_address(shared), last - first, [&](unsigned stage, int tile) {
    const int at = (first + tile) * BK;
    lines.copy(stage, x, at);
    BTile::copy<kThreads, B_PIECE>(stage + ATile::kBytes, w + at, args.w_out, columns, k - at);
  });
  pdl_launch();
  const int channel0 = group * args.out_channels + column0;
  for_each_sum(sums, shared, args.pixels - row0, columns, [&](float (&value)[VEC], int row, int column) {
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
extern "C" __global__ void __launch_bounds__(256) conv_reduce(const __grid_constant__ ConvArguments args, long long vectors) {
  pdl_wait();
  const long long vector = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (vector >= vectors) return;
  float x[VEC] = {};
  for (int split = 0; split < args.splits; ++split) {
    float part[VEC];
    load_vector(part, args.partial + (split * vectors + vector) * VEC);
#pragma unroll
    for (int v = 0; v < VEC; ++v) x[v] += part[v];
  }
  const int per_row = args.groups * args.out_channels / VEC;
  finish(args, x, static_cast<int>(vector / per_row), static_cast<int>(vector % per_row) * VEC);
}
#endif

}  // namespace kiln
