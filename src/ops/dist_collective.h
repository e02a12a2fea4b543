/// Exchanges of tensors between devices.
#pragma once

#include <array>

#include "ops/op.h"
#include "ops/reduce.h"

namespace kiln {

/// nvinfer1::CollectiveOperation.
enum class CollectiveKind : int32_t { kAllReduce, kAllGather, kBroadcast, kReduce, kReduceScatter };
inline std::span<const std::string_view> enum_names(CollectiveKind) {
  static constexpr std::array<std::string_view, 5> kNames = {"all_reduce", "all_gather", "broadcast", "reduce",
                                                             "reduce_scatter"};
  return kNames;
}

namespace ops {

/// y is what rank 0, the only one there is, gets of a collective operation: x.
///   in   x   any type
///   out  y   x's type and values
struct DistCollective {
  static constexpr std::string_view name = "DistCollective";
  static constexpr Trait traits = Trait::kMovement | Trait::kDecomposed;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ReduceKind reduction = ReduceKind::kSum;  ///< kNone exactly where the operation only moves elements
  int64_t root = 0;                         ///< rank that sends a broadcast, or that gets a reduction
  std::vector<int64_t> ranks;               ///< that take part; empty: all
  static void reflect(auto& self, auto f) {
    f("kind", self.kind);
    f("reduction", self.reduction);
    f("root", self.root);
    f("ranks", self.ranks);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace ops
}  // namespace kiln
