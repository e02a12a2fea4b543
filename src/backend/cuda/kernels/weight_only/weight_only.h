/// Products by quantized weights on the GPU: how weights are packed, which kernels there are, and their launches.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/gemm/epilogue.h"
#include "backend/cuda/kernels/weight_only/arguments.h"
#include "base/record.h"
#include "steps/weight_only_product.h"

namespace kiln::cuda {

/// The types of such a product.
struct WeightOnlyTypes {
  DType a = DType::kF16, out = DType::kF16, scale = DType::kF32, weights = DType::kI4;
  bool has_zeros = false;

  int64_t bits() const { return bits_of(weights); }
  int64_t step() const { return WeightPieces::step(bits_of(weights)); }
  /// The types of a step's tensors.
  static WeightOnlyTypes of(const StepTypes& types);
  Status check() const;
  bool operator==(const WeightOnlyTypes&) const = default;
  static void reflect(auto& self, auto f) {
    f("a", self.a), f("out", self.out), f("scale", self.scale), f("weights", self.weights);
    f("has_zeros", self.has_zeros);
  }
};

/// The choices that kernels/weight_only/rows.cu is compiled for.
struct WeightOnlyRows {
  WeightOnlyTypes types;
  int64_t bm = 8;      ///< rows of a block: 8 or 16
  int64_t panels = 4;  ///< of 16 columns, of a block
  int64_t warps = 8;   ///< a multiple of the panels: others share k
  int64_t stages = 2;  ///< steps of a warp that are on their way
  int64_t splits = 1;  ///< blocks of a cluster, which share k
  int64_t vec = 1;     ///< columns of C that are stored at once
  int64_t fold = 16;   ///< numbers along k that have one scale, of a step

  std::string name() const;
  /// Shared memory of its own: sums of its warps, and of the cluster's other blocks.
  int64_t own_shared_bytes() const;
  static constexpr int64_t kMostOwnBytes = 48 << 10;
  Status check() const;
  static void reflect(auto& self, auto f) {
    f("types", self.types), f("bm", self.bm), f("panels", self.panels), f("warps", self.warps);
    f("stages", self.stages), f("splits", self.splits), f("vec", self.vec), f("fold", self.fold);
  }
};
inline constexpr const char* kWeightOnlyRows = "weight_only_rows";
inline constexpr const char* kExpandWeights = "expand_weights";

/// Numbers along k of a step that have one scale where there is one for `block` of `k`; 0 where rows.cu has no such.
int64_t fold_of(const WeightOnlyTypes& types, int64_t k, int64_t block);

using WeightOnlyArguments = WeightOnlyArgumentsOf<void, void, void, EpilogueArguments>;

/// A matrix k x n of quantized weights as a plan has it: element (i, j) is number i * k_stride + j * n_stride.
struct WeightMatrix {
  std::span<const std::byte> data, scales, zeros;  ///< no zeros: all are 0
  WeightOnlyTypes types;
  int64_t k, n, k_stride, n_stride;
  steps::WeightScales layout;  ///< of scales and zeros
};
/// What the kernels read.
struct PackedWeights {
  Bytes weights, scales, zeros;
};
PackedWeights pack_weights(const WeightMatrix& matrix);

/// Fails for what the kernel was not compiled for, and for more than it counts. `most_shared_bytes` are a block's.
Result<LaunchShape> plan_rows(const WeightOnlyRows& kernel, const WeightOnlyArguments& arguments,
                              int64_t most_shared_bytes);
/// Shared memory of a launch, beside what the kernel has of its own.
int64_t rows_shared_bytes(const WeightOnlyRows& kernel, int64_t k);
/// The launch of expand_weights.
Result<LaunchShape> plan_expand(const WeightOnlyTypes& types, const WeightOnlyArguments& arguments);

}  // namespace kiln::cuda
