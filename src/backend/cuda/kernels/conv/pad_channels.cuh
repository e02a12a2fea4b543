// The few channels of a picture, padded so that a pixel is one aligned piece: what a first layer multiplies.
#pragma once
#include "conv/arguments.cuh"

namespace kiln {

using PadArguments = cuda::PadArgumentsOf<Element>;

/// A thread a pixel.
extern "C" __global__ void __launch_bounds__(256) pad_channels(const __grid_constant__ PadArguments args) {
  const long long pixel = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  pdl_launch();
  if (pixel >= args.pixels) return;
  long long rest = pixel;
  int at[3];
  for (int axis = 2; axis >= 0; --axis) {
    at[axis] = static_cast<int>(rest % args.in[axis]);
    rest /= args.in[axis];
  }
  const Strides& s = args.strides;
  const Element* x = args.x + rest * s.n + at[0] * s.at[0] + at[1] * s.at[1] + at[2] * s.at[2];
  pdl_wait();
  Vec<Element, kTile.pad_channels> padded = {};
#pragma unroll
  for (int i = 0; i < kTile.pad_channels; ++i)
    if (i < args.channels) padded.at[i] = x[i * s.channel];
  store_vec<Element, kTile.pad_channels>(args.to + pixel * kTile.pad_channels, padded);
}

}  // namespace kiln
