// conv/simt.cu: it takes any convolution.
#include "backend/cuda/kernels/conv/simt.h"

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

void search_simt(ConvSearch& search) {
  ConvSimt kernel = search.kernel<ConvSimt>();
  const int64_t out = search.traits.filter.out_channels;
  const auto add = [&](const TileShape& tile, double flops_per_cycle) {
    kernel.tile = tile;
    search.found.push_back({kernel, search.product_us(kernel, tile, 1, flops_per_cycle)});
  };
  for (const bool last : {true, false}) {
    kernel.channels_last = last;
    if (out > 64) add({128, 128, 16, 0, 0, 8, 8, 0}, 180);
    if (out > 16) add({64, 64, 16, 0, 0, 4, 4, 0}, 180);
    if (out <= 32) add({64, 16, 16, 0, 0, 4, 1, 0}, 120);
  }
}

}  // namespace

const ConvSource kConvSimtSource{.family = &kConvSimt, .file = "conv/simt.cu", .search = search_simt};

}  // namespace kiln::cuda
