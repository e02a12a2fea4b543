// attention/split.cu: as attention/mma.cu, but the warps of a block share the keys of 16 queries.
#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

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

const AttentionSource kAttentionSplitSource{
    .family = &kAttentionSplit, .file = "attention/split.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
