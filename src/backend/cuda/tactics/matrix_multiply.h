/// Matrix products with what follows them: shared by the ops a region may end at.
#pragma once

#include "backend/cuda/compile/gemm/gemm.h"
#include "ops/matrix_multiply.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& matrix_multiply_tactic();

/// The kernels that are worth timing for a product whose columns become one result each, or `columns_each` become one.
/// Where `packs_b`, they read a packed copy of b.
std::vector<GemmCandidate> product_candidates(const TacticContext& cx, const Region& region,
                                              const ops::MatrixMultiply& op, bool packs_b, int64_t columns_each = 1);
/// The same for the region of a product: ProductTunings.
std::vector<Variant> product_variants(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op);

}  // namespace kiln::cuda
