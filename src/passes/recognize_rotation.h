/// Rotary embeddings spelled out become pointwise ops on pairs of channels.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// x * cos + (-b, a) * sin, where a and b are the halves of x's channels, or take turns: what exporters make of rotary
/// embeddings, with Slices, a negation and a Concatenation. It becomes pairs * cos + reversed * (sin * (-1, 1)): pairs
/// is x with an axis of two for a and b, reversed is a Slice of it that runs backwards along that axis. A kernel of
/// pointwise ops can read both where x lies. Always right: the same products, and the same sums.
Status recognize_rotation(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
