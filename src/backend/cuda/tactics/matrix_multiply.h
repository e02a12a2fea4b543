/// Matrix products with what follows them: shared by the ops a region may end at.
#pragma once

#include <span>

#include "backend/cuda/compile/gemm/gemm.h"
#include "ops/matrix_multiply.h"
#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& matrix_multiply_tactic();

/// How kernels are to have a product.
struct ProductWanted {
  bool packs_b = false;      ///< they read a packed copy of b
  int64_t columns_each = 1;  ///< so many columns become one result
  bool normalized = false;   ///< they normalize rows of a
};
/// Whether b is one constant matrix that must be packed: tensor cores read it along k, in whole vectors.
bool packs_b(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op);
/// Fails unless b is a constant of one matrix.
std::expected<void, Reject> require_one_constant_matrix(const TacticContext& cx, const Region& region);
/// The kernels that are worth timing for a product.
std::vector<GemmCandidate> product_candidates(const TacticContext& cx, const Region& region,
                                              const ops::MatrixMultiply& op, const ProductWanted& wanted);
/// The same for the region of a product: ProductTunings.
std::vector<Variant> product_variants(const TacticContext& cx, const Region& region, const ops::MatrixMultiply& op);
/// The likeliest of these kernels as variants: ProductTunings. They read a packed copy of b where it `packs`.
std::vector<Variant> product_variants(const TacticContext& cx, const Region& region,
                                      std::span<const GemmCandidate> candidates, bool packs);

}  // namespace kiln::cuda
