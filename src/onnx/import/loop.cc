// Loop and Scan: their bodies are imported as often as it takes to find which carried extents change.
#include "ops/loop.h"

#include <algorithm>
#include <numeric>

#include "ir/bodies.h"
#include "ir/loop_bound.h"
#include "ir/loop_trips.h"
#include "onnx/import/bodies.h"
#include "onnx/import/importers.h"
#include "ops/reference_context.h"
#include "ops/squeeze.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "tensor/view.h"

namespace kiln::onnx {

Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what) {
  const ValueId value = TRY(cx.input(input));
  TRY(require(!sym::provably_different(cx.type(value).volume(), 1), what, " is ", cx.type(value),
              "; one element is needed"));
  return value;
}

namespace importers {
namespace {

/// A bound of an expression by those of some symbols; the expression itself where it reads none of them.
sym::Expr bound_by(sym::Expr e, std::vector<std::pair<sym::Expr, sym::Expr>> bounds) {
  std::vector<sym::Expr> symbols;
  sym::collect_symbols(e, symbols);
  std::erase_if(bounds, [&](const auto& bound) { return std::ranges::find(symbols, bound.first) == symbols.end(); });
  return bounds.empty() ? e : ir::upper_bound(e, bounds);
}

/// A loop as it is being found: what ONNX says of it, and the extents that turned out to change.
struct LoopDraft {
  const GraphDef& body;
  ops::Loop op;
  std::vector<BodyInput> inputs;  ///< of the body; those that are carried begin at `first_carried`
  size_t first_carried = 0;
  size_t skipped = 0;                                 ///< outputs of the body: a condition that is always true
  std::optional<sym::Expr> trips;                     ///< a bound of the iterations
  bool is_exact = false;                              ///< whether that is how many there are
  std::vector<DecidedSize> sizes;                     ///< of op.decided
  std::vector<std::pair<int, DecidedSize>> elements;  ///< symbols of elements, by input of the body

  /// A bound of an expression that no iteration decides.
  sym::Expr bound(sym::Expr e) const {
    std::vector<std::pair<sym::Expr, sym::Expr>> bounds;
    for (const auto& [input, element] : elements)
      bounds.emplace_back(element.symbol, input == 0 && trips ? *trips - 1 : element.most);
    return bound_by(e, bounds);
  }
  /// A bound of an expression that reads no extent which the loop decides and whose bound is known.
  sym::Expr bound_of_sizes(sym::Expr e) const {
    std::vector<std::pair<sym::Expr, sym::Expr>> bounds;
    for (const DecidedSize& size : sizes)
      if (size.most != sym::Expr()) bounds.emplace_back(size.symbol, size.most);
    return bound_by(e, bounds);
  }

  /// Whether an expression reads an extent that the loop decides, other than that of size k, whose bound is not known.
  bool reads_open_size(sym::Expr e, size_t k) const {
    std::vector<sym::Expr> symbols;
    sym::collect_symbols(e, symbols);
    return std::ranges::any_of(sizes, [&](const DecidedSize& size) {
      return size.symbol != sizes[k].symbol && size.most == sym::Expr() &&
             std::ranges::find(symbols, size.symbol) != symbols.end();
    });
  }

  TensorType& carried(int c) { return inputs[first_carried + static_cast<size_t>(c)].type; }
};

std::vector<TensorType> output_types(const ImportedBody& body) {
  std::vector<TensorType> types;
  for (const ValueId value : body.outputs) types.push_back(body.graph->type(value));
  return types;
}

/// Whether a count is one that exporters write where there is none.
bool is_endless(const sym::Expr& trips) { return trips.is_const() && trips.value() >= INT32_MAX; }

/// A bound of a carried extent that is `first` before the loop and becomes `after` from `now` in an iteration.
Result<sym::Expr> bound_of(const LoopDraft& loop, sym::Expr first, sym::Expr now, sym::Expr after) {
  if (const auto most = ir::loop_bound(first, now, after, loop.trips)) return *most;
  return error(Code::kUnsupported, "its extent grows from ", first, ", by an iteration from ", now, " to ", after,
               ", without a bound",
               loop.trips ? "" : ": nothing tells how many iterations there are at most before the network runs");
}

/// Makes symbols of the carried extents that the body changes. Whether there were any new ones.
Result<bool> find_changing_extents(ImportContext& cx, LoopDraft& loop, const std::vector<TensorType>& results) {
  const size_t first = loop.op.tests ? 1 : 0;
  bool found = false;
  for (int c = 0; c < loop.op.carried; ++c) {
    TensorType& before = loop.carried(c);
    const TensorType& after = results[first + static_cast<size_t>(c)];
    const auto where = [&] {
      return str("carried value '", loop.inputs[loop.first_carried + static_cast<size_t>(c)].name, "'");
    };
    TRY(in_context(require(before.dtype == after.dtype && before.rank() == after.rank(), "it is ", before,
                           " before an iteration and ", after, " behind it; its type and rank must stay"),
                   where));
    for (int axis = 0; axis < before.rank(); ++axis) {
      sym::Expr& extent = before.shape[static_cast<size_t>(axis)];
      if (extent == after.shape[static_cast<size_t>(axis)] || find_axis(loop.op.decided, c, axis) >= 0) continue;
      loop.op.decided.push_back({c, axis});
      loop.op.most.push_back(extent);  // what it is before the loop, until the bound is known
      extent = cx.graph().table().fresh("extent");
      loop.sizes.push_back({extent, {}});
      found = true;
    }
  }
  return found;
}

/// Finds the bounds of carried extents that change. Whether that narrowed any symbol: the body is to be imported again
/// then.
Result<bool> find_bounds(ImportContext& cx, LoopDraft& loop, const ImportedBody& body,
                         const std::vector<TensorType>& results) {
  const std::vector<std::shared_ptr<ir::Graph>> graphs{body.graph};
  const ir::NodeBodyTypes types(graphs);
  const size_t first = loop.op.tests ? 1 : 0;
  bool narrowed = false;
  std::string waiting;
  for (size_t k = 0; k < loop.sizes.size(); ++k) {
    if (loop.sizes[k].most != sym::Expr()) continue;
    const auto [c, axis] = loop.op.decided[k];
    const sym::Expr after = loop.bound_of_sizes(
        loop.bound(types.most(0, results[first + static_cast<size_t>(c)].shape[static_cast<size_t>(axis)])));
    const std::string where =
        str("axis ", axis, " of carried value '", loop.inputs[loop.first_carried + static_cast<size_t>(c)].name, "'");
    if (loop.reads_open_size(after, k)) {  // of another carried value: that one first
      waiting = str(where, " becomes ", after);
      continue;
    }
    const sym::Expr most =
        TRY(in_context(bound_of(loop, loop.op.most[k], loop.sizes[k].symbol, after), [&] { return where; }));
    loop.op.most[k] = loop.sizes[k].most = most;
    TRY(cx.graph().table().set_bounds(loop.sizes[k].symbol, {0, std::max<int64_t>(most.opt(), 0), most.max()}));
    narrowed = true;
  }
  if (!narrowed && !waiting.empty())
    return error(Code::kUnsupported, waiting, ": extents of carried values follow each other in a circle");
  return narrowed;
}

/// The extents of stacked outputs that only the run tells.
Status find_stacked_sizes(ImportContext& cx, LoopDraft& loop, const ImportedBody& body,
                          const std::vector<TensorType>& results) {
  const std::vector<std::shared_ptr<ir::Graph>> graphs{body.graph};
  const ir::NodeBodyTypes types(graphs);
  const size_t first = (loop.op.tests ? 1 : 0) + static_cast<size_t>(loop.op.carried);
  for (size_t k = 0; k < loop.op.stacks.size(); ++k) {
    const int output = loop.op.carried + static_cast<int>(k);
    const auto decide = [&](int axis, sym::Expr most) {
      loop.op.decided.push_back({output, axis});
      loop.op.most.push_back(most);
      const sym::Bounds bounds{0, std::max<int64_t>(most.opt(), 0), std::max<int64_t>(most.max(), 0)};
      loop.sizes.push_back({cx.graph().table().fresh("extent", bounds), most});
    };
    if (!loop.is_exact) {
      if (!loop.trips || is_endless(*loop.trips))
        return error(Code::kUnsupported, "output ", output,
                     " stacks a slice for each iteration, and nothing tells before the network runs how many there are "
                     "at most: give the loop a trip count that follows from shapes, constants or shape inputs");
      decide(0, *loop.trips);
    }
    const Shape& slice = results[first + k].shape;
    for (size_t axis = 0; axis < slice.size(); ++axis) {
      const sym::Expr most = loop.bound(types.most(0, slice[axis]));
      const sym::Expr outside = loop.bound_of_sizes(most);
      if (outside != slice[axis]) decide(static_cast<int>(axis) + 1, outside);
    }
  }
  return {};
}

/// Keeps the elements that shapes in the body depend on: they bind steps anew in each iteration.
void add_elements(LoopDraft& loop, const ir::Graph& body) {
  std::vector<sym::Expr> symbols;
  const auto collect = [&](const ir::Graph& graph) {
    for (int i = 0; i < graph.num_nodes(); ++i)
      if (const auto id = static_cast<ir::NodeId>(i); graph.alive(id)) {
        ir::collect_symbols(graph.node(id), symbols);
        for (const ValueId output : graph.node(id).outputs)
          for (const sym::Expr& extent : graph.type(output).shape) sym::collect_symbols(extent, symbols);
      }
  };
  collect(body);
  ir::for_each_body(body, collect);
  for (const auto& [input, element] : loop.elements)
    if (std::ranges::find(symbols, element.symbol) != symbols.end()) {
      loop.op.elements.push_back(input);
      loop.sizes.push_back(element);
    }
}

/// Gives a single integer that enters the body a symbol, which the shapes of what reads it may depend on.
void follow_element(ImportContext& cx, LoopDraft& loop, size_t input, int of_body) {
  TensorType& type = loop.inputs[input].type;
  if (!is_index(type.dtype) || !sym::provably_equal(type.volume(), 1)) return;
  const bool is_number = of_body == 0;
  sym::Bounds bounds = sym::kAnyValue;
  if (is_number) bounds = {0, 0, loop.trips ? std::max<int64_t>(loop.trips->max() - 1, 0) : INT64_MAX};
  const sym::Expr symbol = cx.graph().table().fresh(is_number ? "iteration" : "element", bounds);
  if (is_number && loop.trips) ops::learn_iteration(symbol, *loop.trips);
  type.values = std::make_shared<const SymbolicValues>(SymbolicValues{symbol});
  loop.elements.emplace_back(of_body, DecidedSize{symbol, bounds.max, true});
}

/// Whether what an extent was before the loop has given way to its bound.
bool has_bounds(const LoopDraft& loop) {
  return std::ranges::any_of(loop.sizes, [](const DecidedSize& size) { return size.most != sym::Expr(); });
}

/// Finds a bound of the iterations in the condition that the body computes.
void find_trips(ImportContext& cx, LoopDraft& loop, const ImportedBody& body, const Values& inputs,
                const std::vector<TensorType>& results) {
  std::vector<ir::LoopNumber> numbers;
  for (const auto& [of_body, element] : loop.elements) {
    if (of_body == 0) {
      numbers.push_back({0, element.symbol, element.symbol + 1});
      continue;
    }
    const auto c = static_cast<size_t>(of_body) - 1;
    const auto first = cx.values(inputs[loop.first_carried + c], "");
    const auto& after = results[1 + c].values;
    ir::LoopNumber& number = numbers.emplace_back(std::nullopt, element.symbol, std::nullopt);
    if (first) number.first = (*first)[0];
    if (after) number.after = (*after)[0];
  }
  for (size_t k = 0; k < loop.sizes.size(); ++k) {
    const auto [c, axis] = loop.op.decided[k];
    numbers.push_back(
        {loop.op.most[k], loop.sizes[k].symbol, results[1 + static_cast<size_t>(c)].shape[static_cast<size_t>(axis)]});
  }
  const auto most = ir::most_trips(*body.graph, body.outputs[0], numbers);
  if (most) loop.trips = loop.trips && !is_endless(*loop.trips) ? sym::min(*loop.trips, *most) : *most;
}

/// Imports the body until its types are those of every iteration, and adds the node.
Result<Values> add_loop(ImportContext& cx, LoopDraft& loop, Values inputs, const Captures& captures) {
  constexpr int kMostTries = 64;
  for (int tries = 0;; ++tries) {
    TRY(require(tries < kMostTries, "the extents of carried values do not settle"));
    const ImportedBody body =
        TRY(in_context(cx.bodies().import(loop.body, loop.inputs, captures, loop.skipped), [] { return "body"; }));
    const std::vector<TensorType> results = output_types(body);
    if (TRY(find_changing_extents(cx, loop, results))) continue;
    if (loop.op.tests && !has_bounds(loop)) find_trips(cx, loop, body, inputs, results);
    if (TRY(find_bounds(cx, loop, body, results))) continue;
    TRY(find_stacked_sizes(cx, loop, body, results));
    add_elements(loop, *body.graph);
    inputs.insert(inputs.end(), captures.values.begin(), captures.values.end());
    return cx.add_all(loop.op, inputs, {body.graph}, loop.sizes);
  }
}

/// Whether a body's condition is true whatever it computes.
bool is_always_true(const ImportedBody& body) {
  constexpr int kDeepest = 16;
  const ir::Graph& graph = *body.graph;
  const auto evaluate = [&](auto& self, ValueId value, int depth) -> std::optional<HostTensor> {
    if (const HostTensor* known = graph.constant(value)) return *known;
    const ir::NodeId producer = graph.value(value).producer;
    if (producer == ir::NodeId::kNone || depth == kDeepest) return std::nullopt;
    const ir::Node& node = graph.node(producer);
    if (node.op.has(Trait::kNondeterministic) || !sym::provably_equal(graph.type(value).volume(), 1))
      return std::nullopt;
    std::vector<HostTensor> inputs;
    for (const ValueId input : node.inputs) {
      auto known = input == ValueId::kNone ? std::nullopt : self(self, input, depth + 1);
      if (!known) return std::nullopt;
      inputs.push_back(*std::move(known));
    }
    auto results = run_reference(node.op, inputs);
    return results ? std::optional((*results)[0]) : std::nullopt;
  };
  const auto known = evaluate(evaluate, body.outputs[0], 0);
  return known && known->volume() == 1 && View(*known)[0] != 0;
}

HostTensor bool_of(bool value) { return HostTensor::scalar(DType::kBool, value); }

}  // namespace

Status loop(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const size_t num_carried = cx.num_inputs() > 2 ? cx.num_inputs() - 2 : 0;
  TRY(require(body.inputs.size() == num_carried + 2, "the body has ", body.inputs.size(), " inputs; ", num_carried + 2,
              " are needed for ", num_carried, " carried values"));
  TRY(require(body.outputs.size() > num_carried, "the body has ", body.outputs.size(), " outputs; ", num_carried + 1,
              " are needed at least"));
  TRY(require(cx.num_outputs() > 0 && cx.num_outputs() <= body.outputs.size() - 1, "the node has ", cx.num_outputs(),
              " outputs; its body gives ", body.outputs.size() - 1));
  LoopDraft loop{.body = body};
  loop.op.carried = static_cast<int>(num_carried);
  loop.op.stacks.assign(body.outputs.size() - 1 - num_carried, 1);
  loop.first_carried = 2;
  loop.inputs.push_back({body.inputs[0].name, TensorType(DType::kI64, {}), {}});
  loop.inputs.push_back({body.inputs[1].name, {}, bool_of(true)});  // or the body would not run
  Values inputs(2, ValueId::kNone);
  if (cx.has_input(0)) inputs[0] = TRY(single(cx, 0, "the trip count"));
  if (cx.has_input(1)) {
    inputs[1] = TRY(single(cx, 1, "the condition"));
    const auto known = cx.constant(inputs[1], "");
    if (known && View(*known)[0] != 0) inputs[1] = ValueId::kNone;
  }
  for (size_t c = 0; c < num_carried; ++c) {
    inputs.push_back(TRY(cx.input(2 + c)));
    const TensorType& type = cx.type(inputs.back());
    loop.inputs.push_back({body.inputs[2 + c].name, TensorType(type.dtype, type.shape), {}});
  }
  if (inputs[0] != ValueId::kNone)
    if (const auto count = cx.values(inputs[0], "")) loop.trips = sym::max((*count)[0], 0);
  follow_element(cx, loop, 0, 0);
  for (size_t c = 0; c < num_carried; ++c) follow_element(cx, loop, loop.first_carried + c, static_cast<int>(c) + 1);
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  loop.op.tests = true;
  {  // whether the body ever ends the loop itself does not depend on the types that are about to be found
    const auto first = cx.bodies().import(body, loop.inputs, captures);
    if (first && is_always_true(*first)) loop.op.tests = false, loop.skipped = 1;
  }
  loop.is_exact = loop.trips && inputs[1] == ValueId::kNone && !loop.op.tests;
  const Values outputs = TRY(add_loop(cx, loop, std::move(inputs), captures));
  for (size_t i = 0; i < cx.num_outputs(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

namespace {

/// Brings an axis to the front, or the front to where the axis was.
Result<ValueId> moved_axis(ImportContext& cx, ValueId x, int axis, bool to_front) {
  if (axis == 0) return x;
  std::vector<int64_t> perm(static_cast<size_t>(cx.rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  const auto begin = perm.begin(), end = perm.begin() + axis + 1;
  to_front ? std::rotate(begin, end - 1, end) : std::rotate(begin, begin + 1, end);
  return cx.add(ops::Transpose{perm}, {x});
}

Result<std::vector<int>> directions(ImportContext& cx, std::string_view attribute, size_t count) {
  const std::vector<int64_t> given = TRY(cx.node().get_ints(attribute, std::vector<int64_t>(count, 0)));
  TRY(require(given.size() == count, attribute, " has ", given.size(), " elements; ", count, " are needed"));
  std::vector<int> result;
  for (const int64_t reverse : given) {
    TRY(require(reverse == 0 || reverse == 1, attribute, " has ", reverse, "; 0 and 1 are directions"));
    result.push_back(reverse ? -1 : 1);
  }
  return result;
}

}  // namespace

namespace {

/// What a Scan reads and says, as opset 9 has it: without a batch.
struct ScanInputs {
  Values carried, scanned;  ///< the scanned ones along axis 0
  std::string_view directions;
};

Result<ScanInputs> scan_inputs(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_input_axes", std::vector<int64_t>(num_scanned, 0)));
  TRY(require(axes.size() == num_scanned, "scan_input_axes has ", axes.size(), " elements; ", num_scanned,
              " are needed"));
  ScanInputs result{.directions = "scan_input_directions"};
  for (size_t c = 0; c < num_carried; ++c) result.carried.push_back(TRY(cx.input(c)));
  for (size_t k = 0; k < num_scanned; ++k) {
    const ValueId x = TRY(cx.input(num_carried + k));
    result.scanned.push_back(TRY(moved_axis(cx, x, TRY(cx.axis(axes[k], cx.rank(x))), true)));
  }
  return result;
}

/// Opset 8: an input of lengths comes first, and all values have a batch in front.
Result<ScanInputs> scan_inputs_8(ImportContext& cx, size_t num_carried, size_t num_scanned) {
  if (cx.has_input(0)) return error(Code::kUnsupported, "sequence_lens of Scan of opset 8 is not supported");
  ScanInputs result{.directions = "directions"};
  for (size_t i = 0; i < num_carried + num_scanned; ++i) {
    const ValueId x = TRY(cx.input(1 + i));
    if (cx.rank(x) == 0 || !sym::provably_equal(cx.extent(x, 0), 1))
      return error(Code::kUnsupported, "Scan of opset 8 with a batch of other than 1 (input ", 1 + i, " is ",
                   cx.type(x), ") is not supported; convert the model to opset 9");
    (i < num_carried ? result.carried : result.scanned).push_back(TRY(cx.add(ops::Squeeze{{0}}, {x})));
  }
  return result;
}

}  // namespace

Status scan(ImportContext& cx) {
  const GraphDef& body = TRY(cx.node().need_graph("body"));
  const bool has_batch = cx.opset() < 9;
  const size_t num_inputs = cx.num_inputs() - (has_batch && cx.num_inputs() > 0 ? 1 : 0);
  const int64_t given = TRY(cx.node().need_int("num_scan_inputs"));
  TRY(require(given > 0 && given <= static_cast<int64_t>(num_inputs), "num_scan_inputs is ", given, "; the node has ",
              num_inputs, " inputs"));
  const auto num_scanned = static_cast<size_t>(given);
  const size_t num_carried = num_inputs - num_scanned;
  TRY(require(body.inputs.size() == num_inputs, "the body has ", body.inputs.size(), " inputs; the node has ",
              num_inputs));
  TRY(require(body.outputs.size() >= num_carried && body.outputs.size() == cx.num_outputs(), "the body has ",
              body.outputs.size(), " outputs; the node has ", cx.num_outputs(), " for ", num_carried,
              " carried values"));
  const size_t num_stacked = body.outputs.size() - num_carried;
  const ScanInputs values =
      TRY(has_batch ? scan_inputs_8(cx, num_carried, num_scanned) : scan_inputs(cx, num_carried, num_scanned));
  LoopDraft loop{.body = body};
  loop.op.carried = static_cast<int>(num_carried);
  loop.op.scans = TRY(directions(cx, values.directions, num_scanned));
  loop.op.stacks = TRY(directions(cx, "scan_output_directions", num_stacked));
  loop.first_carried = 1;
  loop.inputs.push_back({"", TensorType(DType::kI64, {}), {}});
  Values inputs(2, ValueId::kNone);
  inputs.insert(inputs.end(), values.carried.begin(), values.carried.end());
  inputs.insert(inputs.end(), values.scanned.begin(), values.scanned.end());
  for (size_t c = 0; c < num_carried; ++c) {
    const TensorType& type = cx.type(values.carried[c]);
    loop.inputs.push_back({body.inputs[c].name, TensorType(type.dtype, type.shape), {}});
  }
  for (size_t k = 0; k < num_scanned; ++k) {
    const TensorType& type = cx.type(values.scanned[k]);
    loop.inputs.push_back(
        {body.inputs[num_carried + k].name, TensorType(type.dtype, {type.shape.begin() + 1, type.shape.end()}), {}});
    if (!loop.trips) loop.trips = type.shape[0];
  }
  loop.is_exact = true;
  for (size_t c = 0; c < num_carried; ++c) follow_element(cx, loop, loop.first_carried + c, static_cast<int>(c) + 1);
  const GraphDef* const bodies[] = {&body};
  const Captures captures = TRY(cx.bodies().captures(bodies));
  const Values outputs = TRY(add_loop(cx, loop, std::move(inputs), captures));
  const std::vector<int64_t> axes = TRY(cx.node().get_ints("scan_output_axes", std::vector<int64_t>(num_stacked, 0)));
  TRY(require(axes.size() == num_stacked, "scan_output_axes has ", axes.size(), " elements; ", num_stacked,
              " are needed"));
  for (size_t i = 0; i < cx.num_outputs(); ++i) {
    if (!cx.wants(i)) continue;
    ValueId y = outputs[i];
    if (i >= num_carried) y = TRY(moved_axis(cx, y, TRY(cx.axis(axes[i - num_carried], cx.rank(y))), false));
    if (has_batch) y = TRY(cx.add(ops::Unsqueeze{{0}}, {y}));
    TRY(cx.output(i, y));
  }
  return {};
}

}  // namespace importers
}  // namespace kiln::onnx
