/// Running sums and products along an axis.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::CumulativeOperation, and the product, which that has not.
enum class CumulativeOperation : int32_t { kSum, kProd };
inline std::span<const std::string_view> enum_names(CumulativeOperation) {
  static constexpr std::array<std::string_view, 2> kNames = {"sum", "prod"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// y[i] is the sum or the product of x up to i along `axis`. Integers wrap.
///   in   x     numbers, rank >= 1
///        axis  i32 or i64, one constant, on the host; optional, overrides the attribute
///   out  y     x's type and shape; with symbolic values if x's are known
struct Cumulative {
  static constexpr std::string_view name = "Cumulative";
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  CumulativeOperation operation = CumulativeOperation::kSum;
  int axis = 0;            ///< of x; negative counts from the back
  bool exclusive = false;  ///< without x[i] itself: y begins with 0 or, of products, 1
  bool reverse = false;    ///< from the end
  static void reflect(auto& self, auto f) {
    f("operation", self.operation);
    f("axis", self.axis);
    f("exclusive", self.exclusive);
    f("reverse", self.reverse);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
