// attention/wgmma.cu: sm_90a, channels in whole 16 bytes. `warps` counts those that multiply.
#include <cmath>

#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

/// Each multiprocessor runs one block, which takes tile after tile.
double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double waves = std::max(1.0, std::ceil(blocks_each(k, traits, machine)));
  const double rate = (k.depth > 64 ? 2800 : 2000) * (k.has_mask ? 0.7 : 1.0) * (k.turns ? 1.0 : 0.97);
  return 3000 + waves * (800 + steps_of(traits, k.keys) * (4.0 * multiply_adds(k) / rate + 60));
}

void search(AttentionSearch& search) {
  const AttentionTraits& traits = search.traits;
  if (search.is_single() || search.machine.compute != 90 || traits.align != 8 || traits.keys <= 0) return;
  using Shapes = std::initializer_list<AttentionSearch::Shape>;
  // The tiles are as large as the registers for sums and words of a mask allow.
  const bool deep = search.kernel.depth > 64;
  const Shapes plain = {{12, 16, 128, 2, true}, {8, 16, 128, 2, true}, {8, 16, 128}},
               plain_deep = {{8, 16, 128, 2, true}, {8, 16, 176, 2, true}, {8, 16, 128}},
               masked = {{8, 16, 128, 2, true}, {12, 16, 64, 4, true}, {8, 16, 64, 4, true}},
               masked_deep = {{8, 16, 128, 2, true}, {8, 16, 64, 3, true}};
  for (const AttentionSearch::Shape& shape :
       traits.has_mask ? (deep ? masked_deep : masked) : (deep ? plain_deep : plain))
    search.add(kAttentionWgmma, 64, shape);
}

}  // namespace

const AttentionSource kAttentionWgmmaSource{
    .family = &kAttentionWgmma, .file = "attention/wgmma.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
