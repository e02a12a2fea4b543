// Convolution and its transpose by plain FMA, as a product: rows are output pixels, columns the output channels of a
// group, k runs over taps and then a group's input channels. Any strides of x and y (channels first or last), any
// groups. Of a deconvolution each output gathers the inputs that reach it.
#include "conv/arguments.cuh"
#include "gemm/simt_tile.cuh"

namespace kiln {

/// The input position that output position `o` reads through tap `t`, or -1.
__device__ __forceinline__ int input_position(const Window& w, int axis, int o, int t) {
  if constexpr (kTile.transposed) {
    const int reach = o + w.pad[axis] - t * w.dilation[axis];
    const int i = reach / w.stride[axis];
    return reach >= 0 && i * w.stride[axis] == reach && i < w.in[axis] ? i : -1;
  } else {
    const int i = o * w.stride[axis] - w.pad[axis] + t * w.dilation[axis];
    return i >= 0 && i < w.in[axis] ? i : -1;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) conv_simt(const __grid_constant__ ConvArguments args) {
  __shared__ SharedTiles tiles;
  __shared__ int pixel_at[kTile.bm][4];
  pdl_wait();
  const Window& window = args.window;
  const int tiles_n = (args.out_channels + kTile.bn - 1) / kTile.bn;
  const int tile_n = blockIdx.x % tiles_n, group = blockIdx.x / tiles_n % args.groups;
  const int row0 = blockIdx.x / tiles_n / args.groups * kTile.bm, column0 = tile_n * kTile.bn;
  for (int row = threadIdx.x; row < kTile.bm; row += kThreads) {
    const Pixel pixel(window, min(row0 + row, args.pixels - 1));
    pixel_at[row][0] = pixel.n;
    for (int axis = 0; axis < 3; ++axis) pixel_at[row][1 + axis] = pixel.at[axis];
  }
  __syncthreads();
  const Element* x = args.x + group * args.in_channels * args.x_strides.channel;
  const Filter* w = args.w + group * args.w_group;
  const int rows = args.pixels - row0, columns = args.out_channels - column0;
  const int taps = window.kernel[0] * window.kernel[1] * window.kernel[2];
  const auto load_a = [&](int row, int k) {
    if (row >= rows) return 0.f;
    const int tap = k / args.in_channels, channel = k - tap * args.in_channels;
    const Tap t(window, tap);
    const int z = input_position(window, 0, pixel_at[row][1], t.at[0]);
    const int y = input_position(window, 1, pixel_at[row][2], t.at[1]);
    const int i = input_position(window, 2, pixel_at[row][3], t.at[2]);
    if ((z | y | i) < 0) return 0.f;
    const Strides& s = args.x_strides;
    return to_float(x[pixel_at[row][0] * s.n + channel * s.channel + z * s.at[0] + y * s.at[1] + i * s.at[2]]);
  };
  const auto load_b = [&](int column, int k) {
    if (column >= columns) return 0.f;
    const int tap = k / args.in_channels, channel = k - tap * args.in_channels;
    return to_float(w[(column0 + column) * args.w_out + channel * args.w_in + tap * args.w_tap]);
  };
  float sum[kTile.tm][kTile.tn] = {};
  simt_product<kTile.channels_last, true>(sum, tiles, 0, taps * args.in_channels, load_a, load_b);
  pdl_launch();
  const int ty = threadIdx.x / (kTile.bn / kTile.tn), tx = threadIdx.x % (kTile.bn / kTile.tn);
#pragma unroll
  for (int i = 0; i < kTile.tm; ++i) {
    if (row0 + ty * kTile.tm + i >= args.pixels) continue;
    const long long pixel = Pixel(window, row0 + ty * kTile.tm + i).offset(args.y_strides);
#pragma unroll
    for (int j = 0; j < kTile.tn; ++j) {
      if (column0 + tx * kTile.tn + j >= args.out_channels) continue;
      const int channel = group * args.out_channels + column0 + tx * kTile.tn + j;
      const long long index = pixel + channel * args.y_strides.channel;
      float value[1] = {sum[i][j]};
      args.epilogue.apply(value, index, channel);
      args.y[index] = from_float<Result>(value[0]);
    }
  }
}

}  // namespace kiln
