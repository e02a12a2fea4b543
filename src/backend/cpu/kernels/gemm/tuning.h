#pragma once

#include <optional>

#include "steps/contraction_types.h"

namespace kiln::cpu {

/// How a matrix product runs on the CPU.
struct ProductTuning {
  std::optional<ContractionTypes> types;  ///< b: what a constant one is packed in; absent: all are FP32

  static void reflect(auto& self, auto f) { f("types", self.types); }
  Status check() const {
    return require(!types || (types->a == DType::kF32 && types->out == DType::kF32),
                   "products on the CPU are FP32 but for their weights");
  }
};

}  // namespace kiln::cpu
