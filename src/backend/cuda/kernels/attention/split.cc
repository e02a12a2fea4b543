// attention/split.cu: as attention/mma.cu, but the warps of a block, or of the blocks of a cluster, share the keys of
// 16 queries.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

int64_t queries(const AttentionKernel& k) { return k.rows; }
/// Shared memory of a block: each warp's copies, and then its part of the result in their place; behind them parts of
/// the cluster's other blocks.
int64_t shared_bytes(const AttentionKernel& k) {
  const int64_t part = k.rows * (2 + k.depth + 8) * 4;
  return k.warps * std::max(staged_bytes(k), part) + (k.cluster - 1) * part;
}

}  // namespace

const AttentionFamily kAttentionSplit{.name = "split",
                                      .entry = "attention_split",
                                      .takes = takes_fragments,
                                      .queries = queries,
                                      .shared_bytes = shared_bytes,
                                      .plan_maps = nullptr};

}  // namespace kiln::cuda
