/// Factors and summands of a convolution's output channels move into its weights and bias.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// conv(x, w, b) * s becomes conv(x, w * s, b * s), and conv(x, w, b) + t becomes conv(x, w, b + t), for constant s and
/// t of one element a channel: what batch normalisation leaves behind. Right up to rounding, so not done to weights in
/// less than FP32.
Status fold_channel_scale(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
