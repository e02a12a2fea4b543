#pragma once

#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/weight_only/weight_only.h"

namespace kiln::cuda {

/// How a product by quantized weights runs: by a kernel that reads them, or by one of floats behind a kernel that makes
/// these of them.
struct WeightOnlyTuning {
  std::optional<WeightOnlyRows> rows;
  std::optional<GemmKernel> expanded;

  static void reflect(auto& self, auto f) { f("rows", self.rows), f("expanded", self.expanded); }
  Status check() const {
    return require(rows.has_value() != expanded.has_value(),
                   "a product by quantized weights needs exactly one of rows and expanded");
  }
};

}  // namespace kiln::cuda
