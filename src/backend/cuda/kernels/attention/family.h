/// What a family of attention kernels is to a plan that has them; each stands in a file of its own, which makes its
/// row. compile/attention/family.h has what makes them.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/attention/attention.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

struct AttentionFamily {
  std::string_view name, entry;
  bool (*takes)(DType element, int64_t rows);
  int64_t (*queries)(const AttentionKernel& kernel);  ///< of a block
  int64_t (*shared_bytes)(const AttentionKernel& kernel);
  /// Makes a launch one that reads q, k and v through tensor maps. Null where a kernel reads them by address.
  Status (*plan_maps)(const AttentionKernel& kernel, const AttentionArguments& arguments, int64_t multiprocessors,
                      AttentionLaunch& launch);
};

/// Bytes of an element of q, k or v.
inline int64_t size_of(const AttentionKernel& kernel) { return bytes_of(kernel.operand_type()); }
/// Bytes of a block's queries, and of its stages of keys and values.
inline int64_t staged_bytes(const AttentionKernel& kernel) {
  return (kernel.queries() + kernel.stages * 2 * kernel.keys) * kernel.depth * size_of(kernel);
}
/// For `queries`: a fragment's rows a warp.
inline int64_t queries_of_warps(const AttentionKernel& kernel) { return kernel.warps * kernel.rows; }
/// For `takes`: fragments of 16 rows, of any of the types.
inline bool takes_fragments(DType, int64_t rows) { return rows == 16 || rows == 32; }

}  // namespace kiln::cuda
