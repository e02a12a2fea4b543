// conv/stem.cu: its filter, its launch, and when it is worth timing.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kGroups = 2, kLoaders = 256, kChunkBytes = 16 * 68 * 4, kMostSums = 160, kStages = 2;

/// Sizes of the stem, as the kernel's text has them.
struct StemSizes {
  int64_t pixel_bytes, steps, terms, weight_bytes, stage_bytes;
  explicit StemSizes(const ConvKernel& k)
      : pixel_bytes(16 / k.stride),
        steps(ceil_div(k.kernel_w * pixel_bytes, 32)),
        terms(k.splits_filter() ? 2 : 1),
        weight_bytes(terms * k.kernel_h * steps * 32 * k.tile.bm) {
    const int64_t wide = (k.tile.bn * k.parts * k.stride + steps * 32 / pixel_bytes + 1) / 2 * 2;
    stage_bytes = ((k.lines - 1) * k.stride + k.kernel_h) * wide * pixel_bytes;
  }
  int64_t shared_bytes() const { return weight_bytes + kStages * stage_bytes + kGroups * 2 * kChunkBytes; }
};

}  // namespace

bool takes_stem(const ConvKernel& k, const FilterExtents& f) {
  const auto within = [](int64_t x, int64_t most) { return x >= 1 && x <= most; };
  return within(k.lines, 16) && within(k.parts, 16) && within(k.stride, 2) && within(k.kernel_h, 16) &&
         within(k.kernel_w, 16) && (k.tile.bm == 64 || k.tile.bm == 128) && k.tile.bn % 16 == 0 &&
         k.tile.bn * k.tile.bm / 64 <= kMostSums && k.tile.stages == kStages && bits_of(k.types.a) == 16 &&
         f.groups == 1 && f.taps == k.kernel_h * k.kernel_w && f.out_channels <= k.tile.bm &&
         f.in_channels == k.channels && f.in_channels <= 8 / k.stride && !k.transposed &&
         StemSizes(k).shared_bytes() <= kMostSharedBytes;
}

Bytes pack_stem(const ConvKernel& kernel, const FilterExtents& f, std::span<const std::byte> elements) {
  constexpr int64_t kSize = 2, kPiece = 16 / kSize;
  const StemSizes sizes(kernel);
  const int64_t read = bits_of(kernel.types.b) / 8, term = sizes.weight_bytes / sizes.terms / kSize;
  const int64_t channels = sizes.pixel_bytes / kSize, row = sizes.steps * 32 / kSize;
  Bytes packed(static_cast<size_t>(sizes.weight_bytes));
  const std::byte* from = elements.data();
  for (int64_t out = 0; out < f.out_channels; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += read) {
        const int64_t k = tap / kernel.kernel_w * row + tap % kernel.kernel_w * channels + in;
        const int64_t to = (k / kPiece * kernel.tile.bm + out) * kPiece + k % kPiece;
        if (kernel.splits_filter())
          store_split(kernel.types.a, load_number(DType::kF32, from, 0), packed.data(), to, to + term);
        else
          std::memcpy(packed.data() + to * kSize, from, kSize);
      }
  return packed;
}

Result<ConvLaunch> plan_stem(const ConvKernel& kernel, ConvArguments& a, int64_t multiprocessors) {
  const ConvWindow& w = a.window;
  const auto same = [](const int32_t(&values)[3], int64_t h, int64_t width) {
    return values[0] == 1 && values[1] == h && values[2] == width;
  };
  const int64_t down = w.out[1] == 1 ? w.stride[1] : kernel.stride;  // nothing is below a single row, as 1D has it
  TRY(require(same(w.kernel, kernel.kernel_h, kernel.kernel_w) && same(w.stride, down, kernel.stride) &&
                  same(w.dilation, 1, 1) && w.in[0] == 1 && w.out[0] == 1,
              "a first layer is not the one that was compiled"));
  const int64_t reach = int64_t{w.in[1]} * w.in[2] * a.in_channels;
  TRY(require(reach < (int64_t{1} << 31), "a convolution reads ", reach, " elements; this kernel counts to 2^31"));
  const int64_t turns = ceil_div(w.out[2], kernel.tile.bn * kernel.parts) * ceil_div(w.out[1], kernel.lines) * a.images;
  ConvLaunch launch;
  launch.main.grid[0] = grid_blocks(std::min(turns, multiprocessors));
  launch.main.pdl = true;
  launch.main.block[0] = 128 * kGroups + kLoaders;
  launch.main.shared_bytes = static_cast<uint32_t>(StemSizes(kernel).shared_bytes());
  return launch;
}

std::vector<ConvCandidate> stem_candidates(const ConvTraits& t, const Machine& machine) {
  std::vector<ConvCandidate> result;
  const FilterExtents& f = t.filter;
  if (machine.compute != 90 || !t.constant_filter || t.transposed || !t.pictures || t.stride != t.stride_h ||
      t.out_w < 1 || f.out_channels > 128)
    return result;
  ConvKernel kernel = t.kernel_of(ConvFamily::kStem);
  kernel.kernel_h = t.kernel_h;
  kernel.kernel_w = t.kernel_w;
  kernel.stride = t.stride;
  kernel.channels = f.in_channels;
  const int64_t rows = f.out_channels > 64 ? 2 : 1;
  kernel.parts = ceil_div(t.out_w, kMostSums / rows);
  const int64_t wide = ceil_div(ceil_div(t.out_w, kernel.parts), 16) * 16;
  kernel.tile = {64 * rows, wide, 16, 4 * kGroups, 1, 0, 0, kStages};
  for (const int64_t lines : {1, 2, 4, 8}) {
    kernel.lines = lines;
    if (!takes_stem(kernel, f)) continue;
    const StemSizes sizes(kernel);
    const double turns = std::ceil(static_cast<double>(t.pixels) / static_cast<double>(t.out_w * lines));
    const double multiplied = static_cast<double>(sizes.terms * kernel.kernel_h * sizes.steps * rows * wide / 2);
    const double each = static_cast<double>(lines * kernel.parts) * (multiplied + 400);
    const int64_t at_once = kLoaders * (f.in_channels <= 3 ? 12 : f.in_channels == 4 ? 8 : 4);
    const double loaded =
        1200 * std::ceil(static_cast<double>(sizes.stage_bytes / sizes.pixel_bytes) / static_cast<double>(at_once));
    const double cycles = std::ceil(turns / machine.multiprocessors) * std::max(each, loaded) + 3500;
    const double bytes = static_cast<double>(t.pixels * f.out_channels * 2);
    result.push_back(
        {kernel, 1e6 * std::max(cycles / machine.clock_hz, 1e-6 + bytes / machine.memory_bytes_per_second)});
  }
  return result;
}

}  // namespace kiln::cuda
