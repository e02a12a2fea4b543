#include "builder/specialize.h"

#include <algorithm>
#include <set>

#include "builder/profile_bounds.h"
#include "ir/copy.h"
#include "ir/shape_tensors.h"
#include "sym/real.h"

namespace kiln {
namespace {

std::string axis_name(const ir::Value& input, size_t axis) { return str("input '", input.name, "', axis ", axis); }

Status check_range(const plan::InputRange& range, size_t rank, std::string_view name) {
  TRY(require(range.min.size() == rank && range.opt.size() == rank && range.max.size() == rank, "input '", name,
              "': the profile gives ", range.min.size(), " extents; the input has rank ", rank));
  for (size_t axis = 0; axis < rank; ++axis)
    TRY(require(0 <= range.min[axis] && range.min[axis] <= range.opt[axis] && range.opt[axis] <= range.max[axis],
                "input '", name, "', axis ", axis, ": minimum ", range.min[axis], ", optimum ", range.opt[axis],
                " and maximum ", range.max[axis], " are not in order"));
  return {};
}

TensorType substituted(const TensorType& type, const Replacements& replacements) {
  TensorType result = type;
  for (sym::Expr& extent : result.shape) extent = sym::substitute(extent, replacements);
  if (!type.values) return result;
  SymbolicValues values = *type.values;
  for (sym::Expr& value : values) value = sym::substitute(value, replacements);
  result.values = std::make_shared<const SymbolicValues>(std::move(values));
  return result;
}

Status narrow_values(const ir::Value& input, const ProfileRequest& profile, ProfileBounds& bounds) {
  const auto found = profile.values.find(input.name);
  if (found == profile.values.end() || !input.type.values) return {};
  const SymbolicValues& symbols = *input.type.values;
  const plan::InputRange& range = found->second;
  TRY(require(
      range.min.size() == symbols.size() && range.opt.size() == symbols.size() && range.max.size() == symbols.size(),
      "shape input '", input.name, "': the profile gives ", range.min.size(), " values; it has ", symbols.size()));
  for (size_t k = 0; k < symbols.size(); ++k)
    TRY(bounds.narrow(sym::integer_of(symbols[k]), range.min[k], range.opt[k], range.max[k],
                      str("shape input '", input.name, "'")));
  return {};
}

/// The inputs that are shape tensors with values, and that the profile does not mention.
std::set<ir::ValueId> shape_inputs(const ir::Graph& network, const ProfileRequest& profile) {
  const auto is_open = [&](ir::ValueId id) {
    return network.type(id).values && !profile.values.contains(network.value(id).name);
  };
  if (std::ranges::none_of(network.inputs(), is_open)) return {};
  ir::Graph copy = network.clone();  // the question may have to infer
  const std::vector<ir::ValueId> inputs = ir::shape_inputs(copy);
  return {inputs.begin(), inputs.end()};
}

}  // namespace

Result<std::vector<plan::InputRange>> extent_ranges(const ir::Graph& network, const ProfileRequest& profile) {
  std::vector<plan::InputRange> result;
  for (const ir::ValueId id : network.inputs()) {
    const ir::Value& input = network.value(id);
    const auto found = profile.extents.find(input.name);
    if (found != profile.extents.end()) {
      TRY(check_range(found->second, input.type.shape.size(), input.name));
      for (size_t axis = 0; axis < input.type.shape.size(); ++axis) {
        const auto fixed = input.type.shape[axis].constant();
        TRY(require(!fixed || (*fixed == found->second.min[axis] && *fixed == found->second.max[axis]),
                    axis_name(input, axis), " is ", fixed.value_or(0), " in the network; the profile has [",
                    found->second.min[axis], ", ", found->second.max[axis], "]"));
      }
      result.push_back(found->second);
      continue;
    }
    plan::InputRange range;
    for (size_t axis = 0; axis < input.type.shape.size(); ++axis) {
      const auto fixed = input.type.shape[axis].constant();
      TRY(require(fixed.has_value(), axis_name(input, axis), " is dynamic (", input.type.shape[axis],
                  ") and no optimization profile gives its range: IOptimizationProfile::setDimensions sets it"));
      range.min.push_back(*fixed);
    }
    range.opt = range.max = range.min;
    result.push_back(std::move(range));
  }
  return result;
}

namespace {

std::shared_ptr<ir::Graph> narrowed_body(const ir::Graph& body, const ir::Graph& around,
                                         const Replacements& replacements);

/// Copies the nodes and outputs of `from`, whose inputs have their places in `places`. Nothing is inferred.
Status copy_nodes(const ir::Graph& from, ir::Graph& to, ir::Places places, const Replacements& replacements) {
  for (const ir::NodeId id : TRY(from.topological_order())) {
    const ir::Node& node = from.node(id);
    const ir::NodeId copy =
        ir::copy_node(to, from, id, substitute(node.op, replacements), ir::placed(places, node.inputs));
    std::vector<std::shared_ptr<ir::Graph>> bodies;
    for (const auto& body : node.bodies) bodies.push_back(narrowed_body(*body, to, replacements));
    to.set_bodies(copy, std::move(bodies));
    std::vector<DecidedSize> sizes = node.sizes;
    for (DecidedSize& size : sizes) size.symbol = sym::substitute(size.symbol, replacements);
    to.set_sizes(copy, std::move(sizes));
    for (size_t i = 0; i < node.outputs.size(); ++i) places[ir::index(node.outputs[i])] = to.node(copy).outputs[i];
  }
  for (const ir::Output& output : from.outputs())
    to.mark_output(places[ir::index(output.value)], output.name, output.tap);
  return {};
}

/// A copy of a body for a node of `around`. Its inputs get their types when that node is inferred.
std::shared_ptr<ir::Graph> narrowed_body(const ir::Graph& body, const ir::Graph& around,
                                         const Replacements& replacements) {
  std::shared_ptr<ir::Graph> copy = around.new_body();
  ir::Places places(static_cast<size_t>(body.num_values()), ir::ValueId::kNone);
  for (const ir::ValueId id : body.inputs()) {
    places[ir::index(id)] = copy->add_input(body.value(id).name, substituted(body.type(id), replacements));
    copy->add_taps(places[ir::index(id)], body.value(id));
  }
  CHECK(copy_nodes(body, *copy, std::move(places), replacements).has_value());  // the body was inferred: no cycle
  return copy;
}

/// A copy of the network under these bounds, its types inferred anew.
Result<ir::Graph> narrowed(const ir::Graph& network, const ProfileRequest& profile, const ProfileBounds& bounds) {
  ir::Graph graph;
  graph.allow_impossible_branches();
  const Replacements replacements = bounds.replacements(*network.shared_table(), graph.table());
  const std::set<ir::ValueId> of_shapes = shape_inputs(network, profile);
  ir::Places places(static_cast<size_t>(network.num_values()), ir::ValueId::kNone);
  for (const ir::ValueId id : network.inputs()) {
    TensorType type = substituted(network.type(id), replacements);
    if (type.values && !profile.values.contains(network.value(id).name) && !of_shapes.contains(id))
      type.values = nullptr;  // data like any other: the host must not wait for it
    places[ir::index(id)] = graph.add_input(network.value(id).name, std::move(type));
    graph.add_taps(places[ir::index(id)], network.value(id));
  }
  TRY(copy_nodes(network, graph, std::move(places), replacements));
  TRY(graph.infer());
  return graph;
}

}  // namespace

Result<ProfileGraph> specialize(const ir::Graph& network, const ProfileRequest& profile) {
  const std::vector<plan::InputRange> ranges = TRY(extent_ranges(network, profile));
  ProfileBounds bounds(*network.shared_table(), ir::decided_symbols(network));
  for (size_t i = 0; i < ranges.size(); ++i) {
    const ir::Value& input = network.value(network.inputs()[i]);
    for (size_t axis = 0; axis < input.type.shape.size(); ++axis)
      if (input.type.shape[axis].is_symbol())
        TRY(bounds.narrow(input.type.shape[axis], ranges[i].min[axis], ranges[i].opt[axis], ranges[i].max[axis],
                          axis_name(input, axis)));
    TRY(narrow_values(input, profile, bounds));
  }
  ProfileGuards guards(network, bounds);
  // The loop ends. Each round but the last joins two symbols, replaces one by a constant, or limits one from above or
  // below. A symbol that is joined or replaced stands in no inferred type, and no assumption names it again; one that
  // is limited is so once a side. So there are at most three rounds a symbol, and the last one.
  const size_t num_symbols = network.shared_table()->symbols().size();
  for (size_t round = 0;; ++round) {
    CHECK(round <= 3 * num_symbols);
    ir::Graph graph = TRY(narrowed(network, profile, bounds));
    if (round == 0) TRY(guards.add(network, bounds));  // assumptions that clones of the network added to its table
    TRY(guards.add(graph, bounds));
    const bool has_united = TRY(bounds.unite(graph.assumptions()));
    if (bounds.limit(graph.assumptions()) || has_united) continue;
    make_optimum_agree(graph.table(), graph.assumptions());
    return ProfileGraph{std::move(graph), std::move(bounds), std::move(guards)};
  }
}

}  // namespace kiln
