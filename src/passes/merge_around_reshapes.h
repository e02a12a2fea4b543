/// Transposes with reshapes between them, or behind them, become fewer.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Transpose(Reshape(x)) moves whole pieces of x's axes where the two shapes have a common refinement, so it is a
/// Transpose of these pieces between two Reshapes: Reshape(Transpose(Reshape(x))). That is done where it lets something
/// vanish: a Transpose above the Reshape, which joins the one below, or Reshapes below. The Transpose between an
/// image's pixels and rows of channels stands on the side of the image, where a format may have their order. Always
/// right: elements end where they did.
Status merge_around_reshapes(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
