// conv/mma.cu
#include "backend/cuda/kernels/conv/pieces.h"

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

void search_padded(ConvSearch& search, ConvMma kernel) {
  const FilterExtents& f = search.traits.filter;
  const DType type = search.traits.types.a;
  const int64_t size = bytes_of(type), bk = 128 / size, channels = kernel.channels_read(f);
  const int64_t k = f.taps * (kernel.splits_filter() ? 2 : 1) * channels;
  kernel.piece = power_of_two_in(channels, 16 / size) * size;
  if (type == DType::kF8E4M3 && search.machine.compute < 89) return;
  const double rate = (size == 4 ? 800 : size == 2 ? 1900 : 3500) * rate_of_pieces(kernel.piece);
  for (const TileShape& tile : {TileShape{128, 128, bk, 2, 4, 0, 0, 3},
                                {256, 64, bk, 4, 2, 0, 0, 3},
                                {128, 64, bk, 4, 2, 0, 0, 4},
                                {64, 128, bk, 2, 4, 0, 0, 4},
                                {64, 64, bk, 2, 2, 0, 0, 4},
                                {64, 32, bk, 2, 2, 0, 0, 5},
                                {32, 64, bk, 2, 2, 0, 0, 5},
                                {128, 32, bk, 4, 1, 0, 0, 4},
                                {128, 16, bk, 4, 1, 0, 0, 4}}) {
    if (mma_shared_bytes(tile, type) > search.machine.shared_bytes) continue;
    kernel.tile = tile;
    const int64_t blocks = ceil_div(search.traits.pixels, tile.bm) * ceil_div(f.out_channels, tile.bn) * f.groups;
    for (const int64_t splits : {1, 2, 4, 8, 16}) {
      if (splits > 1 &&
          (kernel.transposed || splits * tile.bk * 2 > k || blocks * splits > 3 * search.multiprocessors()))
        break;
      kernel.splits = splits;
      search.found.push_back({kernel, search.product_us(kernel, tile, splits, rate)});
    }
  }
}

void search_mma(ConvSearch& search) {
  if (!search.takes_tensor_cores()) return;
  ConvMma kernel = search.kernel<ConvMma>();
  for (const int64_t pad : search.paddings()) {
    kernel.pad_channels = pad;
    search_padded(search, kernel);
  }
}

}  // namespace

const ConvSource kConvMmaSource{
    .family = &kConvMma, .file = "conv/mma.cu", .unread = {"transposed", "terms"}, .search = search_mma};

}  // namespace kiln::cuda
