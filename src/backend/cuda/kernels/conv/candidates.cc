#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

int64_t ConvTraits::vec() const { return power_of_two_in(filter.out_channels, 16 / bytes_of(types.out)); }

ConvKernel ConvTraits::kernel_of(ConvFamily family) const {
  ConvKernel kernel;
  kernel.family = family;
  kernel.types = types;
  kernel.transposed = transposed;
  kernel.joined = joined;
  kernel.vec = vec();
  return kernel;
}

namespace {

class Candidates {
 public:
  Candidates(const ConvTraits& traits, const Machine& machine) : t_(traits), machine_(machine) {
    kernel_.types = t_.types;
    kernel_.transposed = t_.transposed;
  }

  std::vector<ConvCandidate> take() {
    if (t_.joined) {  // only the copy engine reads two tensors
      result_ = im2col_candidates(t_, machine_);
      append(halo_candidates(t_, machine_));
      std::ranges::stable_sort(result_, {}, &ConvCandidate::estimate_us);
      return std::move(result_);
    }
    if (!t_.types.is_mixed()) result_ = im2col_candidates(t_, machine_);
    // Its pixels are copied by threads only where lines of the copy engine would be far from full.
    const int64_t line = kLineBytes / bytes_of(t_.types.a), lines = ceil_div(t_.filter.in_channels, line);
    copied_ = !result_.empty() && 4 * t_.filter.in_channels >= 3 * lines * line;
    if (t_.constant_filter && t_.transposed && t_.phases > 0 && (t_.types.a != DType::kF32 || t_.tf32)) {
      if (machine_.compute >= 80) add_mma();
      if (machine_.compute == 90 && t_.filter.groups == 1 && !copied_) add_wgmma();
    }
    if (t_.constant_filter && !t_.transposed) {
      if (t_.filter.in_channels == 1 && t_.filter.out_channels == 1) add_depthwise();
      if (machine_.compute >= 80 && (t_.types.a != DType::kF32 || t_.tf32)) {
        const int64_t in = t_.filter.in_channels;
        // A pixel of three channels is no aligned piece; one of four is.
        const int64_t padded = t_.filter.groups == 1 && (in == 3 || (in > 4 && in < 8)) ? (in + 3) / 4 * 4 : 0;
        for (const int64_t pad : {padded, int64_t{0}}) {
          if (pad && pad * bytes_of(t_.types.a) > 16) continue;
          kernel_.pad_channels = pad;
          add_mma();
          if (machine_.compute == 90 && t_.filter.groups == 1 && !copied_) add_wgmma();
          kernel_.pad_channels = 0;
          if (!padded) break;
        }
      }
    }
    if (!t_.types.is_mixed()) append(halo_candidates(t_, machine_));
    append(stem_candidates(t_, machine_));
    add_simt();
    std::ranges::stable_sort(result_, {}, &ConvCandidate::estimate_us);
    return std::move(result_);
  }

 private:
  void append(const std::vector<ConvCandidate>& more) { result_.insert(result_.end(), more.begin(), more.end()); }
  int64_t channels() const { return kernel_.pad_channels ? kernel_.pad_channels : t_.filter.in_channels; }
  int64_t taps() const { return t_.filter.taps * (kernel_.splits_filter() ? 2 : 1); }
  void add(double flops_per_cycle) {
    const FilterExtents& f = t_.filter;
    // A phase is a launch of its own, with its share of pixels and taps.
    const bool by_phases = kernel_.transposed && kernel_.family != ConvFamily::kSimt;
    const double phases = by_phases ? static_cast<double>(t_.phases) : 1;
    const double k = static_cast<double>(taps() * channels()) / phases, m = static_cast<double>(t_.pixels) / phases;
    double us = phases * product_estimate_us(kernel_.tile, m, static_cast<double>(f.out_channels), k,
                                             static_cast<double>(f.groups), kernel_.splits, bytes_of(t_.types.a),
                                             flops_per_cycle, machine_);
    if (kernel_.pad_channels) us += 2;
    result_.push_back({kernel_, us});
  }

  void add_depthwise() {
    kernel_.family = ConvFamily::kDepthwise;
    kernel_.channels_last = true;
    kernel_.kernel_h = t_.kernel_h, kernel_.kernel_w = t_.kernel_w, kernel_.stride = t_.stride;
    if (t_.kernel_w > 0)
      for (const int64_t vec : {8, 4, 2, 1})
        for (const int64_t columns : {8, 4, 2, 1}) add_rows(vec, columns);
    kernel_.kernel_h = kernel_.kernel_w = kernel_.stride = 0;
    const double bytes = static_cast<double>(t_.pixels * t_.filter.groups * 2 * bytes_of(t_.types.a));
    kernel_.vec = power_of_two_in(t_.filter.groups, 16 / bytes_of(t_.types.a));
    kernel_.columns = 2;
    result_.push_back({kernel_, 8 + 1e6 * 1.5 * bytes / machine_.memory_bytes_per_second});
    kernel_.vec = 1;
    kernel_.channels_last = false;
    result_.push_back({kernel_, 10 + 1e6 * 2.5 * bytes / machine_.memory_bytes_per_second});
    kernel_.columns = 1;
    kernel_.channels_last = true;
  }
  void add_rows(int64_t vec, int64_t columns) {
    const int64_t size = bytes_of(t_.types.a);
    if (t_.filter.groups % vec != 0 || vec * size > 16 || (vec == 1 && t_.filter.groups % 2 == 0)) return;
    if (t_.kernel_h * t_.kernel_w > 49 || vec * columns > 16) return;  // text and registers would be too many
    kernel_.vec = vec;
    kernel_.columns = columns;
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    const double threads = number(t_.pixels) / number(columns) * number(t_.filter.groups / vec);
    const double taps = number(t_.kernel_h * t_.kernel_w), span = number((columns - 1) * t_.stride + t_.kernel_w);
    const double instructions =
        260 + 1.4 * (taps * number(columns * vec) + number(t_.kernel_h) * span * number(4 + vec) +
                     taps * number(3 + vec) + 25 * number(columns * vec));
    // A warp alone takes as long as one that shares its scheduler with none.
    const double warps = std::max(1.0, threads / (32 * 4 * machine_.multiprocessors));
    const double bytes = number(t_.pixels * (t_.stride * t_.stride + 1) * t_.filter.groups * size);
    result_.push_back({kernel_, 1.2 + 1e6 * std::max(1.25 * instructions * warps / machine_.clock_hz,
                                                     bytes / machine_.memory_bytes_per_second)});
  }

  void add_mma() {
    kernel_.family = ConvFamily::kMma;
    const FilterExtents& f = t_.filter;
    const int64_t size = bytes_of(t_.types.a), halves = size == 2 ? 2 : 1;
    kernel_.piece = std::min<int64_t>(16, power_of_two_in(channels(), 16 / size) * size);
    // A group's channels begin at a multiple of its own.
    kernel_.vec = t_.vec();
    const TileShape tiles[] = {
        {128, 128, 32 * halves, 2, 4, 0, 0, 3}, {256, 64, 32 * halves, 4, 2, 0, 0, 3},
        {128, 64, 32 * halves, 4, 2, 0, 0, 4},  {64, 128, 32 * halves, 2, 4, 0, 0, 4},
        {64, 64, 32 * halves, 2, 2, 0, 0, 4},   {64, 32, 32 * halves, 2, 2, 0, 0, 5},
        {32, 64, 32 * halves, 2, 2, 0, 0, 5},   {128, 32, 32 * halves, 4, 1, 0, 0, 4},
        {128, 16, 32 * halves, 4, 1, 0, 0, 4},
    };
    for (const TileShape& tile : tiles) {
      if (mma_shared_bytes(tile, t_.types.a) > machine_.shared_bytes) continue;
      kernel_.tile = tile;
      const int64_t blocks = ceil_div(t_.pixels, tile.bm) * ceil_div(f.out_channels, tile.bn) * f.groups;
      for (const int64_t splits : {1, 2, 4, 8, 16}) {
        if (t_.transposed && splits > 1) break;
        if (splits > 1 && (splits * tile.bk * 2 > taps() * channels() ||
                           blocks * splits > 3 * static_cast<int64_t>(machine_.multiprocessors)))
          break;
        kernel_.splits = splits;
        add((t_.types.a == DType::kF32 ? 800 : 1900) * (kernel_.piece == 16 ? 1 : kernel_.piece == 8 ? 0.6 : 0.25));
      }
    }
    kernel_.splits = 1;
    kernel_.vec = 1;
  }

  void add_wgmma() {
    kernel_.family = ConvFamily::kWgmma;
    const FilterExtents& f = t_.filter;
    const int64_t size = bytes_of(t_.types.a), bk = kLineBytes / size, k = taps() * channels();
    if (k < 1) return;
    kernel_.piece = std::min<int64_t>(16, power_of_two_in(channels(), 16 / size) * size);
    kernel_.vec = t_.vec();
    const double rate = (t_.types.a == DType::kF32 ? 1500 : 3000) * (kernel_.piece == 16  ? 1
                                                                     : kernel_.piece == 8 ? 0.6
                                                                                          : 0.25);
    for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                         {128, 128, 6},
                                         {128, 64, 6},
                                         {64, 256, 5},
                                         {64, 128, 6},
                                         {64, 64, 6},
                                         {128, 32, 6},
                                         {64, 32, 6}}) {
      kernel_.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
      const int64_t tiles = ceil_div(t_.pixels, bm) * ceil_div(f.out_channels, bn);
      for (const int64_t splits : {1, 2, 4, 8}) {
        if (t_.transposed && splits > 1) break;
        kernel_.splits = splits;
        if (bn / 8 % splits != 0 || (splits > 1 && ceil_div(k, bk) < 2 * splits)) continue;
        if (splits > 1 && tiles * splits > 2 * static_cast<int64_t>(machine_.multiprocessors)) continue;
        if (wgmma_shared_bytes(kernel_) + 16 * stages > machine_.shared_bytes) continue;
        add(rate);
        if (splits > 1) result_.back().estimate_us -= 2;  // one launch, and no partial sums in memory
      }
    }
    kernel_.splits = 1;
    kernel_.vec = 1;
  }

  void add_simt() {
    kernel_.family = ConvFamily::kSimt;
    for (const bool last : {true, false}) {
      kernel_.channels_last = last;
      kernel_.tile = {128, 128, 16, 0, 0, 8, 8, 0};
      if (t_.filter.out_channels > 64) add(180);
      kernel_.tile = {64, 64, 16, 0, 0, 4, 4, 0};
      if (t_.filter.out_channels > 16) add(180);
      kernel_.tile = {64, 16, 16, 0, 0, 4, 1, 0};
      if (t_.filter.out_channels <= 32) add(120);
    }
  }

  const ConvTraits& t_;
  const Machine& machine_;
  ConvKernel kernel_;
  std::vector<ConvCandidate> result_;
  bool copied_ = false;  ///< by the copy engine
};

}  // namespace

std::vector<ConvCandidate> conv_candidates(const ConvTraits& traits, const Machine& machine) {
  return Candidates(traits, machine).take();
}

}  // namespace kiln::cuda
