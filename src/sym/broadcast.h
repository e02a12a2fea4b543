/// The extent of two axes that broadcast against each other at run time.
#pragma once

#include "sym/expr.h"

namespace kiln::sym {

/// The extent that a and b make, where each is 1 or equal to the result: max(a, b), but 0 where one of them is 0. Gives
/// one form whatever the order and however often an operand takes part: broadcast(broadcast(a, b), a) is
/// broadcast(a, b).
Expr broadcast(Expr a, Expr b);

}  // namespace kiln::sym
