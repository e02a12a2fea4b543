// The arguments of every convolution kernel. The prelude has Element (of x), Filter (of w), Result (of y) and Epilogue.
#pragma once
#include "conv/window.cuh"
#include "gemm/vectors.cuh"

namespace kiln {

using ConvArguments = cuda::ConvArgumentsOf<Element, Filter, Result, Epilogue>;

/// Applies the epilogue to a vector of y (channels last) and writes it.
template <int V>
__device__ __forceinline__ void finish(const ConvArguments& args, float (&x)[V], int pixel, int channel) {
  const long long index = args.y_first + Pixel(args.window, pixel).offset(args.y_strides) + channel;
  args.epilogue.apply(x, index, channel);
  store_vector(args.y + index, x);
}

}  // namespace kiln
