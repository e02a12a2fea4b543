// attention/bytes.cu: q, k and v of bytes; sm_80 and up, of FP8 sm_89. FP32 around it is rounded as TF32 is.
#include "backend/cuda/compile/attention/family.h"

namespace kiln::cuda {
namespace {

/// As attention/mma.cu, whose products of q and k take half as long and whose values become halves. Rounded weights
/// take the first product twice.
double cycles(const AttentionKernel& k, const AttentionTraits& traits, const Machine& machine) {
  const double work = multiply_adds(k) / (64 * 64 * 64);
  const double latency =
      800 + 800 * static_cast<double>(k.keys * k.depth) / (64 * 64) * static_cast<double>(k.rows / 16);
  const double passes = k.rounds_weights ? 1.6 : 1;
  return 500 +
         passes * steps_of(traits, k.keys) * std::max(latency, blocks_each(k, traits, machine) * (90 + 1100 * work));
}

constexpr int64_t kWholeLine = 32;  // channels of an instruction

void search(AttentionSearch& search) {
  if (search.traits.joined || !search.takes_tensor_cores()) return;
  if (*search.traits.operand == DType::kF8E4M3 && search.machine.compute < 89) return;
  for (const AttentionSearch::Shape& shape :
       {AttentionSearch::Shape{4, 16, 64}, {2, 16, 64}, {8, 16, 64}, {4, 32, 32}, {4, 32, 64}})
    search.add(kAttentionBytes, kWholeLine, shape);
}

}  // namespace

const AttentionSource kAttentionBytesSource{
    .family = &kAttentionBytes, .file = "attention/bytes.cu", .cycles = cycles, .search = search};

}  // namespace kiln::cuda
