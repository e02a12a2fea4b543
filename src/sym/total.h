/// Expressions that have a value whatever their symbols are.
#pragma once

#include "sym/expr.h"

namespace kiln::sym {

/// Whether evaluating the expression cannot fail within the bounds of its symbols, but for numbers beyond int64: it
/// divides by nothing that may be zero, checks no index and has no reals.
bool is_total(Expr e);

}  // namespace kiln::sym
