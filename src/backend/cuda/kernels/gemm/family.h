/// What a family of kernels of matrix products is to a plan that has them; each stands in a file of its own, which
/// makes its row. compile/gemm/family.h has what makes them.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

struct GemmFamily {
  std::string_view name;
  const char* entry;
  bool by_threads = false;   ///< threads share a tile, not warps
  bool reads_maps = false;   ///< A and B through tensor maps
  bool sums_parts = false;   ///< splits go through memory, and a second kernel adds them: kGemmReduce
  bool takes_mixed = false;  ///< ContractionTypes::is_mixed
  bool takes_bytes = false;  ///< ContractionTypes::is_of_bytes
  bool takes_pairs = false;  ///< GemmKernel::may_gate
  bool normalizes = false;   ///< GemmKernel::normalized
  std::string (*variant)(const GemmKernel& kernel);
  int64_t (*alignment)(const GemmKernel& kernel);  ///< bytes; of all tensors' addresses
  Result<GemmLaunch> (*plan)(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors);
};

/// ", k in 4"
inline std::string splits_text(const GemmKernel& kernel) {
  return kernel.splits > 1 ? str(", k in ", kernel.splits) : "";
}
/// Bytes that an epilogue reads at once, FP32 at most.
inline int64_t vector_bytes(const GemmKernel& kernel) { return std::min<int64_t>(16, kernel.vec * 4); }

/// The `alignment` of kernels that copy whole 16 bytes.
inline int64_t whole_pieces(const GemmKernel&) { return 16; }
/// Fails with how a product is not laid out, unless it `fits`: extents and strides of a plan are input.
Status require_layout(bool fits, const GemmKernel& kernel, const GemmArguments& arguments);
/// Plans the launches of families that sum parts.
Result<GemmLaunch> plan_tiles(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors);

/// Shared memory: of kGemmSmall what a launch asks for, of kGemmWgmma all.
int64_t small_shared_bytes(const GemmKernel& kernel);
int64_t wgmma_shared_bytes(const GemmKernel& kernel);

/// For families that read maps: the launch without its grid, and with it.
Result<GemmLaunch> plan_maps(const GemmKernel& kernel, GemmArguments& arguments, int64_t box_columns);
Status set_grid(GemmLaunch& launch, const GemmArguments& arguments, int64_t blocks, int64_t multiprocessors);

}  // namespace kiln::cuda
