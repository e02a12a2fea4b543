// Depthwise convolution of pictures, channels last, with a kernel and strides known to the compiler: a thread makes VEC
// channels of COLUMNS neighbouring pixels, reads each input of a row once, and has many loads on their way. Weights as
// [tap][channel]. Defines: VEC COLUMNS KERNEL_H KERNEL_W STRIDE (along a row) and those of conv/arguments.cuh.
#include "conv/arguments.cuh"

namespace kiln {

constexpr int kSpan = (COLUMNS - 1) * STRIDE + KERNEL_W;  ///< inputs of a row that a thread reads

extern "C" __global__ void __launch_bounds__(128) depthwise_rows(const __grid_constant__ ConvArguments args) {
  const Window& window = args.window;
  const int vectors = args.groups / VEC, strips = (window.out[2] + COLUMNS - 1) / COLUMNS;
  const unsigned item = blockIdx.x * 128u + threadIdx.x;
  const int channel = item % vectors * VEC;
  unsigned rest = item / vectors;
  const int column = rest % strips * COLUMNS;
  rest /= strips;
  const int y = rest % window.out[1], n = rest / window.out[1];
  if (n >= args.images) return;
  const int first_y = y * window.stride[1] - window.pad[1], first_x = column * STRIDE - window.pad[2];
  const ELEMENT* w = args.w + channel;
  const ELEMENT* x = args.x + n * args.x_strides.n + channel;
  float sums[COLUMNS][VEC] = {};
  pdl_wait();
#pragma unroll
  for (int ky = 0; ky < KERNEL_H; ++ky) {
    const int in_y = first_y + ky;
    const bool inside = in_y >= 0 && in_y < window.in[1];
    const ELEMENT* row = x + in_y * args.x_strides.at[1];
    Vec<ELEMENT, VEC> values[kSpan], weights[KERNEL_W];
#pragma unroll
    for (int i = 0; i < kSpan; ++i) {
      const int in_x = first_x + i;
      values[i] = {};
      if (inside && in_x >= 0 && in_x < window.in[2])
        values[i] = load_vec<ELEMENT, VEC>(row + in_x * args.x_strides.at[2]);
    }
#pragma unroll
    for (int kx = 0; kx < KERNEL_W; ++kx) weights[kx] = load_vec<ELEMENT, VEC>(w + (ky * KERNEL_W + kx) * args.groups);
#pragma unroll
    for (int kx = 0; kx < KERNEL_W; ++kx)
#pragma unroll
      for (int i = 0; i < COLUMNS; ++i)
#pragma unroll
        for (int v = 0; v < VEC; ++v)
          sums[i][v] = fmaf(to_float(values[i * STRIDE + kx].at[v]), to_float(weights[kx].at[v]), sums[i][v]);
  }
  pdl_launch();
  const long long first = n * args.y_strides.n + y * args.y_strides.at[1] + channel;
#pragma unroll
  for (int i = 0; i < COLUMNS; ++i) {
    if (column + i >= window.out[2]) continue;
    const long long index = first + (column + i) * args.y_strides.at[2];
    args.epilogue.apply(sums[i], index, channel);
    store_vector(args.y + index, sums[i]);
  }
}

}  // namespace kiln
