/// Fused attention on the GPU: which kernels there are, and how each is launched for given extents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/attention/arguments.h"
#include "backend/cuda/kernels/gemm/hopper.h"
#include "backend/cuda/kernels/gemm/tile.h"
#include "tensor/field_types.h"

namespace kiln::cuda {

/// A family of kernels: family.h.
struct AttentionFamily;
#define FAMILY(Name) extern const AttentionFamily kAttention##Name;
#include "backend/cuda/kernels/attention/families.def"
#undef FAMILY
const FieldType& field_type(Tag<const AttentionFamily*>);  ///< its name

/// The choices that a kernel is compiled for. It sums in FP32 and never keeps scores in memory.
struct AttentionKernel {
  const AttentionFamily* family = &kAttentionMma;
  DType element = DType::kF16;
  int64_t depth = 64;                       ///< channels of a head, rounded up to 16, 32, 64 or 128
  int64_t warps = 4, rows = 16, keys = 64;  ///< queries a warp, keys a stage
  int64_t stages = 2;
  int64_t cluster = 1;  ///< blocks that share the keys of the same queries: of kAttentionSplit
  int64_t piece = 16;   ///< bytes that are aligned and wholly inside or outside a line of channels
  bool turns = false;   ///< of kAttentionWgmma: groups of warps take turns at multiplying
  bool has_mask = false, nan_rows_are_zero = false;
  bool least_hides = false;     ///< the mask's least half leaves nothing of a score, as FP32's least number does
  bool causal = false;          ///< the last query sees all keys, each one before it one fewer
  bool joined = false;          ///< keys and values are those of two tensors each: of kAttentionSplit
  std::optional<DType> result;  ///< bytes that the result is quantized to; none: it has the type of the elements
  /// The bytes that q, k and v are, in kernels of kAttentionBytes, whose mask is of elements all the same, and so is
  /// their result where it is not quantized.
  std::optional<DType> operand = {};
  bool rounds_weights = false;  ///< to such bytes

  static constexpr int64_t kMostDepth = 128;
  DType operand_type() const { return operand.value_or(element); }  ///< what q, k and v are
  int64_t queries() const;                                          ///< of a block
  bool reads_maps() const;                                          ///< q, k and v through tensor maps
  std::string name() const;
  Status check() const;
  static void reflect(auto& self, auto f) {
    f("family", self.family), f("element", self.element), f("depth", self.depth), f("warps", self.warps);
    f("rows", self.rows), f("keys", self.keys), f("stages", self.stages), f("piece", self.piece);
    f("turns", self.turns), f("has_mask", self.has_mask), f("nan_rows_are_zero", self.nan_rows_are_zero);
    f("cluster", self.cluster), f("least_hides", self.least_hides), f("causal", self.causal), f("joined", self.joined),
        f("result", self.result);
    f("operand", self.operand), f("rounds_weights", self.rounds_weights);
  }
};
std::string_view entry_of(const AttentionKernel& kernel);

using AttentionArguments = AttentionArgumentsOf<void>;

/// The launch, and of kernels that read maps those of q, k and v.
struct AttentionLaunch {
  LaunchShape shape;
  MapPlan maps[3];
};
/// Where there is one query, heads that share keys and values become queries of one head, so that a block reads them
/// once. A kernel that is causal sees all keys then, as the one query did.
void share_keys(AttentionArguments& arguments);
Result<AttentionLaunch> plan_attention(const AttentionKernel& kernel, AttentionArguments& arguments,
                                       int64_t multiprocessors);

}  // namespace kiln::cuda
