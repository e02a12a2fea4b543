/// What makes a family of kernels of matrix products; each stands in a file of its own, which makes its row.
#pragma once

#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/kernels/gemm/family.h"

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

struct GemmSource {
  const GemmFamily* family;
  std::string_view file;
  void (*search)(GemmSearch& search);
};
#define FAMILY(Name) extern const GemmSource kGemm##Name##Source;
#include "backend/cuda/kernels/gemm/families.def"
#undef FAMILY

/// Whether a product may be read through maps, on this machine.
bool takes_maps(const GemmSearch& search);

}  // namespace kiln::cuda
