/// Divisors of an expression whatever its symbols are: alignment of strides that shapes decide.
#pragma once

#include "sym/expr.h"

namespace kiln::sym {

/// A number that divides `e` for all values of its symbols, found from constant factors; 0 where `e` is 0, 1 where
/// nothing is known.
int64_t known_divisor(Expr e);

}  // namespace kiln::sym
