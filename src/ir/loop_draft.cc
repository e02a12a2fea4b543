#include "ir/loop_draft.h"

#include <algorithm>
#include <utility>

#include "ir/bodies.h"
#include "ir/loop_bound.h"
#include "ir/loop_trips.h"
#include "sym/unbounded.h"

namespace kiln::ir {
namespace {

bool has_symbol(sym::Expr e, sym::Expr symbol) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(e, symbols);
  return std::ranges::find(symbols, symbol) != symbols.end();
}

/// A bound of an expression by those of some symbols; the expression itself where it reads none of them.
sym::Expr bound_by(sym::Expr e, std::vector<std::pair<sym::Expr, sym::Expr>> bounds) {
  std::erase_if(bounds, [&](const auto& bound) { return !has_symbol(e, bound.first); });
  return bounds.empty() ? e : upper_bound(e, bounds);
}

/// A bound of an expression that no iteration decides.
sym::Expr bound_of_elements(const LoopDraft& loop, sym::Expr e) {
  std::vector<std::pair<sym::Expr, sym::Expr>> bounds;
  for (const auto& [input, element] : loop.elements)
    bounds.emplace_back(element.symbol, input == 0 && loop.trips ? *loop.trips - 1 : element.most);
  return bound_by(e, bounds);
}

/// A bound of an expression that reads no changing extent whose bound is known.
sym::Expr bound_of_extents(const LoopDraft& loop, sym::Expr e) {
  std::vector<std::pair<sym::Expr, sym::Expr>> bounds;
  for (const ChangingExtent& extent : loop.changing)
    if (extent.most) bounds.emplace_back(extent.symbol, *extent.most);
  return bound_by(e, bounds);
}

/// Whether an expression reads a changing extent other than this one whose bound is not known.
bool reads_open_extent(const LoopDraft& loop, sym::Expr e, const ChangingExtent& than) {
  return std::ranges::any_of(loop.changing, [&](const ChangingExtent& extent) {
    return extent.symbol != than.symbol && !extent.most && has_symbol(e, extent.symbol);
  });
}

/// A bound of a carried extent that is `first` before the loop and becomes `after` from `now` in an iteration; or
/// sym::unbounded.
sym::Expr bound_of(sym::Table& table, const LoopDraft& loop, sym::Expr first, sym::Expr now, sym::Expr after) {
  const auto most = loop_bound(first, now, after, loop.trips);
  return most && !sym::reads_unbounded(*most) ? *most : sym::unbounded(table);
}

/// A carried value behind an iteration.
const TensorType& result_of(const LoopDraft& loop, const std::vector<TensorType>& results, int c) {
  return results[(loop.op.tests ? 1 : 0) + static_cast<size_t>(c)];
}
sym::Expr extent_after(const LoopDraft& loop, const std::vector<TensorType>& results, DecidedAxis axis) {
  return result_of(loop, results, axis.output).shape[static_cast<size_t>(axis.axis)];
}

Status check_carried(LoopDraft& loop, const std::vector<TensorType>& results) {
  for (int c = 0; c < loop.op.carried; ++c) {
    const TensorType &before = loop.carried(c), &after = result_of(loop, results, c);
    TRY(require(before.dtype == after.dtype && before.rank() == after.rank(), "carried value '",
                loop.names[static_cast<size_t>(c)], "': it is ", before, " before an iteration and ", after,
                " behind it; its type and rank must stay"));
  }
  return {};
}

/// Makes a symbol of a carried extent.
void add_changing(sym::Table& table, LoopDraft& loop, DecidedAxis axis) {
  sym::Expr& extent = loop.carried(axis.output).shape[static_cast<size_t>(axis.axis)];
  loop.changing.push_back({.axis = axis, .symbol = table.fresh("extent"), .first = extent, .most = {}});
  extent = loop.changing.back().symbol;
}

/// Makes symbols of the carried extents that the body changes. Whether there were any new ones.
bool find_changing_extents(sym::Table& table, LoopDraft& loop, const std::vector<TensorType>& results) {
  const size_t known = loop.changing.size();
  for (int c = 0; c < loop.op.carried; ++c)
    for (int axis = 0; axis < loop.carried(c).rank(); ++axis)
      if (std::ranges::find(loop.changing, DecidedAxis{c, axis}, &ChangingExtent::axis) == loop.changing.end() &&
          loop.carried(c).shape[static_cast<size_t>(axis)] != extent_after(loop, results, {c, axis}))
        add_changing(table, loop, {c, axis});
  return loop.changing.size() > known;
}

/// Forgets the changing extents that stay what they are before the loop. Whether there were any: the body is to be made
/// again then.
bool forget_unchanged(LoopDraft& loop, const std::vector<TensorType>& results) {
  std::vector<ChangingExtent> same = loop.changing;
  const auto changes = [&](const ChangingExtent& extent) {
    std::vector<std::pair<sym::Expr, sym::Expr>> values;
    for (const ChangingExtent& other : same) values.emplace_back(other.symbol, other.first);
    return sym::substitute(extent_after(loop, results, extent.axis), values) != extent.first;
  };
  for (auto found = same.begin(); (found = std::ranges::find_if(same, changes)) != same.end();) same.erase(found);
  for (const ChangingExtent& extent : same) {
    loop.carried(extent.axis.output).shape[static_cast<size_t>(extent.axis.axis)] = extent.first;
    std::erase_if(loop.changing, [&](const ChangingExtent& other) { return other.axis == extent.axis; });
  }
  return !same.empty();
}

/// Finds the bounds of carried extents that change. Whether that narrowed any symbol: the body is to be made again
/// then.
Result<bool> find_bounds(sym::Table& table, LoopDraft& loop, const Bodies& bodies,
                         const std::vector<TensorType>& results) {
  const NodeBodyTypes types(bodies);
  bool narrowed = false;
  std::vector<ChangingExtent*> waiting;
  const auto settle = [&](ChangingExtent& extent, sym::Expr most) -> Status {
    extent.most = most;
    narrowed = true;
    return table.set_bounds(extent.symbol, {0, std::max<int64_t>(most.opt(), 0), most.max()});
  };
  for (ChangingExtent& extent : loop.changing) {
    if (extent.most) continue;
    const sym::Expr after =
        bound_of_extents(loop, bound_of_elements(loop, types.most(0, extent_after(loop, results, extent.axis))));
    if (reads_open_extent(loop, after, extent))  // of another carried value: that one first
      waiting.push_back(&extent);
    else
      TRY(settle(extent, bound_of(table, loop, extent.first, extent.symbol, after)));
  }
  // Extents that follow each other in a circle are those of values that change places, or grow by each other.
  if (!narrowed)
    for (ChangingExtent* const extent : waiting) TRY(settle(*extent, sym::unbounded(table)));
  return narrowed;
}

bool has_bound(const ChangingExtent& extent) { return extent.most.has_value(); }

/// Finds a bound of the iterations in the condition that a body computes.
void find_trips(LoopDraft& loop, const Graph& body, const std::vector<TensorType>& results) {
  std::vector<LoopNumber> numbers;
  for (const auto& [input, element] : loop.elements) {
    if (input == 0) {
      numbers.push_back({0, element.symbol, element.symbol + 1});
      continue;
    }
    if (input > loop.op.carried || ops::num_followed(loop.inputs[static_cast<size_t>(input)]) > 1) {
      numbers.push_back({{}, element.symbol, {}});
      continue;
    }
    const auto& after = result_of(loop, results, input - 1).values;
    numbers.push_back({loop.first_elements[static_cast<size_t>(input) - 1], element.symbol,
                       after ? std::optional((*after)[0]) : std::nullopt});
  }
  for (const ChangingExtent& extent : loop.changing)
    numbers.push_back({extent.first, extent.symbol, extent_after(loop, results, extent.axis)});
  const auto most = most_trips(body, body.outputs()[0].value, numbers);
  if (most) loop.trips = loop.trips && !ops::bounds_nothing(*loop.trips) ? sym::min(*loop.trips, *most) : *most;
}

/// The bound of how many iterations a stacked output has, or sym::unbounded; nothing where their number is known.
std::optional<sym::Expr> bound_of_stack(sym::Table& table, const LoopDraft& loop, size_t k) {
  const auto length = k < loop.lengths.size() ? loop.lengths[k] : std::nullopt;
  if (loop.is_exact && (!length || sym::provably_less_equal(*loop.trips, *length))) return std::nullopt;
  const bool has_end = loop.trips && !ops::bounds_nothing(*loop.trips);
  if (has_end) return length ? sym::min(*loop.trips, *length) : *loop.trips;
  return length ? length : sym::unbounded(table);
}

/// The extents of stacked outputs that only the run tells.
void find_stacked_sizes(sym::Table& table, LoopDraft& loop, const Bodies& bodies,
                        const std::vector<TensorType>& results) {
  const NodeBodyTypes types(bodies);
  const size_t first = (loop.op.tests ? 1 : 0) + static_cast<size_t>(loop.op.carried);
  for (size_t k = 0; k < loop.op.stacks.size(); ++k) {
    const int output = loop.op.carried + static_cast<int>(k);
    const auto decide = [&](int axis, sym::Expr most) {
      most = sym::max(most, 0);  // of the last iteration's number, where there is none
      loop.op.decided.push_back({output, axis});
      loop.op.most.push_back(most);
      const sym::Bounds bounds{0, std::max<int64_t>(most.opt(), 0), std::max<int64_t>(most.max(), 0)};
      loop.sizes.push_back({table.fresh("extent", bounds), most});
    };
    if (const auto most = bound_of_stack(table, loop, k)) decide(0, *most);
    const Shape& slice = results[first + k].shape;
    for (size_t axis = 0; axis < slice.size(); ++axis) {
      const sym::Expr most = bound_of_elements(loop, types.most(0, slice[axis]));
      const sym::Expr outside = bound_of_extents(loop, most);
      if (outside != slice[axis])
        decide(static_cast<int>(axis) + 1, sym::reads_unbounded(outside) ? sym::unbounded(table) : outside);
    }
  }
}

/// Appends the symbols in numbers that a node reads on the host.
void collect_host_reads(const Graph& graph, const Node& node, std::vector<sym::Expr>& symbols) {
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != ValueId::kNone && node.op.info().reads_on_host(i))
      if (const auto& values = graph.type(node.inputs[i]).values)
        for (const sym::Expr& value : *values) sym::collect_symbols(value, symbols);
}

/// Keeps the elements that shapes in the bodies depend on: they bind steps anew in each iteration.
void add_elements(LoopDraft& loop, const Bodies& bodies) {
  std::vector<sym::Expr> symbols;
  const auto collect = [&](const Graph& graph) {
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<NodeId>(i); graph.alive(id)) {
        kiln::collect_symbols(graph.node(id).op, symbols);  // of its bodies by the walk below
        collect_host_reads(graph, graph.node(id), symbols);
        for (const ValueId output : graph.node(id).outputs)
          for (const sym::Expr& extent : graph.type(output).shape) sym::collect_symbols(extent, symbols);
      }
  };
  for (const auto& body : bodies) {
    collect(*body);
    for_each_body(*body, collect);
  }
  const auto is_read = [&](int input) {
    return std::ranges::any_of(loop.elements, [&](const auto& entry) {
      return entry.first == input && std::ranges::find(symbols, entry.second.symbol) != symbols.end();
    });
  };
  for (const auto& [input, element] : loop.elements) {
    if (!is_read(input)) continue;
    if (loop.op.elements.empty() || loop.op.elements.back() != input) loop.op.elements.push_back(input);
    loop.sizes.push_back(element);
  }
}

}  // namespace

void follow_element(sym::Table& table, LoopDraft& loop, int input) {
  TensorType& type = loop.inputs[static_cast<size_t>(input)];
  const bool is_number = input == 0;
  const sym::Bounds bounds = is_number ? ops::iteration_bounds(loop.trips) : sym::kAnyNumber;
  const sym::Expr most = bounds.max < sym::kMostUnbounded ? sym::Expr(bounds.max) : sym::unbounded(table);
  SymbolicValues values;
  for (int k = 0, count = ops::num_followed(type); k < count; ++k) {
    const sym::Expr symbol = table.fresh(is_number ? "iteration" : "element", bounds);
    if (is_number && loop.trips) ops::learn_iteration(symbol, *loop.trips);
    values.push_back(symbol);
    loop.elements.emplace_back(input, DecidedSize{symbol, most, true});
  }
  if (!values.empty()) type.values = std::make_shared<const SymbolicValues>(std::move(values));
}

Result<Bodies> settle_bodies(sym::Table& table, LoopDraft& loop, LoopHistory& history, const void* key,
                             FunctionRef<Result<Bodies>(std::span<const TensorType>)> make) {
  constexpr int kMostTries = 64;
  std::vector<DecidedAxis>& known = history.changing[key];
  for (const DecidedAxis& axis : known)
    if (axis.output < loop.op.carried && axis.axis < loop.carried(axis.output).rank()) add_changing(table, loop, axis);
  const bool is_trial = history.is_trial;
  bool is_last = false;  // all that there is to find has been found
  for (int tries = 0; tries < kMostTries; ++tries) {
    const bool was_unfinished = std::exchange(history.is_unfinished, false);
    history.is_trial = is_trial || !is_last;
    auto made = make(loop.inputs);
    history.is_trial = is_trial;
    const bool is_unfinished = std::exchange(history.is_unfinished, was_unfinished);
    const Bodies bodies = TRY(std::move(made));
    const std::vector<TensorType> results = output_types(*bodies[0]);
    TRY(check_carried(loop, results));
    if (tries == 0 && forget_unchanged(loop, results)) continue;
    if (find_changing_extents(table, loop, results)) {
      is_last = false;
      continue;
    }
    const bool has_condition = loop.op.tests || bodies.size() == 2;
    if (has_condition && std::ranges::none_of(loop.changing, has_bound)) find_trips(loop, *bodies.back(), results);
    const bool narrowed = TRY(find_bounds(table, loop, bodies, results));
    if (is_trial) {
      while (narrowed && TRY(find_bounds(table, loop, bodies, results))) {  // of extents that follow others
      }
      history.is_unfinished |= narrowed || is_unfinished;
    } else if (!is_last && (narrowed || is_unfinished)) {
      is_last = std::ranges::all_of(loop.changing, has_bound);
      continue;
    }
    known.clear();
    for (const ChangingExtent& extent : loop.changing) {
      known.push_back(extent.axis);
      loop.op.decided.push_back(extent.axis);
      loop.op.most.push_back(*extent.most);
      loop.sizes.push_back({extent.symbol, *extent.most});
    }
    find_stacked_sizes(table, loop, bodies, results);
    add_elements(loop, bodies);
    return bodies;
  }
  return error(Code::kUnsupported, "the extents of carried values do not settle");
}

}  // namespace kiln::ir
