// How a convolution's input becomes the tile of a product without a copy of it: each line of A is a pixel, whose taps
// and channels are copied in pieces: kTile.piece bytes of x belong to one tap and are aligned.
#pragma once
#include "conv/arguments.cuh"
#include "gemm/tile.cuh"

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

/// The lines of A that one of kLoaders threads copies, the block's first: a pixel each, all at the same chunk of k.
/// Offsets fit 32 bits: the host sees to it.
template <class ATile, int kLoaders>
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
      z_[i] = row < args.pixels ? at[0] : -(1 << 30);  // a pixel beyond the last one reads nothing
      y_[i] = at[1];
      x_[i] = at[2];
    }
    if constexpr (kPieces == 1) reach_ = Reach(args, first_k + chunk() * kElements);
  }

  /// Copies the next kTile.bk of k, which begin at `k`. Calls come in order of k.
  __device__ __forceinline__ void copy(unsigned tile, const Element* x, int k) {
    if constexpr (kPieces == 1) {
      copy_piece(tile, x, 0, reach_);
      reach_.advance(args_, kTile.bk);
    } else {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece)
        copy_piece(tile, x, piece, Reach(args_, k + (chunk() * kPieces + piece) * kElements));
    }
  }

 private:
  static constexpr int kPieces = 16 / kTile.piece, kElements = kTile.piece / sizeof(Element);
  static constexpr int kEach = kTile.bm * ATile::kChunks / kLoaders;
  static_assert(kLoaders % ATile::kChunks == 0 && kTile.bm * ATile::kChunks % kLoaders == 0,
                "a thread stays at one chunk");
  static __device__ int chunk() { return threadIdx.x % ATile::kChunks; }
  static __device__ int line(int i) { return (i * kLoaders + threadIdx.x) / ATile::kChunks; }

  __device__ __forceinline__ void copy_piece(unsigned tile, const Element* x, int piece, const Reach& reach) const {
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
      copy_async<kTile.piece>(ATile::at(tile, line(i), chunk()) + piece * kTile.piece,
                              valid ? x + (offset_[i] + step) : x, valid);
    }
  }

  const ConvArguments& args_;
  int offset_[kEach], z_[kEach], y_[kEach], x_[kEach];
  Reach reach_;
};

}  // namespace kiln
