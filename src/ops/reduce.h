/// Sum, product, maximum, minimum or average along axes.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// nvinfer1::ReduceOperation; kNone is of collective operations and an error here.
enum class ReduceKind : int32_t { kSum, kProd, kMax, kMin, kAvg, kNone };
inline std::span<const std::string_view> enum_names(ReduceKind) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "max", "min", "avg", "none"};
  return kNames;
}

/// Integers wrap, and their average is rounded towards zero; NaN gives NaN. Of nothing, the sum is 0, the product 1,
/// the maximum -infinity (the least integer), the minimum +infinity (the greatest), the average NaN (0).
///   in   x   any type but bool
///   out  y   x's type; reduced axes have extent 1 or, without `keep`, vanish
struct Reduce {
  static constexpr std::string_view name = "Reduce";
  static constexpr Trait traits = Trait::kReduction;
  ReduceKind kind = ReduceKind::kSum;
  std::vector<int64_t> axes;  ///< of x, in any order; negative ones count from the back; none: y is x
  bool keep = false;
  static void reflect(auto& self, auto f) {
    f("kind", self.kind);
    f("axes", self.axes);
    f("keep", self.keep);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
