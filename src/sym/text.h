/// Expressions as exact text, for what is read back or compared. Messages use `append`, which shortens long ones.
#pragma once

#include <string>

#include "sym/expr.h"

namespace kiln::sym {

inline constexpr size_t kLongestShown = 120;  ///< characters of an expression in a message

/// What `parse` reads, however long.
void append_exact(std::string& out, Expr e);
std::string exact_text(Expr e);

}  // namespace kiln::sym
