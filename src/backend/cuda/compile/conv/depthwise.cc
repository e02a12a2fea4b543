// depthwise/depthwise.cu: any window. depthwise/rows.cu and bytes.cu: pictures, by windows that are compiled in.
#include "backend/cuda/kernels/conv/depthwise.h"

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

bool is_depthwise(const ConvTraits& t) {
  return t.constant_filter && !t.transposed && t.filter.in_channels == 1 && t.filter.out_channels == 1;
}

void search_depthwise(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  if (!is_depthwise(t)) return;
  ConvDepthwise kernel = search.kernel<ConvDepthwise>();
  const double bytes = static_cast<double>(t.pixels * t.filter.groups * 2 * bytes_of(t.types.a));
  kernel.vec = power_of_two_in(t.filter.groups, std::min<int64_t>(8, 16 / bytes_of(t.types.a)));
  kernel.columns = 2;
  search.found.push_back({kernel, 8 + 1e6 * 1.5 * bytes / search.machine.memory_bytes_per_second});
  kernel.vec = 1;
  kernel.channels_last = false;
  search.found.push_back({kernel, 10 + 1e6 * 2.5 * bytes / search.machine.memory_bytes_per_second});
}

double rows_us(const ConvDepthwiseRows& kernel, const ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const Machine& machine = search.machine;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t vec = kernel.vec, columns = kernel.columns;
  const double threads = number(t.pixels) / number(columns) * number(t.filter.groups / vec);
  const double taps = number(t.kernel_h * t.kernel_w), span = number((columns - 1) * t.stride + t.kernel_w);
  const double instructions = 260 + 1.4 * (taps * number(columns * vec) + number(t.kernel_h) * span * number(4 + vec) +
                                           taps * number(3 + vec) + 25 * number(columns * vec));
  // A scheduler with less than one warp on average still takes the time of one warp.
  const double warps = std::max(1.0, threads / (32 * 4 * machine.multiprocessors));
  const double bytes = number(t.pixels * (t.stride * t.stride + 1) * t.filter.groups * bytes_of(t.types.a));
  return 1.2 + 1e6 * std::max(1.25 * instructions * warps / machine.clock_hz, bytes / machine.memory_bytes_per_second);
}

void search_rows(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  if (!is_depthwise(t) || t.kernel_w <= 0 || t.kernel_h * t.kernel_w > 49) return;  // the text would be too long
  ConvDepthwiseRows kernel = search.kernel<ConvDepthwiseRows>();
  kernel.kernel_h = t.kernel_h, kernel.kernel_w = t.kernel_w, kernel.stride = t.stride;
  for (const int64_t vec : {8, 4, 2, 1}) {
    if (t.filter.groups % vec != 0 || vec * bytes_of(t.types.a) > 16 || (vec == 1 && t.filter.groups % 2 == 0))
      continue;
    for (const int64_t columns : {8, 4, 2, 1}) {
      if (vec * columns > 16) continue;  // registers would be too many
      kernel.vec = vec, kernel.columns = columns;
      search.found.push_back({kernel, rows_us(kernel, search)});
    }
  }
}

double bytes_us(const ConvDepthwiseBytes& kernel, const ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const Machine& machine = search.machine;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t outputs = kernel.rows * kernel.columns, words = kernel.words();
  const int64_t lines = (kernel.rows - 1) * kernel.stride_h + t.kernel_h;
  const int64_t span = (kernel.columns - 1) * t.stride + t.kernel_w;
  // Permutations and products of bytes go half as fast as other instructions.
  const int64_t of_line = 4 * span + 8 * ceil_div(span, 2);
  const int64_t products = t.kernel_h * words * (8 * outputs + kernel.rows * kernel.moves());
  const double instructions = 200 + number(lines * of_line + products + 40 * outputs);
  const double threads = number(ceil_div(t.pixels, outputs)) * number(t.filter.groups / 4);
  const double warps = std::max(1.0, threads / (32 * 4 * machine.multiprocessors));
  const double bytes = number(t.pixels * (t.stride * t.stride + bytes_of(t.types.out)) * t.filter.groups);
  return 1.2 + 1e6 * std::max(1.25 * instructions * warps / machine.clock_hz, bytes / machine.memory_bytes_per_second);
}

void search_bytes(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  if (!is_depthwise(t) || !t.types.is_of_bytes() || t.types.b != DType::kI8 || t.filter.groups % 4 != 0) return;
  if (t.kernel_w <= 0 || t.kernel_h * t.kernel_w > ConvDepthwiseBytes::kMostTaps) return;
  ConvDepthwiseBytes kernel = search.kernel<ConvDepthwiseBytes>();
  kernel.kernel_h = t.kernel_h, kernel.kernel_w = t.kernel_w, kernel.stride = t.stride;
  for (const int64_t rows : {4, 2, 1}) {
    if (rows > 1 && t.out_h < rows) continue;
    for (const int64_t columns : {8, 4, 2, 1}) {
      if (rows * columns > 8) continue;  // registers would be too many
      kernel.rows = rows, kernel.columns = columns;
      kernel.stride_h = rows > 1 ? t.stride_h : 1;
      if (!kernel.check()) continue;  // steps of another length than kernels have
      search.found.push_back({kernel, bytes_us(kernel, search)});
    }
  }
}

}  // namespace

const ConvSource kConvDepthwiseSource{.family = &kConvDepthwise,
                                      .file = "depthwise/depthwise.cu",
                                      .unread = {"channels_last"},
                                      .search = search_depthwise};

const ConvSource kConvDepthwiseRowsSource{
    .family = &kConvDepthwiseRows, .file = "depthwise/rows.cu", .search = search_rows};

const ConvSource kConvDepthwiseBytesSource{
    .family = &kConvDepthwiseBytes, .file = "depthwise/bytes.cu", .unread = {"vec"}, .search = search_bytes};

}  // namespace kiln::cuda
