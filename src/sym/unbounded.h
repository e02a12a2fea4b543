/// Sizes that have no bound: what stands where a bound is asked for.
#pragma once

#include "sym/expr.h"

namespace kiln::sym {

/// The largest size that data may decide where nothing bounds it: one more fits no 32-bit index. A symbol with just
/// this limit is one of those.
inline constexpr int64_t kMostUnbounded = INT32_MAX;
/// What steps are tuned for where nothing is known of a size.
inline constexpr int64_t kTypicalSize = 64;

/// A number of data of which nothing is known, of any sign.
inline constexpr Bounds kAnyNumber{-kMostUnbounded, kTypicalSize, kMostUnbounded};

/// The table's symbol that stands for a bound nobody knows. Nothing ever binds it: it only marks.
Expr unbounded(Table& table);
/// Whether an expression reads that symbol.
bool reads_unbounded(Expr e);
/// Whether an upper bound of a size is none: it reads that symbol, or no tensor is as large.
bool is_no_bound(Expr most);
/// Whether an expression can be as large, or (of what is subtracted) as small, as a symbol in it that goes to
/// kMostUnbounded: `min(s, 100)` cannot.
bool grows_without_bound(Expr e);

}  // namespace kiln::sym
