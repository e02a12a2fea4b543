/// Normalized products: by the kernels of products, which sum squares beside.
#include "steps/normalized_product.h"

#include "backend/cuda/exec/matrix_multiply.h"

namespace kiln::cuda {

LoadResult load(const steps::NormalizedProduct& step, const LoadArguments& arguments) {
  const ProductTuning tuning = TRY(from_record<ProductTuning>(arguments.spec.tuning));
  TRY(require(tuning.gemm && tuning.gemm->normalized, "a normalized product has no kernel that normalizes rows"));
  TRY(require(!step.gate || (tuning.pack_b && tuning.gemm->may_gate()),
              "a gated product has no kernel that ends pairs of packed columns"));
  return load_product(
      step.op, step.epilogue, tuning, arguments, ContractionInputs(arguments),
      {.columns = step.gate ? Columns::kInPairs : Columns::kInOrder, .epsilon = static_cast<float>(step.epsilon)});
}

}  // namespace kiln::cuda
