/// Gated products: by the kernels of products, whose columns stand in pairs.
#include "steps/gated_product.h"

#include "backend/cuda/exec/matrix_multiply.h"

namespace kiln::cuda {

LoadResult load(const steps::GatedProduct& step, const LoadArguments& arguments) {
  const ProductTuning tuning = TRY(from_record<ProductTuning>(arguments.spec.tuning));
  TRY(require(tuning.gemm && tuning.pack_b && tuning.gemm->may_gate(),
              "a gated product has no kernel that ends pairs of packed columns"));
  return load_product(step.op, step.epilogue, tuning, arguments, ContractionInputs(arguments), {Columns::kInPairs});
}

}  // namespace kiln::cuda
