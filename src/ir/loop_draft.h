/// Loops whose bodies' types are not known before the bodies are made.
#pragma once

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

  std::vector<DecidedSize> sizes;                     ///< of op.decided
  std::vector<std::pair<int, DecidedSize>> elements;  ///< symbols of elements, by input of the body

  TensorType& carried(int c) { return inputs[1 + static_cast<size_t>(c)]; }
};

/// Gives a single integer that enters the body a symbol, which the shapes of what reads it may depend on.
void follow_element(sym::Table& table, LoopDraft& loop, int input);
/// Makes the bodies until their types are those of every iteration, and completes the loop's op and sizes. `make` gets
/// the types of the inputs that the draft knows; the graphs that it makes have those inputs first, then captures.
Result<Bodies> settle_bodies(sym::Table& table, LoopDraft& loop,
                             FunctionRef<Result<Bodies>(std::span<const TensorType>)> make);

}  // namespace kiln::ir
