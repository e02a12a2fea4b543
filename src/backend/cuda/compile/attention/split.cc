// attention/split.cu: as attention/mma.cu, but the warps of a block, or of the blocks of a cluster, share the keys of
// 16 queries.
#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double work = static_cast<double>(k.keys * k.depth) / (32 * 64);
  return 700 +
         std::max(1.0, blocks_each(k, traits, machine)) * static_cast<double>(k.warps) *
             (235 + slowdown(k) * 180 * steps_of(traits, k.keys * k.warps * k.cluster) * work) +
         (k.cluster > 1 ? 1500 : 0);
}

void search(AttentionSearch& search) {
  if (!search.takes_tensor_cores()) return;
  for (AttentionSearch::Shape shape : {AttentionSearch::Shape{4, 16, 32}, {8, 16, 32}}) {
    if (search.traits.keys <= shape.warps * shape.keys) shape.stages = 1;
    search.add(kAttentionSplit, search.is_single() ? kWholeBanks : 0, shape);
    // Blocks of a cluster share keys where tiles are too few for the GPU.
    const int64_t tiles = ceil_div(search.traits.queries, int64_t{16}) * search.traits.heads;
    for (const int64_t cluster : {2, 4, 8}) {
      if (search.machine.compute < 90 || tiles * cluster > 2 * search.machine.multiprocessors) break;
      if (search.traits.keys < cluster * shape.warps * shape.keys) break;
      shape.cluster = cluster;
      shape.stages = search.traits.keys <= cluster * shape.warps * shape.keys ? 1 : 2;
      search.add(kAttentionSplit, search.is_single() ? kWholeBanks : 0, shape);
    }
  }
}

}  // namespace

const AttentionSource kAttentionSplitSource{
    .family = &kAttentionSplit, .file = "attention/split.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
