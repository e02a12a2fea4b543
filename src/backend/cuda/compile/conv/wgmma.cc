// conv/wgmma.cu
#include "backend/cuda/kernels/conv/pieces.h"

#include <array>

#include "backend/cuda/compile/conv/family.h"
#include "backend/cuda/kernels/conv/im2col.h"

namespace kiln::cuda {
namespace {

void search_padded(ConvSearch& search, ConvWgmma kernel) {
  const FilterExtents& f = search.traits.filter;
  const DType type = search.traits.types.a;
  const int64_t size = bytes_of(type), bk = kLineBytes / size, channels = kernel.channels_read(f);
  const int64_t k = f.taps * (kernel.splits_filter() ? 2 : 1) * channels;
  if (k < 1) return;
  kernel.piece = power_of_two_in(channels, 16 / size) * size;
  if (kernel.piece < 2) return;  // nobody waits for the copy of one byte
  const double rate = 6000 / static_cast<double>(size) * rate_of_pieces(kernel.piece);
  for (const auto& [bm, bn, stages] : {std::array<int64_t, 3>{128, 256, 4},
                                       {128, 128, 6},
                                       {128, 64, 6},
                                       {64, 256, 5},
                                       {64, 128, 6},
                                       {64, 64, 6},
                                       {128, 32, 6},
                                       {64, 32, 6}}) {
    kernel.tile = {bm, bn, bk, bm / 16, 1, 0, 0, stages};
    const int64_t tiles = ceil_div(search.traits.pixels, bm) * ceil_div(f.out_channels, bn);
    for (const int64_t splits : {1, 2, 4, 8}) {
      if (bn / 8 % splits != 0) continue;
      if (splits > 1 &&
          (kernel.transposed || ceil_div(k, bk) < 2 * splits || tiles * splits > 2 * search.multiprocessors()))
        continue;
      kernel.splits = splits;
      if (kernel.shared_bytes() + 16 * stages > search.machine.shared_bytes) continue;
      // One launch, and no partial sums in memory.
      const double us = search.product_us(kernel, kernel.tile, splits, rate) - (splits > 1 ? 2 : 0);
      search.found.push_back({kernel, us});
    }
  }
}

/// Whether the copy engine serves this convolution. Threads copy pixels only where its lines would be far from full.
bool is_copied(const ConvSearch& search) {
  const int64_t in = search.traits.filter.in_channels, line = kLineBytes / bytes_of(search.traits.types.a);
  return 4 * in >= 3 * ceil_div(in, line) * line &&
         std::ranges::any_of(search.found, [](const ConvCandidate& c) { return c.kernel->family == &kConvIm2col; });
}

void search_wgmma(ConvSearch& search) {
  if (!search.takes_tensor_cores() || search.machine.compute != 90 || search.traits.filter.groups != 1 ||
      is_copied(search))
    return;
  ConvWgmma kernel = search.kernel<ConvWgmma>();
  for (const int64_t pad : search.paddings()) {
    kernel.pad_channels = pad;
    search_padded(search, kernel);
  }
}

}  // namespace

const ConvSource kConvWgmmaSource{.family = &kConvWgmma,
                                  .file = "conv/wgmma.cu",
                                  .calls_wgmma = true,
                                  .unread = {"transposed", "terms"},
                                  .search = search_wgmma};

}  // namespace kiln::cuda
