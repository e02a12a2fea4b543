// Depthwise convolution of pictures, channels last, with a kernel and strides known to the compiler: a thread makes
// `vec` channels of some neighbouring pixels, reads each input of a row once, and has many loads on their way. Weights
// as [tap][channel]. Neighbouring warps take the rows below, whose inputs are then near: in the first-level cache.
#include "conv/arguments.cuh"

namespace kiln {

constexpr int kTaps = kTile.kernel_h * kTile.kernel_w;
constexpr int kSpan = (kTile.columns - 1) * kTile.stride + kTile.kernel_w;  ///< inputs of a row that a thread reads
constexpr int kVectorBytes = kTile.vec * int(sizeof(Element));
/// Whether a thread keeps the weights in registers. It reads them before it waits for the results of earlier kernels.
constexpr bool kHoldsFilter = kTaps * kTile.vec * int(sizeof(Filter)) <= 288;
constexpr int kMostAhead = 320 / (kSpan * kVectorBytes);
constexpr int kAhead = kMostAhead < 1                ? 1
                       : kMostAhead < kTile.kernel_h ? kMostAhead
                                                     : kTile.kernel_h;  ///< rows read at once

/// A vector as registers hold them: whole words, which masks apply to at once.
template <class T>
struct Packed {
  static constexpr int kBytes = kTile.vec * int(sizeof(T)), kWords = kBytes < 4 ? 1 : kBytes / 4;
  static constexpr int kLoad = kWords < 4 ? kWords : 4;  ///< words at once
  unsigned words[kWords];

  static __device__ __forceinline__ Packed load(const void* from) {
    Packed result;
    if constexpr (kBytes == 2) {
      result.words[0] = *static_cast<const unsigned short*>(from);
    } else {
#pragma unroll
      for (int first = 0; first < kWords; first += kLoad) {
        const Vec<unsigned, kLoad> loaded = load_vec<unsigned, kLoad>(static_cast<const unsigned*>(from) + first);
#pragma unroll
        for (int i = 0; i < kLoad; ++i) result.words[first + i] = loaded.at[i];
      }
    }
    return result;
  }
  __device__ __forceinline__ float at(int i) const { return element(words, i, T()); }

 private:
  static __device__ __forceinline__ float element(const unsigned* from, int i, float) {
    return __uint_as_float(from[i]);
  }
  template <class Half>
  static __device__ __forceinline__ float element(const unsigned* from, int i, Half result) {
    result.bits = static_cast<unsigned short>(i % 2 ? from[i / 2] >> 16 : from[i / 2]);
    return to_float(result);
  }
};

/// What a thread makes.
struct Place {
  int channel, column, y, n;
  __device__ __forceinline__ explicit Place(const ConvArguments& args) {
    const unsigned vectors = args.groups / kTile.vec, strips = (args.window.out[2] + kTile.columns - 1) / kTile.columns;
    // Some neighbouring channels of a pixel, then the rows below it: a power of two of vectors, where there is one.
    const unsigned power = vectors & -vectors, lanes = power >= 32 ? 32 : power >= 8 ? power : vectors;
    unsigned rest = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = rest % lanes;
    rest /= lanes;
    y = rest % args.window.out[1];
    rest /= args.window.out[1];
    column = rest % strips * kTile.columns;
    rest /= strips;
    const unsigned sections = vectors / lanes;
    channel = (rest % sections * lanes + lane) * kTile.vec;
    n = rest / sections;
  }
};

extern "C" __global__ void __launch_bounds__(128) depthwise_rows(const __grid_constant__ ConvArguments args) {
  pdl_launch();
  const Window& window = args.window;
  const Place at(args);
  if (at.n >= args.images) return;
  const Filter* w = args.w + at.channel;
  Packed<Filter> filter[kHoldsFilter ? kTaps : kTile.kernel_w];
  if constexpr (kHoldsFilter) {
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) filter[tap] = Packed<Filter>::load(w + tap * args.groups);
  }
  // A pixel outside of x is read from the nearest one inside, and masked.
  const int first_y = at.y * window.stride[1] - window.pad[1], first_x = at.column * kTile.stride - window.pad[2];
  const Element* x = args.x + at.n * args.x_strides.n + at.channel;
  int places[kSpan];
  unsigned masks[kSpan];
#pragma unroll
  for (int i = 0; i < kSpan; ++i) {
    const int in_x = first_x + i, near = min(max(in_x, 0), window.in[2] - 1);
    places[i] = near * int(args.x_strides.at[2]);
    masks[i] = in_x == near ? ~0u : 0;
  }
  float sums[kTile.columns][kTile.vec] = {};
  pdl_wait();
#pragma unroll
  for (int top = 0; top < kTile.kernel_h; top += kAhead) {
    Packed<Element> values[kAhead][kSpan];
#pragma unroll
    for (int r = 0; r < kAhead && top + r < kTile.kernel_h; ++r) {
      const int near = min(max(first_y + top + r, 0), window.in[1] - 1);
      const Element* row = x + near * args.x_strides.at[1];
#pragma unroll
      for (int i = 0; i < kSpan; ++i) values[r][i] = Packed<Element>::load(row + places[i]);
    }
#pragma unroll
    for (int r = 0; r < kAhead && top + r < kTile.kernel_h; ++r) {
      const int ky = top + r, in_y = first_y + ky;
      const unsigned inside = in_y >= 0 && in_y < window.in[1] ? ~0u : 0;
#pragma unroll
      for (int i = 0; i < kSpan; ++i)
#pragma unroll
        for (int word = 0; word < Packed<Element>::kWords; ++word) values[r][i].words[word] &= masks[i] & inside;
      if constexpr (!kHoldsFilter) {
#pragma unroll
        for (int kx = 0; kx < kTile.kernel_w; ++kx)
          filter[kx] = Packed<Filter>::load(w + (ky * kTile.kernel_w + kx) * args.groups);
      }
#pragma unroll
      for (int kx = 0; kx < kTile.kernel_w; ++kx) {
        const Packed<Filter>& weight = filter[kHoldsFilter ? ky * kTile.kernel_w + kx : kx];
#pragma unroll
        for (int i = 0; i < kTile.columns; ++i)
#pragma unroll
          for (int v = 0; v < kTile.vec; ++v)
            sums[i][v] = fmaf(values[r][i * kTile.stride + kx].at(v), weight.at(v), sums[i][v]);
      }
    }
  }
  const long long first = at.n * args.y_strides.n + at.y * args.y_strides.at[1] + at.channel;
#pragma unroll
  for (int i = 0; i < kTile.columns; ++i)
    if (at.column + i < window.out[2])
      args.epilogue.apply(sums[i], first + (at.column + i) * args.y_strides.at[2], at.channel);
#pragma unroll
  for (int i = 0; i < kTile.columns; ++i)
    if (at.column + i < window.out[2]) store_vector(args.y + first + (at.column + i) * args.y_strides.at[2], sums[i]);
}

}  // namespace kiln
