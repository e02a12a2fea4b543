/// The largest value that an extent reaches while a loop changes it.
#pragma once

#include <optional>

#include "sym/expr.h"

namespace kiln::ir {

/// A bound of an extent that is `first` before a loop and, where an iteration finds it at the symbol `now`, `after`
/// behind that iteration. There are at most `trips` iterations, if that is known. Nothing where no bound is found.
std::optional<sym::Expr> loop_bound(sym::Expr first, sym::Expr now, sym::Expr after, std::optional<sym::Expr> trips);

}  // namespace kiln::ir
