/// Matrix products with what follows them: what kernels of both backends take.
#pragma once

#include "steps/matrix_multiply.h"
#include "tactics/hook.h"

namespace kiln {

bool is_product(const Op& op);
const ops::MatrixMultiply& product_of(const TacticContext& cx, const Region& region);
/// The step of a region that `match_contraction` made of a product.
Result<steps::MatrixMultiply> product_step(const TacticContext& cx, const Region& region);

class ProductRegions : public Tactic {
 public:
  std::string_view name() const override { return "gemm"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override;

 protected:
  /// Whether the kernels take products of halves.
  virtual bool takes_halves() const = 0;
};

}  // namespace kiln
