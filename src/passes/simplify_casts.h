/// Casts of casts become one where that changes no value.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// Cast(Cast(x)) becomes one Cast, or x, if the inner type holds every value of x's. Always right: the inner cast
/// changes nothing, and the outer one converts x by the same rule (integers wrap and floats saturate, so a detour
/// through the other kind stays unless the result holds all of x's values too).
Status simplify_casts(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
