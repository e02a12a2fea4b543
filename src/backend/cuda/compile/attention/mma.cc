// attention/mma.cu: sm_80 and up; FP32 is multiplied in TF32.
#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

/// A multiprocessor runs several blocks of few warps, so that either the latency of their steps or their work counts.
double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double work = multiply_adds(k) / (64 * 64 * 64);
  const double latency =
      800 + 800 * static_cast<double>(k.keys * k.depth) / (64 * 64) * static_cast<double>(k.rows / 16);
  return 500 + slowdown(k) * steps_of(traits, k.keys) *
                   std::max(latency, blocks_each(k, traits, machine) * (90 + 1100 * work));
}

void search(AttentionSearch& search) {
  if (!search.takes_tensor_cores()) return;
  const int64_t keys = search.is_single() && search.kernel.depth > 64 ? 32 : 64;
  for (const AttentionSearch::Shape& shape :
       {AttentionSearch::Shape{4, 16, keys}, {2, 16, keys}, {8, 16, keys}, {4, 32, 32}})
    search.add(kAttentionMma, search.is_single() ? kWholeBanks : 0, shape);
}

}  // namespace

const AttentionSource kAttentionMmaSource{
    .family = &kAttentionMma, .file = "attention/mma.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
