// conv/im2col.cu
#include "backend/cuda/kernels/conv/im2col.h"

#include <array>
#include <cmath>

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

/// The product that a launch computes, and how many launches there are.
struct Product {
  int64_t launches, steps, columns, pixels;
  explicit Product(const ConvTraits& t, const ConvIm2col& kernel) {
    const int64_t phases = t.transposed ? t.phases : 1;
    launches = kernel.shuffle ? 1 : phases;
    const int64_t taps = t.transposed ? std::max<int64_t>(1, t.filter.taps / phases) : t.filter.taps;
    steps = taps * ceil_div(t.filter.in_channels, kLineBytes / bytes_of(t.types.a));
    columns = kernel.shuffle ? t.filter.out_channels * t.filter.taps : t.filter.out_channels;
    pixels = t.transposed ? std::max<int64_t>(1, t.pixels / phases) : t.pixels;
  }
};

double copies_us(const ConvIm2col& kernel, const Product& product, const ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const Machine& machine = search.machine;
  const int64_t size = bytes_of(t.types.a), bm = kernel.tile.bm, bn = kernel.tile.bn, splits = kernel.splits;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t tiles = ceil_div(product.pixels, bm) * ceil_div(product.columns, bn);
  // Cycles of a step: multiplying (64 columns keep shared memory busier than the units), or its bytes.
  const double area = number(bm * bn), lines = number(bm + bn);
  const double rate = (8192 / number(size)) * (bn >= 256 ? 0.9 : bn >= 128 ? 0.85 : bn >= 64 ? 0.6 : 0.35);
  const double per_step =
      std::max({2 * area * number(kernel.tile.bk) / rate, lines * number(kernel.line_bytes()) / 40, 110.0});
  const double rounds = splits > 1 ? 1 : std::ceil(number(tiles) / number(search.multiprocessors()));
  const double steps_each = std::ceil(number(product.steps) / number(splits));
  const double cycles =
      rounds * (steps_each * per_step + 400 + area / 16 / number(splits)) + 2500 + (splits > 1 ? 1200 : 0);
  const double moved =
      number(size) * (number(t.pixels) * number(t.filter.out_channels) + number(product.pixels * t.filter.in_channels));
  return number(product.launches) *
         std::max(1e6 * cycles / machine.clock_hz, 1.5 + 1e6 * moved / machine.memory_bytes_per_second);
}

/// Has the lanes of a kernel of bytes hold whole vectors; whether its channels allow it. Lines of 64 bytes are for as
/// many channels.
bool use_lanes(const ConvTraits& t, ConvIm2col& kernel) {
  const int64_t vec = 16 / bytes_of(t.types.out), in_bytes = t.filter.in_channels * bytes_of(t.types.a);
  const bool is_short = in_bytes % kLineBytes != 0;
  if (!t.types.is_of_bytes() || t.joined || t.transposed || t.filter.out_channels % (4 * vec) != 0 ||
      (is_short && in_bytes != kLineBytes / 2))
    return false;
  kernel.lanes = true;
  kernel.vec = vec;
  kernel.read_bytes = t.read_bytes;
  kernel.tile.bk = (is_short ? kLineBytes / 2 : kLineBytes) / bytes_of(t.types.a);
  return true;
}

void search_copies(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const Machine& machine = search.machine;
  const int64_t size = bytes_of(t.types.a), channel_bytes = t.filter.in_channels * size;
  if (!search.takes_tensor_cores() || machine.compute != 90 || !t.pictures || t.filter.groups != 1 ||
      channel_bytes % 16 != 0 || channel_bytes < 64)
    return;
  ConvIm2col kernel = search.kernel<ConvIm2col>();
  kernel.shuffle = t.abutting;
  const Product product(t, kernel);
  for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                       {256, 128, 4},
                                       {128, 128, 6},
                                       {256, 64, 5},
                                       {128, 64, 8},
                                       {64, 128, 6},
                                       {64, 64, 8},
                                       {128, 32, 8},
                                       {64, 32, 8}}) {
    kernel.tile = {bm, bn, kLineBytes / size, bm / 16, 1, 0, 0, stages};
    const int64_t tiles = ceil_div(product.pixels, bm) * ceil_div(product.columns, bn);
    for (const int64_t splits : {1, 2, 4, 8}) {
      if (splits > 1 && (t.transposed || bm > 128 || bn / 8 % splits != 0 || product.steps < 2 * splits ||
                         static_cast<double>(tiles * splits) > machine.multiprocessors + 12))
        continue;
      kernel.splits = splits;
      if (ConvIm2col by_lanes = kernel; splits == 1 && use_lanes(t, by_lanes) && bn % (4 * by_lanes.vec) == 0) {
        constexpr int64_t kColumnBytes = 8;  // of what channels share, FP32
        for (by_lanes.tile.stages = 8; by_lanes.tile.stages >= 2; --by_lanes.tile.stages)
          if (by_lanes.shared_bytes() + 2 * bn * kColumnBytes + by_lanes.tile.stages * 16 <= machine.shared_bytes)
            break;
        if (by_lanes.tile.stages >= 2) search.found.push_back({by_lanes, copies_us(by_lanes, product, search)});
        continue;
      }
      if (kernel.shared_bytes() + stages * 16 > machine.shared_bytes) continue;  // with the barriers
      search.found.push_back({kernel, copies_us(kernel, product, search)});
    }
  }
}

}  // namespace

const ConvSource kConvIm2colSource{.family = &kConvIm2col,
                                   .file = "conv/im2col.cu",
                                   .takes_joined = true,
                                   .calls_wgmma = true,
                                   .unread = {"transposed", "read_bytes"},
                                   .search = search_copies};

}  // namespace kiln::cuda
