// attention/simt.cu: FP32 by plain FMA. Rows are those of half a warp.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

bool takes(DType element, int64_t rows) { return element == DType::kF32 && rows >= 1 && rows <= 8; }
int64_t queries(const AttentionKernel& k) { return k.warps * 2 * k.rows; }
int64_t shared_bytes(const AttentionKernel& k) {
  return ((k.queries() + 2 * k.keys) * (k.depth + 4) + k.queries() * (k.keys + 4)) * 4;
}

}  // namespace

const AttentionFamily kAttentionSimt{.name = "simt",
                                     .entry = "attention_simt",
                                     .takes = takes,
                                     .queries = queries,
                                     .shared_bytes = shared_bytes,
                                     .plan_maps = nullptr};

}  // namespace kiln::cuda
