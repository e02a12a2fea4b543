// conv/halo.cu
#include "backend/cuda/kernels/conv/halo.h"

#include <cmath>

#include "backend/cuda/compile/conv/family.h"

namespace kiln::cuda {
namespace {

double halo_us(const ConvHalo& kernel, const ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const FilterExtents& f = t.filter;
  const Machine& machine = search.machine;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t rows = kernel.tile.bm / 64, chunks = ceil_div(f.in_channels, kernel.line());
  const int64_t images = std::max<int64_t>(1, t.pixels / (t.out_w * t.out_h)), size = bytes_of(t.types.a);
  const double each = number(chunks * f.taps * 4 * rows * kernel.tile.bn / 2) * (size == 4 ? 2 : 1) *
                      (kernel.tile.bn >= 8 * 28 ? 1.1 : 1.25);
  const double written = number(kernel.tile.bn / 16 * rows) * 160;
  const double turns = std::ceil(number(kernel.tiles(images, t.out_h, t.out_w)) / machine.multiprocessors);
  // Two groups of warps share the tensor cores. Nothing hides the time in which the last group writes.
  const double cycles =
      turns * std::max(each, (each + written) / 2) + written + 3500 + number(chunks * f.taps * rows) * 64;
  const double bytes = number(t.pixels * (f.out_channels + f.in_channels) * size);
  return std::max(1e6 * cycles / machine.clock_hz, 1.5 + 1e6 * bytes / machine.memory_bytes_per_second);
}

void search_halo(ConvSearch& search) {
  const ConvTraits& t = search.traits;
  const FilterExtents& f = t.filter;
  ConvHalo kernel = search.kernel<ConvHalo>();
  if (!search.takes_tensor_cores() || search.machine.compute != 90 || t.transposed || !t.pictures || t.stride != 1 ||
      t.stride_h != 1 || t.out_w < 1 || t.out_h < 1 || f.taps < 2 || 4 * f.in_channels < 3 * kernel.line())
    return;
  kernel.kernel_h = t.kernel_h;
  kernel.kernel_w = t.kernel_w;
  for (const int64_t high : {32, 28, 16, 14, 8})
    for (const int64_t stages : {4, 3, 2}) {
      kernel.tile = {f.out_channels > 64 ? 128 : 64, 8 * high, kernel.line(), 4 * ConvHalo::kGroups, 1, 0, 0, stages};
      if (!kernel.takes(f) || kernel.all_shared_bytes(f.in_channels) > search.machine.shared_bytes) continue;
      search.found.push_back({kernel, halo_us(kernel, search)});
      break;
    }
}

}  // namespace

const ConvSource kConvHaloSource{
    .family = &kConvHalo, .file = "conv/halo.cu", .takes_joined = true, .calls_wgmma = true, .search = search_halo};

}  // namespace kiln::cuda
