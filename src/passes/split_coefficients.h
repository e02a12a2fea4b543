/// Coefficients of a normalisation that may repeat are taken out of it.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A Normalization whose scale or bias has an extent that may be 1 at run time, where x has more, becomes one without
/// coefficients, a product and a sum: kernels read one coefficient an element, and only a run knows which repeat.
/// Always right: the coefficients are applied last. Groups keep theirs, whose extents may also be the number of groups.
Status split_coefficients(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
