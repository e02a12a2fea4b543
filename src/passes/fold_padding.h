/// Zeros around an image become a window's own padding.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A Slice that fills with zeros around its input's spatial axes, read by a Convolution or an average Pooling with
/// explicit pads, moves into these pads. Always right: a window reads zeros outside its input; an average keeps
/// counting them.
Status fold_padding(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
