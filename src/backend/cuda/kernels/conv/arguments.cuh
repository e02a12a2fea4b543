// The arguments of every convolution kernel. Defines: ELEMENT (of x), FILTER (of w; ELEMENT if not defined), RESULT
// (of y). The prelude has Epilogue.
#pragma once
#include "conv/window.cuh"
#include "gemm/vectors.cuh"
#ifndef FILTER
#define FILTER ELEMENT
#endif

namespace kiln {

using ConvArguments = cuda::ConvArgumentsOf<ELEMENT, FILTER, RESULT, Epilogue>;

/// Applies the epilogue to a vector of y (channels last) and writes it.
template <int V>
__device__ __forceinline__ void finish(const ConvArguments& args, float (&x)[V], int pixel, int channel) {
  const long long index = args.y_first + Pixel(args.window, pixel).offset(args.y_strides) + channel;
  args.epilogue.apply(x, index, channel);
  store_vector(args.y + index, x);
}

}  // namespace kiln
