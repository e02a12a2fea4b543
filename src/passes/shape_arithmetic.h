/// Values that follow from shapes become dimension expressions.
#pragma once

#include "passes/pass.h"

namespace kiln::passes {

/// A value whose elements inference knows symbolically becomes DimValues, or a Constant where no symbol is left. Always
/// right: the expressions are what the nodes would compute. The arithmetic behind it is then dead.
Status shape_arithmetic(ir::Graph& graph, PassContext& cx);

}  // namespace kiln::passes
