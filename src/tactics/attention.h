/// Attention as exporters spell it: products, a softmax between them, and what stands around.
#pragma once

#include <span>

#include "tactics/tactic.h"

namespace kiln {

/// softmax(q k^T * scale + mask) v that ends at `root`, with the transposes around it. Inputs: q, k, v, mask or kNone.
/// Data: q, k, v, out (each the stored axes of [batch, head, row, column], of [batch, row, column] where there are no
/// heads; the last of q and out is their last), scale, nan_rows_are_zero. Operands and scores are of one of `types`.
Match attention_region(const TacticContext& cx, ir::NodeId root, std::span<const DType> types);

}  // namespace kiln
