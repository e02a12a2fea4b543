// What every kernel of convolutions is given. Defines: ELEMENT (of x), FILTER (of w; ELEMENT if not defined), RESULT
// (of y). The prelude has Epilogue.
#pragma once
#include "conv/window.cuh"
#include "gemm/vectors.cuh"
#ifndef FILTER
#define FILTER ELEMENT
#endif

namespace kiln {

/// Element (group, out channel, in channel, tap) of w lies at group * w_group + out * w_out + in * w_in + tap * w_tap,
/// channels counted within their group. The host's struct of the same name (conv/conv.h) has this layout.
struct ConvArguments {
  const ELEMENT* x;
  const FILTER* w;
  RESULT* y;
  float* partial;  ///< [split][pixel][out channel]
  Epilogue epilogue;
  Strides x_strides, y_strides, joined_strides;  ///< the last of the second tensor of x
  long long w_group, w_out, w_in, w_tap;
  long long y_first;       ///< where the first pixel lies in y
  long long y_pixel;       ///< from pixel to pixel of y; 0 where strides differ
  long long tap_y, tap_x;  ///< of y, where columns are taps of tap_columns channels, taps_w a row
  int pixels;              ///< of y, all images together
  int groups, in_channels, out_channels, splits;  ///< channels of one group
  int images, tap_columns, taps_w;
  int joined;  ///< channels of x before those of a second tensor, where there is one
  Window window;
};

/// Ends a vector of y, channels last.
template <int V>
__device__ __forceinline__ void finish(const ConvArguments& args, float (&x)[V], int pixel, int channel) {
  const long long index = args.y_first + Pixel(args.window, pixel).offset(args.y_strides) + channel;
  args.epilogue.apply(x, index, channel);
  store_vector(args.y + index, x);
}

}  // namespace kiln
