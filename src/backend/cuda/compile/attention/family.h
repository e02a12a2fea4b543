/// What makes a family of attention kernels; each stands in a file of its own, which makes its row.
#pragma once

#include "backend/cuda/compile/attention/attention.h"
#include "backend/cuda/kernels/attention/family.h"

namespace kiln::cuda {

/// Collects the kernels that are worth timing.
class AttentionSearch {
 public:
  struct Shape {
    int64_t warps, rows, keys, stages = 2;
    bool turns = false;
    int64_t cluster = 1;
  };
  AttentionSearch(const AttentionTraits& traits, const Machine& machine);

  const AttentionTraits& traits;
  const Machine& machine;
  AttentionKernel kernel;  ///< what traits decide, but for the family
  std::vector<AttentionCandidate> found;

  bool is_single() const { return traits.element == DType::kF32; }
  /// Whether tensor cores may multiply the operands.
  bool takes_tensor_cores() const { return !is_single() || traits.tf32; }
  /// Adds a kernel of a family with at least `depth` channels, unless it takes more shared memory than a block has.
  void add(const AttentionFamily& family, int64_t depth, const Shape& shape);
};

struct AttentionSource {
  const AttentionFamily* family;
  std::string_view file;
  /// Estimates clock cycles. Fitted to an H200's times (docs/performance.md); what estimates order comes within a third
  /// of them.
  double (*cycles)(const AttentionKernel& kernel, const AttentionTraits& traits, const Machine& machine);
  void (*search)(AttentionSearch& search);
};
#define FAMILY(Name) extern const AttentionSource kAttention##Name##Source;
#include "backend/cuda/kernels/attention/families.def"
#undef FAMILY

/// Blocks that a multiprocessor has to do, at the optimum.
inline double blocks_each(const AttentionKernel& kernel, const AttentionTraits& traits, const Machine& machine) {
  const int64_t blocks = ceil_div(traits.queries, kernel.queries()) * traits.heads * kernel.cluster;
  return static_cast<double>(blocks) / machine.multiprocessors;
}
inline double steps_of(const AttentionTraits& traits, int64_t keys) {
  return static_cast<double>(ceil_div(traits.keys, keys));
}
inline double multiply_adds(const AttentionKernel& kernel) {
  return static_cast<double>(kernel.queries() * kernel.keys * kernel.depth);
}
/// How much longer the multiplications of mma.sync take in TF32.
inline double slowdown(const AttentionKernel& kernel) { return kernel.element == DType::kF32 ? 2.5 : 1; }
/// Channels of FP32 whose lines fill the banks of shared memory, for tensor cores.
inline constexpr int64_t kWholeBanks = 32;

}  // namespace kiln::cuda
