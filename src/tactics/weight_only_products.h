/// Products of floats by constant quantized weights: the weights stay in their bytes, and kernels make numbers of them.
#pragma once

#include "steps/weight_only_product.h"
#include "tactics/hook.h"

namespace kiln {

/// A product and the nodes that make its b: a Dequantize, then casts between floats, axes of one index in front and,
/// before a pass has made it part of the product, a transposition.
struct WeightOnlyOperand {
  ir::NodeId product;
  std::vector<ir::NodeId> path;  ///< the Dequantize first
  bool is_transposed = false;    ///< one of them is a Transpose
};
/// What steps of such weights take: a as it is, by one constant matrix of i4, i8 or u8 with constant scales (f32, f16
/// or bf16) for all, or a column, or blocks along k.
std::expected<WeightOnlyOperand, Reject> find_weight_only_operand(const ir::Graph& graph, ir::NodeId product);

/// The region of such a product with what follows it as a product of floats has it (hook.h). Its inputs: a, b, bias,
/// residual, what the hook reads, and those of steps::WeightOperand. `data` is {epilogue}.
Match match_weight_only_product(const TacticContext& cx, ir::NodeId root, bool takes_halves);
/// The step of such a region.
Result<steps::WeightOnlyProduct> weight_only_step(const TacticContext& cx, const Region& region);

}  // namespace kiln
