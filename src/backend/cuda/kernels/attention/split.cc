// attention/split.cu: as attention/mma.cu, but the warps of a block share the keys of 16 queries.
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {
namespace {

int64_t queries(const AttentionKernel& k) { return k.rows; }
/// Shared memory of a block: each warp's copies, and then its part of the result in their place.
int64_t shared_bytes(const AttentionKernel& k) {
  return k.warps * std::max(staged_bytes(k), k.rows * (2 + k.depth + 8) * 4);
}

double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double work = static_cast<double>(k.keys * k.depth) / (32 * 64);
  return 700 + std::max(1.0, blocks_each(k, traits, machine)) * static_cast<double>(k.warps) *
                   (235 + slowdown(k) * 180 * steps_of(traits, k.keys * k.warps) * work);
}

void search(AttentionSearch& search) {
  if (!search.takes_tensor_cores()) return;
  for (AttentionSearch::Shape shape : {AttentionSearch::Shape{4, 16, 32}, {8, 16, 32}}) {
    if (search.traits.keys <= shape.warps * shape.keys) shape.stages = 1;
    search.add(kAttentionSplit, search.is_single() ? kWholeBanks : 0, shape);
  }
}

}  // namespace

const AttentionFamily kAttentionSplit{.name = "split",
                                      .file = "attention/split.cu",
                                      .entry = "attention_split",
                                      .takes = takes_fragments,
                                      .queries = queries,
                                      .shared_bytes = shared_bytes,
                                      .define = define_warps,
                                      .plan_maps = nullptr,
                                      .cycles = cycles,
                                      .search = search};

}  // namespace kiln::cuda
