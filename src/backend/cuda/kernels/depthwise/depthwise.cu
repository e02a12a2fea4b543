// Depthwise convolution: one input channel an output channel. A thread makes `vec` neighbouring channels (channels
// last) of some neighbouring pixels of a row; weights as [tap][channel]. The channel stride is 1 where `vec` is not.
#include "conv/arguments.cuh"

namespace kiln {

template <bool kOfBytes>
struct SumType {
  using Type = float;
};
template <>
struct SumType<true> {
  using Type = int;
};
/// Sums of bytes are whole numbers.
constexpr bool kOfBytes = kHasIntegerSums<Element>;
using Sum = SumType<kOfBytes>::Type;

template <int V, class T>
__device__ __forceinline__ void load_numbers(float (&x)[V], const T* from) {
  load_vector(x, from);
}
template <int V, class T>
__device__ __forceinline__ void load_numbers(int (&x)[V], const T* from) {
  const Vec<T, V> loaded = load_vec<T, V>(from);
#pragma unroll
  for (int i = 0; i < V; ++i) x[i] = loaded.at[i];
}
__device__ __forceinline__ float add_product(float sum, float x, float w) { return fmaf(x, w, sum); }
__device__ __forceinline__ int add_product(int sum, int x, int w) { return x * w + sum; }
/// Adds the products of the elements at `x`, or of x's zero point where that is null.
__device__ __forceinline__ void add_products(Sum (&sum)[kTile.vec], const Element* x, int x_zero,
                                             const Sum (&weight)[kTile.vec]) {
  Sum value[kTile.vec];
  if (x) {
    load_numbers(value, x);
  } else {
#pragma unroll
    for (int v = 0; v < kTile.vec; ++v) value[v] = static_cast<Sum>(x_zero);
  }
#pragma unroll
  for (int v = 0; v < kTile.vec; ++v) sum[v] = add_product(sum[v], value[v], weight[v]);
}

extern "C" __global__ void __launch_bounds__(128) depthwise(const __grid_constant__ ConvArguments args) {
  pdl_wait();
  const Window& window = args.window;
  const int vectors = args.groups / kTile.vec, strips = (window.out[2] + kTile.columns - 1) / kTile.columns;
  const long long item = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  // Neighbouring threads take neighbours in memory: channels where they are contiguous, else pixels.
  const bool channels_last = args.x_strides.channel == 1;
  int channel, strip;
  long long rest;
  if (channels_last) {
    channel = static_cast<int>(item % vectors) * kTile.vec;
    rest = item / vectors;
    strip = static_cast<int>(rest % strips);
    rest /= strips;
  } else {
    strip = static_cast<int>(item % strips);
    rest = item / strips;
  }
  const int y = static_cast<int>(rest % window.out[1]);
  rest /= window.out[1];
  const int z = static_cast<int>(rest % window.out[0]);
  rest /= window.out[0];
  if (!channels_last) {
    channel = static_cast<int>(rest % vectors) * kTile.vec;
    rest /= vectors;
  }
  if (rest >= args.images) return;
  const int column0 = strip * kTile.columns;
  const Element* x = args.x + rest * args.x_strides.n + channel * args.x_strides.channel;
  // Beyond x there are zeros, which need no products, or x's zero point.
  const bool adds_pads = kOfBytes && args.x_zero != 0;
  Sum sum[kTile.columns][kTile.vec] = {};
  const Filter* w = args.w + channel;
  for (int kz = 0; kz < window.kernel[0]; ++kz) {
    const int in_z = z * window.stride[0] - window.pad[0] + kz * window.dilation[0];
    for (int ky = 0; ky < window.kernel[1]; ++ky) {
      const int in_y = y * window.stride[1] - window.pad[1] + ky * window.dilation[1];
      const bool inside = in_z >= 0 && in_z < window.in[0] && in_y >= 0 && in_y < window.in[1];
      const Element* line = x + in_z * args.x_strides.at[0] + in_y * args.x_strides.at[1];
      for (int kx = 0; kx < window.kernel[2]; ++kx, w += args.groups) {
        if (!inside && !adds_pads) continue;
        Sum weight[kTile.vec];
        load_numbers(weight, w);
#pragma unroll
        for (int i = 0; i < kTile.columns; ++i) {
          const int in_x = (column0 + i) * window.stride[2] - window.pad[2] + kx * window.dilation[2];
          const bool is_pixel = inside && in_x >= 0 && in_x < window.in[2];
          if (!is_pixel && !adds_pads) continue;
          add_products(sum[i], is_pixel ? line + in_x * args.x_strides.at[2] : nullptr, args.x_zero, weight);
        }
      }
    }
  }
  const long long row =
      rest * args.y_strides.n + channel * args.y_strides.channel + z * args.y_strides.at[0] + y * args.y_strides.at[1];
#pragma unroll
  for (int i = 0; i < kTile.columns; ++i) {
    if (column0 + i >= window.out[2]) continue;
    const long long index = row + (column0 + i) * args.y_strides.at[2];
    float numbers[kTile.vec];
#pragma unroll
    for (int v = 0; v < kTile.vec; ++v) numbers[v] = static_cast<float>(sum[i][v]);
    args.epilogue.apply(numbers, index, channel);
    store_vector(args.y + index, numbers);
  }
}

}  // namespace kiln
