#include "tactics/matrix_multiply.h"

namespace kiln {

bool is_product(const Op& op) { return op.as<ops::MatrixMultiply>() != nullptr; }

const ops::MatrixMultiply& product_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[0]).op.as<ops::MatrixMultiply>();
}

Result<steps::MatrixMultiply> product_step(const TacticContext& cx, const Region& region) {
  return steps::MatrixMultiply{product_of(cx, region), TRY(epilogue_of(region))};
}

Match ProductRegions::match(const TacticContext& cx, ir::NodeId root) const {
  Match region =
      match_contraction(cx, root, is_product, -1, ResultOrder::kRowMajor, contraction_region, takes_halves());
  if (!region) return region;
  const ops::MatrixMultiply& op = product_of(cx, *region);
  const bool has_vector = op.a == ops::MatrixOp::kVector || op.b == ops::MatrixOp::kVector;
  if (has_vector && (has_hook(*region) || region->inputs[2] != ir::ValueId::kNone))
    return reject("a product with a vector has no rows and columns");
  return region;
}

}  // namespace kiln
