#include "passes/structure_regions.h"

#include <algorithm>
#include <map>

#include "ir/bodies.h"
#include "ir/loop_draft.h"
#include "ops/dim_values.h"
#include "ops/if.h"
#include "ops/loop_iterator.h"
#include "ops/loop_output.h"
#include "ops/loop_recurrence.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "passes/regions.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

/// Makes the graphs of regions out of the network's nodes.
class Maker {
 public:
  Maker(const ir::Graph& network, const Regions& regions) : network_(network), regions_(regions) {}
  Result<ir::Graph> run();

 private:
  /// A graph that is being made, and where values of the network are in it.
  struct Scope {
    ir::Graph& graph;
    bool is_body = false;
    std::map<ValueId, ValueId> places = {};
  };

  const ir::Node& node(NodeId id) const { return network_.node(id); }
  const std::string& name(ValueId value) const { return network_.value(value).name; }
  ValueId place_of(Scope& scope, ValueId value) const;
  void put(Scope& scope, ValueId value, ValueId place) const;
  Status fill(Scope& scope, const RegionBody& body);
  Status add_node(Scope& scope, NodeId id) const;
  std::vector<ValueId> captured(Scope& scope, const Region& region) const;
  Result<std::shared_ptr<ir::Graph>> make_body(Scope& around, const Region& region, const RegionBody& body,
                                               std::span<const ValueId> own, std::span<const TensorType> types);

  Status add_conditional(Scope& scope, const Region& region);
  Status add_loop(Scope& scope, const Region& region);
  Status check_ends(const Region& region) const;
  Status find_trips(Scope& scope, const Region& region, ir::LoopDraft& loop) const;
  Result<std::vector<ValueId>> loop_inputs(Scope& scope, const Region& region, ir::LoopDraft& loop) const;
  Status find_lengths(Scope& scope, const Region& region, ir::LoopDraft& loop) const;
  Result<ValueId> stacked_output(ir::Graph& graph, ValueId stacked, const ops::LoopOutput& output, sym::Expr length,
                                 bool is_reversed) const;

  const ir::Graph& network_;
  const Regions& regions_;
  ir::LoopHistory history_;
};

/// Elements of a shape tensor; fails where they are data.
Result<sym::Expr> element(const ir::Graph& graph, ValueId value) {
  if (const auto& values = graph.type(value).values) return (*values)[0];
  if (const HostTensor* known = graph.constant(value)) return sym::Expr(View(*known).integer(0));
  return error(
      Code::kInvalidArgument, "'", graph.value(value).name,
      "' must be known before the loop runs, from constants, shapes or shape inputs; it is computed from data");
}

bool is_known(const ir::Graph& graph, ValueId value) { return graph.type(value).values || graph.constant(value); }

int from_front(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// Whether a group runs for its assertions alone and gives nothing. It gets a result then, for each node has one.
bool needs_result(const Region& region) {
  return region.outputs.empty() && (region.kind == Region::Kind::kConditional || region.recurrences.empty());
}

ValueId add_true(ir::Graph& graph) { return graph.add_constant(HostTensor::scalar(DType::kBool, 1)); }

/// Where a value of the network is. Each graph has copies of the constants that it reads.
ValueId Maker::place_of(Scope& scope, ValueId given) const {
  const ValueId value = without_if_inputs(network_, given);
  if (value == ValueId::kNone) return value;
  if (const auto found = scope.places.find(value); found != scope.places.end()) return found->second;
  const auto* constant = network_.producer_as<ops::Constant>(value);
  CHECK(constant != nullptr);
  const ValueId copy = scope.graph.add_constant(*constant, name(value));
  const NodeId producer = scope.graph.value(copy).producer;
  const ir::Node& original = node(network_.value(value).producer);
  scope.graph.set_name(producer, original.name);
  scope.graph.set_provenance(producer, original.provenance);
  scope.graph.add_taps(copy, network_.value(value));
  return scope.places[value] = copy;
}

void Maker::put(Scope& scope, ValueId value, ValueId place) const {
  scope.places[value] = place;
  if (scope.graph.value(place).name.empty()) scope.graph.set_name(place, name(value));
  scope.graph.add_taps(place, network_.value(value));
}

Status Maker::fill(Scope& scope, const RegionBody& body) {
  for (const Unit& unit : body.units) {
    if (unit.group < 0) {
      TRY(in_context(add_node(scope, unit.node),
                     [&] { return str(node(unit.node).op.name(), " '", node(unit.node).name, "'"); }));
      continue;
    }
    const Region& region = regions_.groups[static_cast<size_t>(unit.group)];
    if (region.outputs.empty() && !region.has_assertions && !region.is_watched) continue;
    TRY(in_context(region.kind == Region::Kind::kLoop ? add_loop(scope, region) : add_conditional(scope, region),
                   [&] { return region.name; }));
  }
  return {};
}

/// Copies a node. Outside of bodies it keeps the symbols of the sizes that it decides, since attributes may have them;
/// a body that is made more than once has new ones each time.
Status Maker::add_node(Scope& scope, NodeId id) const {
  const ir::Node& n = node(id);
  std::vector<ValueId> inputs;
  for (const ValueId input : n.inputs) inputs.push_back(place_of(scope, input));
  std::vector<std::shared_ptr<ir::Graph>> bodies;
  for (const auto& body : n.bodies) bodies.push_back(std::make_shared<ir::Graph>(body->clone()));
  const bool keeps_sizes = !scope.is_body || !bodies.empty();
  const std::vector<ValueId> outputs =
      TRY(scope.graph.add(n.op, inputs, n.name, std::move(bodies), keeps_sizes ? n.sizes : std::vector<DecidedSize>()));
  scope.graph.set_provenance(static_cast<NodeId>(scope.graph.num_nodes() - 1), n.provenance);
  for (size_t i = 0; i < outputs.size(); ++i) put(scope, n.outputs[i], outputs[i]);
  return {};
}

std::vector<ValueId> Maker::captured(Scope& scope, const Region& region) const {
  std::vector<ValueId> result;
  for (const ValueId value : region.captures) result.push_back(place_of(scope, value));
  return result;
}

/// A body whose inputs are values of the network of these types (kNone: of none, and nobody reads it), then captures.
Result<std::shared_ptr<ir::Graph>> Maker::make_body(Scope& around, const Region& region, const RegionBody& body,
                                                    std::span<const ValueId> own, std::span<const TensorType> types) {
  auto graph = around.graph.new_body();
  Scope scope{.graph = *graph, .is_body = true};
  for (size_t i = 0; i < own.size(); ++i) {
    const bool is_number = own[i] == ValueId::kNone;
    const ValueId input = graph->add_input(is_number ? i == 0 ? "iteration" : "result" : name(own[i]), types[i]);
    if (is_number) continue;
    scope.places[own[i]] = input;
    graph->add_taps(input, network_.value(own[i]));
  }
  for (const ValueId value : region.captures)
    scope.places[value] = graph->add_input(name(value), around.graph.type(place_of(around, value)));
  TRY(fill(scope, body));
  for (size_t i = 0; i < body.results.size(); ++i)
    graph->mark_output(place_of(scope, body.results[i]), str("result_", i));  // one without a name would be nobody's
  if (body.results.empty() && needs_result(region)) graph->mark_output(add_true(*graph), "result_0");
  return graph;
}

/// The layers that a node of a group stands for.
std::vector<std::string> provenance_of(const Region& region) { return {region.name}; }

Status Maker::add_conditional(Scope& scope, const Region& region) {
  const ValueId condition = place_of(scope, node(region.condition).inputs[0]);
  TRY(require(scope.graph.type(condition).dtype == DType::kBool, "the condition is ", scope.graph.type(condition),
              "; one boolean is needed"));
  ir::Bodies bodies;
  for (const RegionBody& branch : region.bodies) {
    const bool is_first = bodies.empty();
    bodies.push_back(TRY(in_context(make_body(scope, region, branch, {}, {}),
                                    [&] { return is_first ? "branch for true" : "branch for false"; })));
  }
  const ops::If op{.outputs = std::max(static_cast<int>(region.outputs.size()), 1),
                   .decided = TRY(ops::differing_axes(ir::output_types(*bodies[0]), ir::output_types(*bodies[1])))};
  std::vector<ValueId> inputs = captured(scope, region);
  inputs.insert(inputs.begin(), condition);
  const std::vector<ValueId> outputs = TRY(scope.graph.add(op, inputs, region.label, std::move(bodies)));
  scope.graph.set_provenance(static_cast<NodeId>(scope.graph.num_nodes() - 1), provenance_of(region));
  for (size_t i = 0; i < region.outputs.size(); ++i) put(scope, node(region.outputs[i]).outputs[0], outputs[i]);
  return {};
}

/// Fails for a loop that only a condition ends, where no iteration changes that condition.
Status Maker::check_ends(const Region& region) const {
  if (region.count != NodeId::kNone || !region.iterators.empty()) return {};
  const RegionBody& test = region.bodies.back();
  const auto is_carried = [&](NodeId id) { return node(id).outputs[0] == test.results[0]; };
  return require(!test.units.empty() || std::ranges::any_of(region.recurrences, is_carried),
                 "nothing ends the loop: its condition '", name(test.results[0]),
                 "' is computed outside of it, so it is the same in each iteration");
}

/// How often the loop runs, as far as that is known.
Status Maker::find_trips(Scope& scope, const Region& region, ir::LoopDraft& loop) const {
  TRY(check_ends(region));
  if (region.count != NodeId::kNone) {
    const ValueId count = place_of(scope, node(region.count).inputs[0]);
    const TensorType& type = scope.graph.type(count);
    TRY(require(is_index(type.dtype), "the trip limit of kind kCOUNT is ", type,
                "; one element of type i32 or i64 is needed"));
    if (is_known(scope.graph, count)) loop.trips = sym::max(TRY(element(scope.graph, count)), 0);
  }
  loop.is_exact = loop.trips && region.test == NodeId::kNone;
  if (loop.is_exact) return {};
  for (const NodeId id : region.iterators) {
    const TensorType& type = scope.graph.type(place_of(scope, node(id).inputs[0]));
    const int axis = from_front(node(id).op.as<ops::LoopIterator>()->axis, type.rank());
    if (axis < 0 || axis >= type.rank()) continue;  // which adding it tells
    const sym::Expr extent = type.shape[static_cast<size_t>(axis)];
    loop.trips = loop.trips ? sym::min(*loop.trips, extent) : extent;
  }
  return {};
}

/// The node's inputs in front of the captures; the draft gets the body's.
Result<std::vector<ValueId>> Maker::loop_inputs(Scope& scope, const Region& region, ir::LoopDraft& loop) const {
  ir::Graph& graph = scope.graph;
  std::vector<ValueId> inputs(2, ValueId::kNone);
  if (region.count != NodeId::kNone) inputs[0] = place_of(scope, node(region.count).inputs[0]);
  loop.inputs.emplace_back(DType::kI64, Shape{});
  for (const NodeId id : region.recurrences) {
    inputs.push_back(place_of(scope, node(id).inputs[0]));
    const TensorType& type = graph.type(inputs.back());
    const bool is_number =
        is_index(type.dtype) && sym::provably_equal(type.volume(), 1) && is_known(graph, inputs.back());
    loop.first_elements.push_back(is_number ? std::optional(TRY(element(graph, inputs.back()))) : std::nullopt);
    loop.names.push_back(node(id).name);
    loop.inputs.emplace_back(type.dtype, type.shape);
  }
  if (needs_result(region)) {
    inputs.push_back(add_true(graph));
    loop.first_elements.emplace_back();
    loop.names.push_back(region.label);
    loop.inputs.emplace_back(DType::kBool, Shape{});
  }
  loop.op.carried = static_cast<int>(loop.names.size());
  for (const NodeId id : region.iterators) {
    const auto& iterator = *node(id).op.as<ops::LoopIterator>();
    ValueId x = place_of(scope, node(id).inputs[0]);
    const int rank = graph.type(x).rank(), axis = from_front(iterator.axis, rank);
    TRY(require(axis >= 0 && axis < rank, "layer '", node(id).name, "' (LoopIterator): axis ", iterator.axis,
                " is outside [", -rank, ", ", rank, ") of ", graph.type(x)));
    if (axis > 0) x = TRY(graph.add_one(ops::Transpose{axis_to_front(rank, axis)}, {x}, node(id).name));
    inputs.push_back(x);
    const TensorType& type = graph.type(x);
    loop.inputs.emplace_back(type.dtype, Shape(type.shape.begin() + 1, type.shape.end()));
    loop.op.scans.push_back(iterator.reverse ? -1 : 1);
  }
  for (size_t i = 1; i < loop.inputs.size(); ++i) ir::follow_element(graph.table(), loop, static_cast<int>(i));
  return inputs;
}

/// The outputs that concatenate, and how long they are.
Status Maker::find_lengths(Scope& scope, const Region& region, ir::LoopDraft& loop) const {
  for (const NodeId id : region.outputs) {
    const auto& output = *node(id).op.as<ops::LoopOutput>();
    if (output.kind == LoopOutputKind::kLastValue) continue;
    const auto where = [&] { return str("layer '", node(id).name, "' (LoopOutput)"); };
    TRY(in_context(
        require(node(id).input(1) != ValueId::kNone, "a concatenated output needs its length: setInput(1, length)"),
        where));
    loop.lengths.emplace_back(TRY(in_context(element(scope.graph, place_of(scope, node(id).inputs[1])), where)));
    const sym::Expr length = *loop.lengths.back();
    TRY(in_context(require(!loop.is_exact || !sym::provably_less(length, *loop.trips), "the length is ", length,
                           ", and the loop runs ", *loop.trips, " times"),
                   where));
    // Results are stacked in reverse only if their number is known when the loop begins.
    loop.op.stacks.push_back(output.kind == LoopOutputKind::kReverse && loop.is_exact ? -1 : 1);
  }
  return {};
}

/// What an output gives of results that were stacked along axis 0: as many as its length has, its axis where it is to
/// be.
Result<ValueId> Maker::stacked_output(ir::Graph& graph, ValueId stacked, const ops::LoopOutput& output,
                                      sym::Expr length, bool is_reversed) const {
  ValueId y = stacked;
  const TensorType type = graph.type(stacked);
  const sym::Expr count = type.shape[0];
  const bool reverses = output.kind == LoopOutputKind::kReverse && !is_reversed;
  if (reverses || !sym::provably_equal(count, length)) {
    const auto number = [&](sym::Expr e) -> Result<ValueId> {
      return graph.add_one(ops::DimValues{{e}, DType::kI64, {1}}, std::span<const ValueId>{});
    };
    const ops::Slice slice{
        .starts = {}, .sizes = {}, .strides = {reverses ? -1 : 1}, .axes = {0}, .mode = SliceMode::kFill};
    const ValueId start = TRY(number(reverses ? count - 1 : 0)), size = TRY(number(length));
    y = TRY(graph.add_one(slice, {y, start, size}));
  }
  const int axis = from_front(output.axis, type.rank());
  TRY(require(axis >= 0 && axis < type.rank(), "axis ", output.axis, " is outside [", -type.rank(), ", ", type.rank(),
              ") of the output of rank ", type.rank()));
  return axis == 0 ? Result<ValueId>(y) : graph.add_one(ops::Transpose{front_to_axis(type.rank(), axis)}, {y});
}

Status Maker::add_loop(Scope& scope, const Region& region) {
  ir::LoopDraft loop;
  TRY(find_trips(scope, region, loop));
  std::vector<ValueId> inputs = TRY(loop_inputs(scope, region, loop));
  TRY(find_lengths(scope, region, loop));
  std::vector<ValueId> own{ValueId::kNone};
  for (const NodeId id : region.recurrences) own.push_back(node(id).outputs[0]);
  if (needs_result(region)) own.push_back(ValueId::kNone);
  for (const NodeId id : region.iterators) own.push_back(node(id).outputs[0]);
  const auto make = [&](std::span<const TensorType> types) -> Result<ir::Bodies> {
    ir::Bodies bodies;
    for (const RegionBody& body : region.bodies) bodies.push_back(TRY(make_body(scope, region, body, own, types)));
    return bodies;
  };
  ir::Graph& graph = scope.graph;
  ir::Bodies bodies = TRY(ir::settle_bodies(graph.table(), loop, history_, &region, make));
  const std::vector<ValueId> captures = captured(scope, region);
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  const std::vector<ValueId> results = TRY(graph.add(loop.op, inputs, region.label, std::move(bodies), loop.sizes));
  graph.set_provenance(static_cast<NodeId>(graph.num_nodes() - 1), provenance_of(region));
  size_t stacked = 0;
  for (const NodeId id : region.outputs) {
    const auto& output = *node(id).op.as<ops::LoopOutput>();
    if (output.kind == LoopOutputKind::kLastValue) {
      const NodeId recurrence = network_.value(node(id).inputs[0]).producer;
      const auto at = std::ranges::find(region.recurrences, recurrence) - region.recurrences.begin();
      put(scope, node(id).outputs[0], results[static_cast<size_t>(at)]);
      continue;
    }
    const int first_new = graph.num_nodes();
    const ValueId result = results[region.recurrences.size() + stacked];
    const ValueId y =
        TRY(in_context(stacked_output(graph, result, output, *loop.lengths[stacked], loop.op.stacks[stacked] < 0),
                       [&] { return str("layer '", node(id).name, "' (LoopOutput)"); }));
    if (y != result && graph.value(result).name.empty()) graph.set_name(result, node(id).name);
    for (int i = first_new; i < graph.num_nodes(); ++i) {
      graph.set_name(static_cast<NodeId>(i), node(id).name);
      graph.set_provenance(static_cast<NodeId>(i), node(id).provenance);
    }
    put(scope, node(id).outputs[0], y);
    ++stacked;
  }
  return {};
}

Result<ir::Graph> Maker::run() {
  ir::Graph graph(network_.shared_table());
  Scope scope{.graph = graph};
  for (const ValueId input : network_.inputs()) {
    scope.places[input] = graph.add_input(name(input), network_.type(input));
    graph.add_taps(scope.places[input], network_.value(input));
  }
  TRY(fill(scope, regions_.network));
  for (const ir::Output& output : network_.outputs()) graph.mark_output(place_of(scope, output.value), output.name);
  return graph;
}

}  // namespace

bool has_regions(const ir::Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (graph.alive(id) && group_of(graph.node(id).op)) return true;
  }
  return false;
}

Result<ir::Graph> structure_regions(const ir::Graph& network, std::span<const std::string> names) {
  const Regions regions = TRY(find_regions(network, names));
  return Maker(network, regions).run();
}

}  // namespace kiln::passes
