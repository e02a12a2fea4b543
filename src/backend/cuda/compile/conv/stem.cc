// conv/stem.cu
#include "backend/cuda/kernels/conv/stem.h"

#include <cmath>

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

double stem_us(const ConvStem& kernel, const ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const Machine& machine = search.machine;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const ConvStem::Sizes sizes = kernel.sizes();
  const int64_t rows = kernel.tile.bm / 64, in = t.filter.in_channels;
  const double turns = std::ceil(number(t.pixels) / number(t.out_w * kernel.lines));
  const double multiplied = number(sizes.terms * kernel.kernel_h * sizes.steps * rows * kernel.tile.bn / 2);
  const double each = number(kernel.lines * kernel.parts) * (multiplied + 400);
  const int64_t at_once = ConvStem::kLoaders * (in <= 3 ? 12 : in == 4 ? 8 : 4);
  const double loaded = 1200 * std::ceil(number(sizes.stage_bytes / sizes.pixel_bytes) / number(at_once));
  const double cycles = std::ceil(turns / machine.multiprocessors) * std::max(each, loaded) + 3500;
  const double bytes = number(t.pixels * t.filter.out_channels * bytes_of(t.types.out));
  return 1e6 * std::max(cycles / machine.clock_hz, 1e-6 + bytes / machine.memory_bytes_per_second);
}

void search_stem(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const FilterExtents& f = t.filter;
  if (search.machine.compute != 90 || !t.constant_filter || t.transposed || !t.pictures || t.stride != t.stride_h ||
      t.out_w < 1 || f.out_channels > 128)
    return;
  ConvStem kernel = search.kernel<ConvStem>();
  kernel.kernel_h = t.kernel_h;
  kernel.kernel_w = t.kernel_w;
  kernel.stride = t.stride;
  kernel.channels = f.in_channels;
  kernel.pairs = bits_of(t.types.out) == 8 && t.read_bytes == 0 && f.out_channels % 16 == 0;
  const int64_t rows = f.out_channels > 64 ? 2 : 1;
  kernel.parts = ceil_div(t.out_w, ConvStem::kMostSums / rows);
  const int64_t wide = ceil_div(ceil_div(t.out_w, kernel.parts), 16) * 16;
  kernel.tile = {64 * rows, wide, 16, 4 * ConvStem::kGroups, 1, 0, 0, ConvStem::kStages};
  for (const int64_t lines : {1, 2, 4, 8}) {
    kernel.lines = lines;
    if (kernel.takes(f) && kernel.sizes().shared_bytes <= search.machine.shared_bytes)
      search.found.push_back({kernel, stem_us(kernel, search)});
  }
}

}  // namespace

const ConvSource kConvStemSource{
    .family = &kConvStem, .file = "conv/stem.cu", .calls_wgmma = true, .x_is_right = true, .search = search_stem};

}  // namespace kiln::cuda
