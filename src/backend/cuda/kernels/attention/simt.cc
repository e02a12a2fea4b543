// attention/simt.cu: FP32 by plain FMA. Rows are those of half a warp.
#include <cmath>

#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

bool takes(DType element, int64_t rows) { return element == DType::kF32 && rows >= 1 && rows <= 8; }
int64_t queries(const AttentionKernel& k) { return k.warps * 2 * k.rows; }
int64_t shared_bytes(const AttentionKernel& k) {
  return ((k.queries() + 2 * k.keys) * (k.depth + 4) + k.queries() * (k.keys + 4)) * 4;
}

double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double waves = std::max(1.0, std::ceil(blocks_each(k, traits, machine) / 2) * 2);
  return waves * (2000 + steps_of(traits, k.keys) * (4.0 * multiply_adds(k) / 180 + 600));
}

void search(AttentionSearch& search) {
  if (!search.is_single()) return;
  for (const int64_t rows : {8, 4, 2}) search.add(kAttentionSimt, 0, {4, rows, 64});
}

}  // namespace

const AttentionFamily kAttentionSimt{.name = "simt",
                                     .file = "attention/simt.cu",
                                     .entry = "attention_simt",
                                     .takes = takes,
                                     .queries = queries,
                                     .shared_bytes = shared_bytes,
                                     .define = define_warps,
                                     .plan_maps = nullptr,
                                     .cycles = cycles,
                                     .search = search};

}  // namespace kiln::cuda
