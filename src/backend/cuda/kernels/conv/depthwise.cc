#include "backend/cuda/kernels/conv/depthwise.h"

#include <cstring>

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

int64_t ConvDepthwiseBase::items(const ConvArguments& a) const {
  return int64_t{a.images} * a.window.out[0] * a.window.out[1] * ceil_div(a.window.out[2], columns) * (a.groups / vec);
}

std::string ConvDepthwise::name() const { return name_of("depthwise", channels_last ? "" : ", channels first"); }

Result<ConvLaunch> ConvDepthwise::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  ConvLaunch launch;
  TRY(set_conv_grid(launch.main, ceil_div(items(a), kThreads), kThreads, multiprocessors));
  return launch;
}

const ConvFamily kConvDepthwise = conv_family<ConvDepthwise>("depthwise", "depthwise", FloatWeights::kRead);

Result<ConvLaunch> ConvDepthwiseRows::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  const ConvWindow& w = a.window;
  const int64_t threads_needed = items(a);
  TRY(require(threads_needed < (int64_t{1} << 32) - kThreads && w.kernel[0] == 1 && w.kernel[1] == kernel_h &&
                  w.kernel[2] == kernel_w && w.stride[2] == stride && a.x_strides.n < (int64_t{1} << 31) &&
                  w.in[1] > 0 && w.in[2] > 0,
              "a depthwise convolution of ", threads_needed,
              " threads, or its window, is not what the kernel was compiled for"));
  // Where threads are few, smaller blocks reach more multiprocessors.
  const int64_t threads = threads_needed < 2 * multiprocessors * kThreads ? kThreads / 2 : kThreads;
  ConvLaunch launch;
  TRY(set_conv_grid(launch.main, ceil_div(threads_needed, threads), threads, multiprocessors));
  launch.main.pdl = true;
  return launch;
}

const ConvFamily kConvDepthwiseRows =
    conv_family<ConvDepthwiseRows>("depthwise rows", "depthwise_rows", FloatWeights::kRead);

}  // namespace kiln::cuda
