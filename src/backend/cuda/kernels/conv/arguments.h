#pragma once

#include <cstdint>

namespace kiln::cuda {

/// Where a sliding window looks. Spatial axes in the order depth, height, width; absent ones have extent, kernel and
/// stride 1.
struct ConvWindow {
  int32_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1},
          pad[3] = {0, 0, 0};
  int64_t taps() const { return int64_t{kernel[0]} * kernel[1] * kernel[2]; }
  int64_t out_pixels() const { return int64_t{out[0]} * out[1] * out[2]; }
};
/// Elements from one index to the next of a tensor [n, channel, d, h, w], whatever its order.
struct ConvStrides {
  int64_t n = 0, channel = 0, at[3] = {0, 0, 0};
};

/// Element (group, out channel, in channel, tap) of w lies at group * w_group + out * w_out + in * w_in + tap * w_tap,
/// channels counted within their group.
template <class X, class W, class Y, class Epilogue>
struct ConvArgumentsOf {
  const X* x = nullptr;
  const W* w = nullptr;
  Y* y = nullptr;
  float* partial = nullptr;  ///< [split][pixel][out channel]
  Epilogue epilogue;
  ConvStrides x_strides, y_strides, joined_strides;  ///< the last of the second tensor of x
  int64_t w_group = 0, w_out = 0, w_in = 0, w_tap = 0;
  int64_t y_first = 0;           ///< where the first pixel lies in y; tensor-core kernels only
  int64_t y_pixel = 0;           ///< from pixel to pixel of y; 0 where strides differ
  int64_t tap_y = 0, tap_x = 0;  ///< of y, where columns are taps of tap_columns channels, taps_w a row
  int32_t pixels = 0;            ///< of y, all images together
  int32_t groups = 1, in_channels = 1, out_channels = 1, splits = 1;  ///< channels of one group
  int32_t images = 1, tap_columns = 1, taps_w = 1;
  int32_t joined = 0;  ///< channels of x before those of a second tensor, where there is one
  int32_t x_zero = 0;  ///< x's zero point, of bytes: it stands where the window looks beyond x
  ConvWindow window;
};

/// Arguments of the launch that pads channels.
template <class T>
struct PadArgumentsOf {
  const T* x = nullptr;
  T* to = nullptr;  ///< [n, d, h, w, padded channels]
  ConvStrides strides;
  int32_t in[3] = {1, 1, 1}, channels = 0;
  int64_t pixels = 0;  ///< of all images
};

}  // namespace kiln::cuda
