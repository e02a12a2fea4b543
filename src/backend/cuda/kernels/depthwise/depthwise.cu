// Depthwise convolution: one input channel an output channel. A thread makes `vec` neighbouring channels (channels
// last) of some neighbouring pixels of a row; weights as [tap][channel]. The channel stride is 1 where `vec` is not.
#include "conv/arguments.cuh"

namespace kiln {

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
  float sum[kTile.columns][kTile.vec] = {};
  const Filter* w = args.w + channel;
  for (int kz = 0; kz < window.kernel[0]; ++kz) {
    const int in_z = z * window.stride[0] - window.pad[0] + kz * window.dilation[0];
    for (int ky = 0; ky < window.kernel[1]; ++ky) {
      const int in_y = y * window.stride[1] - window.pad[1] + ky * window.dilation[1];
      const bool inside = in_z >= 0 && in_z < window.in[0] && in_y >= 0 && in_y < window.in[1];
      const Element* line = x + in_z * args.x_strides.at[0] + in_y * args.x_strides.at[1];
      for (int kx = 0; kx < window.kernel[2]; ++kx, w += args.groups) {
        if (!inside) continue;
        float weight[kTile.vec];
        load_vector(weight, w);
#pragma unroll
        for (int i = 0; i < kTile.columns; ++i) {
          const int in_x = (column0 + i) * window.stride[2] - window.pad[2] + kx * window.dilation[2];
          if (in_x < 0 || in_x >= window.in[2]) continue;
          float value[kTile.vec];
          load_vector(value, line + in_x * args.x_strides.at[2]);
#pragma unroll
          for (int v = 0; v < kTile.vec; ++v) sum[i][v] = fmaf(value[v], weight[v], sum[i][v]);
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
    args.epilogue.apply(sum[i], index, channel);
    store_vector(args.y + index, sum[i]);
  }
}

}  // namespace kiln
