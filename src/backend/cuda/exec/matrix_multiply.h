#pragma once

#include "backend/cuda/exec/cublaslt_product.h"
#include "backend/cuda/exec/gemm_step.h"
#include "backend/cuda/kernels/gemm/gemm.h"

namespace kiln::cuda {

/// How a matrix product runs: by a kernel of ours, or by cuBLASLt.
struct ProductTuning {
  std::optional<GemmKernel> gemm;
  bool pack_b = false;  ///< b is a constant that the kernel wants along k
  std::optional<LtTuning> cublaslt;

  static void reflect(auto& self, auto f) {
    f("gemm", self.gemm), f("pack_b", self.pack_b), f("cublaslt", self.cublaslt);
  }
  Status check() const {
    return require(gemm.has_value() != cublaslt.has_value() && !(pack_b && cublaslt),
                   "a matrix product needs exactly one of gemm and cublaslt");
  }
};

/// How a kernel has the columns of a packed b: as they are, or each of the first half before its fellow of the second,
/// so that two make one result (steps::GatedProduct).
enum class Columns : uint8_t { kInOrder, kInPairs };

/// What a product by a kernel of ours is besides.
struct ProductForm {
  Columns columns = Columns::kInOrder;
  float epsilon = 0;  ///< of a kernel that normalizes rows
};

/// A matrix product by a kernel of ours. `inputs` may have some set already.
Result<std::unique_ptr<LoadedStep>> load_product(const ops::MatrixMultiply& op, const steps::Epilogue& epilogue,
                                                 const ProductTuning& tuning, const LoadArguments& arguments,
                                                 ContractionInputs inputs, const ProductForm& form = {});

}  // namespace kiln::cuda
