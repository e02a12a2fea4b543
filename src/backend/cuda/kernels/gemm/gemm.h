/// Matrix products on the GPU: which kernels there are, and how each is launched for given extents.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/gemm/arguments.h"
#include "backend/cuda/kernels/gemm/epilogue.h"
#include "backend/cuda/kernels/gemm/hopper.h"
#include "backend/cuda/kernels/gemm/tile.h"
#include "steps/contraction_types.h"

namespace kiln::cuda {

/// A family of kernels: family.h.
struct GemmFamily;
#define FAMILY(Name) extern const GemmFamily kGemm##Name;
#include "backend/cuda/kernels/gemm/families.def"
#undef FAMILY
const FieldType& field_type(Tag<const GemmFamily*>);  ///< its name

/// The choices that a kernel is compiled for, and how many blocks share a product's k.
struct GemmKernel {
  const GemmFamily* family = &kGemmSimt;
  ContractionTypes types;  ///< b FP32 where a is not: kGemmSmall, packed as pack_split_rows has it
  TileShape tile;
  bool a_k_major = true, b_k_major = false;  ///< along k the operand is contiguous; else along rows or columns
  int64_t a_piece = 0, b_piece = 0;  ///< kGemmMma: bytes that are aligned and wholly inside or outside the operand
  int64_t vec = 1;                   ///< kGemmMma: columns of C that are stored at once
  int64_t splits = 1;   ///< kGemmMma: more than one go through partial sums; kGemmSmall and kGemmRows: blocks a cluster
  int64_t cluster = 1;  ///< kGemmWgmma: blocks that share B
  int64_t turns = 1;    ///< kGemmWgmma: 2: two groups of warps take tiles in turns
  bool lanes = false;   ///< kGemmWgmma: B's rows come interleaved, so that lanes have `vec` neighbours (lanes.cuh)
  int64_t read_bytes = 0;   ///< of those with lanes: that the epilogue reads for a result, beside what channels share
  bool b_constant = false;  ///< kGemmSmall, kGemmRows: B is never written while the network runs
  bool normalized = false;  ///< rows of A are divided by the root of their mean square (GemmArguments::epsilon)

  std::string name() const;
  bool reads_maps() const;  ///< A and B, through tensor maps
  bool sums_parts() const;  ///< a second launch, kGemmReduce, adds partial sums
  bool may_gate() const;    ///< its text can end pairs of columns in one result each (kTile.pairs)
  Status check() const;
  static void reflect(auto& self, auto f) {
    f("family", self.family), f("types", self.types), f("tile", self.tile), f("a_k_major", self.a_k_major);
    f("b_k_major", self.b_k_major), f("a_piece", self.a_piece), f("b_piece", self.b_piece), f("vec", self.vec);
    f("splits", self.splits), f("cluster", self.cluster), f("turns", self.turns), f("lanes", self.lanes);
    f("read_bytes", self.read_bytes), f("b_constant", self.b_constant), f("normalized", self.normalized);
  }
};
std::string_view entry_of(const GemmKernel& kernel);
/// Bytes that the addresses of its tensors are aligned to.
int64_t alignment_of(const GemmKernel& kernel);
/// Entry of the second launch of a kernel with splits.
inline constexpr const char* kGemmReduce = "gemm_reduce";

using GemmArguments = GemmArgumentsOf<void, void, EpilogueArguments>;

/// The launches of a product; `main` first, then, where `reduce_vectors` is not 0, kGemmReduce.
struct GemmLaunch {
  LaunchShape main, reduce;
  int64_t reduce_vectors = 0;
  int64_t workspace_bytes = 0;
  MapPlan map_a, map_b;
  int32_t batches = 1;
};
/// Sets `arguments.splits`. Extents of 0 give grids of 0, but k = 0 runs: C is the epilogue of zeros.
Result<GemmLaunch> plan_gemm(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors);

/// Stores `weight` as a half at index `kept` and what that loses at `lost`.
void store_split(DType half, double weight, std::byte* to, int64_t kept, int64_t lost);
/// FP32 elements as what half precision keeps of them, then what that loses: two matrices of halves, whose sum they are
/// but for a few of their last bits.
Bytes pack_split_rows(DType half, std::span<const std::byte> elements);

}  // namespace kiln::cuda
