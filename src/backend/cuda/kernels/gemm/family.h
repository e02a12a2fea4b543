/// What a family of kernels of matrix products is; each stands in a file of its own, which makes its row.
#pragma once

#include <algorithm>

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

/// Collects the kernels that are worth timing for m x n x k in batches.
struct GemmSearch {
  const GemmTraits& traits;
  int64_t m, n, k, batches;
  const Machine& machine;
  std::vector<GemmCandidate> found = {};

  /// A kernel for the traits, whose tile and splits are to be chosen.
  GemmKernel kernel(const GemmFamily& family) const;
  /// By the tile and splits alone; tensor cores or FMA do so many operations a cycle and multiprocessor.
  double product_us(const GemmKernel& kernel, double flops_per_cycle) const;
  /// Adds a kernel that sums parts, with as many of them as its k and the multiprocessors are worth: a part of at least
  /// so many of its tile's steps along k.
  void add_by_parts(GemmKernel kernel, int64_t least_steps, double flops_per_cycle);
  /// Whether tensor cores may multiply the operands.
  bool takes_tensor_cores() const { return traits.types.a != DType::kF32 || traits.tf32; }
  /// Whether both operands lie along k, in whole 16 bytes.
  bool is_along_k() const;
  int64_t tiles(const TileShape& tile) const { return ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * batches; }
  int64_t multiprocessors() const { return static_cast<int64_t>(machine.multiprocessors); }
};

struct GemmFamily {
  std::string_view name, file;
  const char* entry;
  bool by_threads = false;   ///< threads share a tile, not warps
  bool reads_maps = false;   ///< A and B through tensor maps
  bool sums_parts = false;   ///< splits go through memory, and a second kernel adds them: kGemmReduce
  bool takes_mixed = false;  ///< ContractionTypes::is_mixed
  std::string (*variant)(const GemmKernel& kernel);
  void (*define)(const GemmKernel& kernel, KernelSource& source);
  int64_t (*alignment)(const GemmKernel& kernel);  ///< bytes; of all tensors' addresses
  Result<GemmLaunch> (*plan)(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors);
  void (*search)(GemmSearch& search);
};

inline void define_types(const GemmKernel& kernel, KernelSource& source) {
  define(source, "ELEMENT", element_name(kernel.types.a));
  define(source, "RESULT", element_name(kernel.types.out));
}
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

/// For families that read maps: their definitions before and behind their own, and the launch without its grid.
void define_stages(const GemmKernel& kernel, KernelSource& source);
void define_wgmma(const GemmKernel& kernel, KernelSource& source);
Result<GemmLaunch> plan_maps(const GemmKernel& kernel, GemmArguments& arguments, int64_t box_columns);
Status set_grid(GemmLaunch& launch, const GemmArguments& arguments, int64_t blocks, int64_t multiprocessors);
/// Whether a product may be read through maps, on this machine.
bool takes_maps(const GemmSearch& search);

}  // namespace kiln::cuda
