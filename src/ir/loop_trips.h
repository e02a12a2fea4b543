/// How often a loop runs at most that goes on while a condition holds.
#pragma once

#include <optional>
#include <span>

#include "ir/graph.h"

namespace kiln::ir {

/// A number that an iteration may change.
struct LoopNumber {
  std::optional<sym::Expr> first;  ///< before the loop, if that is known
  sym::Expr now;                   ///< the symbol by which the body knows it
  std::optional<sym::Expr> after;  ///< behind the iteration, if that is known
};

/// A bound of the iterations of a loop that ends behind the one whose `condition`, a value of its body, is false. The
/// condition compares what counts up or down by a constant with what stays, and may ask for more. Nothing where it is
/// of another kind.
std::optional<sym::Expr> most_trips(const Graph& body, ValueId condition, std::span<const LoopNumber> numbers);

/// Whether a value of a body is the same in each iteration: nothing that it is computed of is random, reads one of the
/// inputs in `varying`, or is an extent or element of one, of which `changing` has the symbols.
bool is_same_in_each_iteration(const Graph& body, ValueId value, std::span<const ValueId> varying,
                               std::span<const sym::Expr> changing);

}  // namespace kiln::ir
