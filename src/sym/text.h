/// Expressions as exact text, for what is read back or compared. Messages use `append`, which shortens long ones.
#pragma once

#include <string>

#include "sym/expr.h"

namespace kiln::sym {

inline constexpr size_t kLongestShown = 48;  ///< characters of an expression in a message

/// Appends a text that `parse` reads. Where the tree is large, what occurs more than once is written once: "#0 =
/// floor_div(n, 2); #0*max(#0, 1)".
void append_exact(std::string& out, Expr e);
std::string exact_text(Expr e);

}  // namespace kiln::sym
