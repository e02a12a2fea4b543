#include "backend/cuda/kernels/conv/depthwise.h"

#include <cstring>

#include "backend/cuda/kernels/depthwise/arguments.h"

namespace kiln::cuda {

Status ConvDepthwiseBase::check_own() const {
  TRY(require_width(vec, 8, "channels a vector"));
  return require_range(columns, 1, 16, "columns a thread");
}

bool ConvDepthwiseBase::takes(const FilterExtents& f) const {
  return f.in_channels == 1 && f.out_channels == 1 && f.groups % vec == 0;
}

Bytes ConvDepthwiseBase::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  const auto size = static_cast<size_t>(bytes_of(types.b));
  Bytes packed(static_cast<size_t>(f.taps * f.groups) * size);
  const std::byte* from = elements.data();
  for (int64_t channel = 0; channel < f.groups; ++channel)
    for (int64_t tap = 0; tap < f.taps; ++tap, from += size)
      std::memcpy(packed.data() + static_cast<size_t>(tap * f.groups + channel) * size, from, size);
  return packed;
}

std::string ConvDepthwiseBase::name_of(std::string_view kind, std::string_view order) const {
  return str(kind, ' ', vec, " channels, ", columns, " columns", order, types.is_mixed() ? ", w in f32" : "");
}

int64_t ConvDepthwiseBase::items(const ConvArguments& a, int64_t rows) const {
  return int64_t{a.images} * a.window.out[0] * ceil_div(a.window.out[1], rows) * ceil_div(a.window.out[2], columns) *
         (a.groups / vec);
}

Result<ConvLaunch> ConvDepthwiseBase::plan_of_pictures(const ConvArguments& a, int64_t threads,
                                                       int64_t multiprocessors) {
  TRY(require(threads < (int64_t{1} << 32) - kThreads && a.x_strides.n < (int64_t{1} << 31) && a.window.in[1] > 0 &&
                  a.window.in[2] > 0,
              "a depthwise convolution of ", threads, " threads, or its picture, is not what the kernel counts"));
  // Where threads are few, smaller blocks reach more multiprocessors.
  const int64_t of_block = threads < 2 * multiprocessors * kThreads ? kThreads / 2 : kThreads;
  ConvLaunch launch;
  TRY(set_conv_grid(launch.main, ceil_div(threads, of_block), of_block, multiprocessors));
  launch.main.pdl = true;
  return launch;
}

std::string ConvDepthwise::name() const { return name_of("depthwise", channels_last ? "" : ", channels first"); }

Result<ConvLaunch> ConvDepthwise::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  ConvLaunch launch;
  TRY(set_conv_grid(launch.main, ceil_div(items(a), kThreads), kThreads, multiprocessors));
  return launch;
}

const ConvFamily kConvDepthwise =
    conv_family<ConvDepthwise>("depthwise", "depthwise", FloatWeights::kRead, /*takes_bytes=*/true);

Result<ConvLaunch> ConvDepthwiseRows::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  const ConvWindow& w = a.window;
  TRY(require(w.kernel[0] == 1 && w.kernel[1] == kernel_h && w.kernel[2] == kernel_w && w.stride[2] == stride,
              "the window of a depthwise convolution is not what the kernel was compiled for"));
  return plan_of_pictures(a, items(a), multiprocessors);
}

const ConvFamily kConvDepthwiseRows =
    conv_family<ConvDepthwiseRows>("depthwise rows", "depthwise_rows", FloatWeights::kRead);

int64_t ConvDepthwiseBytes::moves() const { return tap_moves(static_cast<int>(columns), static_cast<int>(stride)); }
int64_t ConvDepthwiseBytes::words() const { return tap_words(static_cast<int>(kernel_w), static_cast<int>(moves())); }

std::string ConvDepthwiseBytes::name() const {
  return str("depthwise bytes, ", rows, " x ", columns, " pixels a thread");
}

Status ConvDepthwiseBytes::check_own() const {
  TRY(ConvDepthwiseBase::check_own());
  TRY(require_range(rows, 1, 4, "rows a thread"));
  TRY(require_range(stride, 1, 64, "columns a step"));
  TRY(require_range(stride_h, 1, 64, "rows a step"));
  TRY(require_range(kernel_h, 1, kMostTaps, "rows of taps"));
  TRY(require_range(kernel_w, 1, kMostTaps, "columns of taps"));
  const bool integers = types.b == DType::kI8 && (types.a == DType::kI8 || types.a == DType::kU8);
  return require(integers && vec == 4 && kernel_h * kernel_w <= kMostTaps && (rows > 1 || stride_h == 1),
                 "a depthwise convolution by words of bytes takes no ", kernel_h, " x ", kernel_w, " taps of ", types.b,
                 " for ", types.a, ", ", vec, " channels at once");
}

bool ConvDepthwiseBytes::takes(const FilterExtents& f) const {
  return ConvDepthwiseBase::takes(f) && f.taps == kernel_h * kernel_w;
}

Bytes ConvDepthwiseBytes::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  Bytes packed(static_cast<size_t>(kernel_h * moves() * words() * f.groups * 4));
  const std::byte* from = elements.data();
  for (int64_t channel = 0; channel < f.groups; ++channel)
    for (int64_t y = 0; y < kernel_h; ++y)
      for (int64_t x = 0; x < kernel_w; ++x, ++from)
        for (int64_t move = 0; move < moves(); ++move) {
          const int64_t tap = x + move, word = (y * moves() + move) * words() + tap / 4;
          packed[static_cast<size_t>((word * f.groups + channel) * 4 + tap % 4)] = *from;
        }
  return packed;
}

Result<ConvLaunch> ConvDepthwiseBytes::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  const ConvWindow& w = a.window;
  const auto is_undilated = [&](int axis) { return w.dilation[axis] == 1 || w.kernel[axis] == 1; };
  TRY(require(w.kernel[0] == 1 && w.out[0] == 1 && w.kernel[1] == kernel_h && w.kernel[2] == kernel_w &&
                  w.stride[2] == stride && (rows == 1 || w.stride[1] == stride_h) && is_undilated(1) && is_undilated(2),
              "the window of a depthwise convolution of bytes is not what the kernel was compiled for"));
  return plan_of_pictures(a, items(a, rows), multiprocessors);
}

const ConvFamily kConvDepthwiseBytes =
    conv_family<ConvDepthwiseBytes>("depthwise bytes", "depthwise_bytes", FloatWeights::kNone, /*takes_bytes=*/true);

}  // namespace kiln::cuda
