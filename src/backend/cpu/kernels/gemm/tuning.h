#pragma once

#include <optional>

#include "base/error.h"
#include "tensor/field_types.h"

namespace kiln::cpu {

/// How a matrix product runs on the CPU.
struct ProductTuning {
  std::optional<DType> weights;  ///< the half type that a constant b is packed in; absent: b's own

  static void reflect(auto& self, auto f) { f("weights", self.weights); }
  Status check() const {
    return require(!weights || *weights == DType::kF16 || *weights == DType::kBF16,
                   "a product's weights cannot be packed in ", weights.value_or(DType::kF32));
  }
};

}  // namespace kiln::cpu
