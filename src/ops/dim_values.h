/// Dimension expressions as a tensor: what shape arithmetic becomes once its values are known symbolically.
#pragma once

#include "ops/op.h"

namespace kiln::ops {

/// y[i] = values[i], row-major.
///   out  y   `dtype` (index, bool or float) of `extents`
/// The reference knows constants only: whoever runs it binds symbols first.
struct DimValues {
  static constexpr std::string_view name = "DimValues";
  static constexpr int min_inputs = 0, max_inputs = 0;
  std::vector<sym::Expr> values;
  DType dtype = DType::kI64;
  std::vector<int64_t> extents;  ///< their product is values.size()
  static void reflect(auto& self, auto f) {
    f("values", self.values);
    f("dtype", self.dtype);
    f("extents", self.extents);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
