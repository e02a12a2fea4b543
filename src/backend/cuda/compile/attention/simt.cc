// attention/simt.cu: FP32 by plain FMA. Rows are those of half a warp.
#include <cmath>

#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double waves = std::max(1.0, std::ceil(blocks_each(k, traits, machine) / 2) * 2);
  return waves * (2000 + steps_of(traits, k.keys) * (4.0 * multiply_adds(k) / 180 + 600));
}

void search(AttentionSearch& search) {
  if (!search.is_single()) return;
  for (const int64_t rows : {8, 4, 2}) search.add(kAttentionSimt, 0, {4, rows, 64});
}

}  // namespace

const AttentionSource kAttentionSimtSource{
    .family = &kAttentionSimt, .file = "attention/simt.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
