/// Loops whose bodies' types are not known before the bodies are made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "ir/graph.h"
#include "ops/loop.h"

namespace kiln::ir {

using Bodies = std::vector<std::shared_ptr<Graph>>;

/// An extent of a carried value that iterations change.
struct ChangingExtent {
  DecidedAxis axis;
  sym::Expr symbol;               ///< its value in an iteration
  sym::Expr first;                ///< its value before the loop
  std::optional<sym::Expr> most;  ///< a bound, once it is known
};

/// A loop as it is being found: what its maker says of it, and the extents that turn out to change.
struct LoopDraft {
  ops::Loop op;
  std::vector<std::string> names;  ///< of the carried values
  std::vector<TensorType> inputs;  ///< of the body: the iteration's number, carried values and slices
  std::vector<std::optional<sym::Expr>> first_elements;  ///< of carried values that are single numbers, if known
  std::optional<sym::Expr> trips;                        ///< a bound of the iterations
  bool is_exact = false;                                 ///< whether that is how many there are
  /// By stacked output: the most iterations that it takes, where its maker has said that. Empty: nowhere.
  std::vector<std::optional<sym::Expr>> lengths;

  std::vector<ChangingExtent> changing;               ///< that have been found so far
  std::vector<DecidedSize> sizes;                     ///< of op.decided, when the bodies are settled
  std::vector<std::pair<int, DecidedSize>> elements;  ///< symbols of elements, in order, by input of the body

  TensorType& carried(int c) { return inputs[1 + static_cast<size_t>(c)]; }
};

/// What making the loops of a network has shown. A loop inside another one is made again whenever the outer one is, and
/// without this each level of nesting would multiply the time.
struct LoopHistory {
  std::map<const void*, std::vector<DecidedAxis>> changing;  ///< extents, by what a loop is made of
  bool is_trial = false;       ///< bodies around may be made again: types and bounds are wanted, however found
  bool is_unfinished = false;  ///< a loop in a trial has not been made again after its bounds were found
};

/// Gives an integer that enters the body, or each of a short list, a symbol: shapes of what reads it may depend on it.
void follow_element(sym::Table& table, LoopDraft& loop, int input);
/// Makes the bodies until their types are those of every iteration, and completes the loop's op and sizes. `make` gets
/// the types of the inputs that the draft knows; the graphs that it makes have those inputs first, then captures. `key`
/// is the loop's in the history.
Result<Bodies> settle_bodies(sym::Table& table, LoopDraft& loop, LoopHistory& history, const void* key,
                             FunctionRef<Result<Bodies>(std::span<const TensorType>)> make);

}  // namespace kiln::ir
