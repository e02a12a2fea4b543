/// Matrix products with what follows them: shared by the ops a region may end at.
#pragma once

#include "ops/matrix_multiply.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& matrix_multiply_tactic();

/// The kernels that are worth timing for the region of a product: ProductTunings.
std::vector<Variant> product_variants(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op);

}  // namespace kiln::cuda
