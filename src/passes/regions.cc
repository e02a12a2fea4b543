#include "passes/regions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ops/constant.h"
#include "ops/if_condition.h"
#include "ops/if_input.h"
#include "ops/if_output.h"
#include "ops/loop_iterator.h"
#include "ops/loop_output.h"
#include "ops/loop_recurrence.h"
#include "ops/loop_trip_limit.h"

namespace kiln::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

bool is_of_loop(const Op& op) {
  return op.as<ops::LoopTripLimit>() || op.as<ops::LoopRecurrence>() || op.as<ops::LoopIterator>() ||
         op.as<ops::LoopOutput>();
}

/// Whether values begin to be inside the boundary's group behind it.
bool is_entry(const Op& op) {
  return op.as<ops::LoopRecurrence>() || op.as<ops::LoopIterator>() || op.as<ops::IfInput>();
}

class BodyWalk;

class Finder {
 public:
  Finder(const ir::Graph& graph, std::span<const std::string> names) : graph_(graph), names_(names) {}
  Result<Regions> run();

 private:
  struct Group {
    int id = 0;
    std::vector<NodeId> boundaries;
    std::vector<bool> reached;  ///< by node: computed from what enters the group
    bool is_closed = false;
  };

  const ir::Node& node(NodeId id) const { return graph_.node(id); }
  std::string layer(NodeId id) const { return str("layer '", node(id).name, "' (", node(id).op.name(), ")"); }
  int num_groups() const { return static_cast<int>(groups_.size()); }
  Region& region(int group) { return regions_.groups[static_cast<size_t>(group)]; }

  Status collect_groups();
  Status add_boundary(int group, NodeId id);
  void reach(int group);
  Status nest();
  Result<int> innermost(std::span<const int> around, const std::string& what) const;
  bool is_inside(ValueId value, int group) const;
  Status check_outside(ValueId value, int group, std::string_view what) const;
  Status check_outputs() const;
  Status check_loop(int group);
  Status check_conditional(int group);

  friend class BodyWalk;
  std::optional<Unit> unit_of(ValueId value, int level);
  Result<std::vector<ValueId>> inputs_of(const Unit& unit);
  Status close(int group);
  Status close_loop(int group);
  Status close_conditional(int group);
  void find_assertions();
  std::vector<Unit> assertions_in(int group) const;
  void find_watched();
  std::vector<ValueId>& watched(int level) { return watched_[static_cast<size_t>(level + 1)]; }
  std::vector<Unit> watched_groups_in(int group) const;
  void add_needs(int group);
  std::string text(const Unit& unit) const {
    return unit.group >= 0 ? regions_.groups[static_cast<size_t>(unit.group)].name : layer(unit.node);
  }

  const ir::Graph& graph_;
  const std::span<const std::string> names_;
  Regions regions_;
  std::vector<Group> groups_;
  std::vector<int> boundary_of_;  ///< by node: the group that it is a boundary of, or -1
  std::vector<int> home_;         ///< by node: the innermost group that it is in, or -1; of a boundary: its own group
  std::vector<std::vector<ValueId>> watched_;  ///< by level + 1: values that are made there to be watched
};

Status Finder::add_boundary(int group, NodeId id) {
  Region& r = region(group);
  const Op& op = node(id).op;
  const auto kind = is_of_loop(op) ? Region::Kind::kLoop : Region::Kind::kConditional;
  if (groups_[static_cast<size_t>(group)].boundaries.empty()) {
    r.kind = kind;
    const auto number = static_cast<size_t>(groups_[static_cast<size_t>(group)].id);
    r.label = number < names_.size() ? names_[number] : str(number);
    r.name = str(kind == Region::Kind::kLoop ? "loop '" : "conditional '", r.label, "'");
  }
  TRY(require(r.kind == kind, layer(id), " is of ", r.name));
  groups_[static_cast<size_t>(group)].boundaries.push_back(id);
  const auto take = [&](NodeId& place, std::string_view what) -> Status {
    TRY(require(place == NodeId::kNone, r.name, " has two ", what, ": ", place == NodeId::kNone ? "" : layer(place),
                " and ", layer(id)));
    place = id;
    return {};
  };
  if (const auto* limit = op.as<ops::LoopTripLimit>())
    return limit->limit == TripLimit::kCount ? take(r.count, "trip limits of kind kCOUNT")
                                             : take(r.test, "trip limits of kind kWHILE");
  if (op.as<ops::IfCondition>()) return take(r.condition, "conditions");
  return {};
}

Status Finder::collect_groups() {
  boundary_of_.assign(static_cast<size_t>(graph_.num_nodes()), -1);
  for (int i = 0; i < graph_.num_nodes(); ++i) {
    const auto id = static_cast<NodeId>(i);
    const auto of = graph_.alive(id) ? group_of(node(id).op) : std::nullopt;
    if (!of) continue;
    auto found = std::ranges::find(groups_, *of, &Group::id);
    if (found == groups_.end()) {
      found = groups_.insert(groups_.end(), Group{.id = *of, .boundaries = {}, .reached = {}});
      regions_.groups.emplace_back();
    }
    const int group = static_cast<int>(found - groups_.begin());
    boundary_of_[ir::index(id)] = group;
    TRY(add_boundary(group, id));
  }
  return {};
}

/// Flags the nodes that are computed from what enters the group, up to its own boundaries. A group that one of them
/// enters is computed from them as a whole.
void Finder::reach(int group) {
  std::vector<bool>& reached = groups_[static_cast<size_t>(group)].reached;
  reached.assign(static_cast<size_t>(graph_.num_nodes()), false);
  std::vector<NodeId> pending;
  const auto expand = [&](NodeId id) {
    for (const ValueId output : node(id).outputs)
      for (const NodeId user : graph_.value(output).users) pending.push_back(user);
  };
  for (const NodeId id : groups_[static_cast<size_t>(group)].boundaries)
    if (is_entry(node(id).op)) expand(id);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (reached[ir::index(id)]) continue;
    reached[ir::index(id)] = true;
    const int other = boundary_of_[ir::index(id)];
    if (other == group) continue;
    expand(id);
    if (other >= 0)
      for (const NodeId boundary : groups_[static_cast<size_t>(other)].boundaries) pending.push_back(boundary);
  }
}

/// The one of some groups, all of which are around something, that is in all others; -1 if there are none.
Result<int> Finder::innermost(std::span<const int> around, const std::string& what) const {
  if (around.empty()) return -1;
  const auto is_in = [&](int inner, int outer) {
    const auto& reached = groups_[static_cast<size_t>(outer)].reached;
    return inner == outer || std::ranges::any_of(groups_[static_cast<size_t>(inner)].boundaries,
                                                 [&](NodeId id) { return reached[ir::index(id)]; });
  };
  for (const int candidate : around)
    if (std::ranges::all_of(around, [&](int other) { return is_in(candidate, other); })) return candidate;
  return error(Code::kInvalidArgument, what, " reads values of ", regions_.groups[static_cast<size_t>(around[0])].name,
               " and of ", regions_.groups[static_cast<size_t>(around[1])].name,
               ", neither of which is inside the other: a value leaves a loop by addLoopOutput, and a conditional by "
               "addOutput");
}

Status Finder::nest() {
  const auto reached = [&](int outer, NodeId id) {
    return static_cast<bool>(groups_[static_cast<size_t>(outer)].reached[ir::index(id)]);
  };
  const auto is_in = [&](int inner, int outer) {
    return std::ranges::any_of(groups_[static_cast<size_t>(inner)].boundaries,
                               [&](NodeId id) { return reached(outer, id); });
  };
  for (int g = 0; g < num_groups(); ++g) {
    std::vector<int> around;
    for (int other = 0; other < num_groups(); ++other) {
      if (other == g || !is_in(g, other)) continue;
      TRY(require(!is_in(other, g), region(g).name, " and ", region(other).name,
                  " read values of each other: one has to be inside the other, and a value leaves a loop by "
                  "addLoopOutput, and a conditional by addOutput"));
      around.push_back(other);
    }
    region(g).parent = TRY(innermost(around, region(g).name));
  }
  home_ = boundary_of_;
  for (size_t i = 0; i < home_.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    if (!graph_.alive(id) || home_[i] >= 0) continue;
    std::vector<int> around;
    for (int g = 0; g < num_groups(); ++g)
      if (reached(g, id)) around.push_back(g);
    home_[i] = TRY(innermost(around, layer(id)));
  }
  return {};
}

bool Finder::is_inside(ValueId value, int group) const {
  const NodeId producer = graph_.value(value).producer;
  return producer != NodeId::kNone && (groups_[static_cast<size_t>(group)].reached[ir::index(producer)] ||
                                       boundary_of_[ir::index(producer)] == group);
}

Status Finder::check_outside(ValueId value, int group, std::string_view what) const {
  return require(!is_inside(value, group), what, " of ", regions_.groups[static_cast<size_t>(group)].name, " ('",
                 graph_.value(value).name, "') is computed inside it; it has to come from outside");
}

/// An output of the network is in no group.
Status Finder::check_outputs() const {
  for (const ir::Output& output : graph_.outputs()) {
    const NodeId producer = graph_.value(output.value).producer;
    if (producer == NodeId::kNone) continue;
    int group = home_[ir::index(producer)];
    if (boundary_of_[ir::index(producer)] >= 0 && !is_entry(node(producer).op))
      group = regions_.groups[static_cast<size_t>(group)].parent;
    if (group < 0) continue;
    const Region& around = regions_.groups[static_cast<size_t>(group)];
    return error(Code::kInvalidArgument, "output '", output.name, "' of the network is inside ", around.name,
                 "; a value leaves it by ",
                 around.kind == Region::Kind::kLoop ? "ILoop::addLoopOutput" : "IIfConditional::addOutput");
  }
  return {};
}

Status Finder::check_loop(int group) {
  Region& r = region(group);
  TRY(require(r.count != NodeId::kNone || r.test != NodeId::kNone, r.name,
              " has no trip limit: ILoop::addTripLimit says how often it runs"));
  if (r.count != NodeId::kNone) TRY(check_outside(node(r.count).inputs[0], group, "the count"));
  for (const NodeId id : groups_[static_cast<size_t>(group)].boundaries) {
    const ir::Node& n = node(id);
    if (n.op.as<ops::LoopIterator>()) TRY(check_outside(n.inputs[0], group, str("the tensor of ", layer(id))));
    if (n.op.as<ops::LoopRecurrence>()) {
      TRY(check_outside(n.inputs[0], group, str("the initial value of ", layer(id))));
      TRY(require(n.input(1) != ValueId::kNone, layer(id), " of ", r.name,
                  " has no next value: setInput(1, value) gives it"));
    }
    const auto* output = n.op.as<ops::LoopOutput>();
    if (!output) continue;
    if (n.input(1) != ValueId::kNone) TRY(check_outside(n.inputs[1], group, str("the length of ", layer(id))));
    if (output->kind != LoopOutputKind::kLastValue) continue;
    const auto* recurrence = graph_.producer_as<ops::LoopRecurrence>(n.inputs[0]);
    TRY(require(recurrence && recurrence->group == output->group, layer(id), " of ", r.name,
                " gives a last value, and its input '", graph_.value(n.inputs[0]).name,
                "' is not a recurrence of that loop"));
  }
  return {};
}

Status Finder::check_conditional(int group) {
  const Region& r = region(group);
  TRY(require(r.condition != NodeId::kNone, r.name, " has no condition: IIfConditional::setCondition gives it"));
  return check_outside(node(r.condition).inputs[0], group, "the condition");
}

/// The units of a body, found from its results. Depth first, by a list of what is open: networks are deep.
class BodyWalk {
 public:
  BodyWalk(Finder& finder, int level)
      : finder_(finder),
        level_(level),
        states_(static_cast<size_t>(finder.graph_.num_nodes() + finder.num_groups()), State::kNew) {}

  Status add(ValueId value) {
    const auto unit = finder_.unit_of(value, level_);
    return unit ? visit(*unit) : Status();
  }
  Status visit(const Unit& root) {
    TRY(enter(root));
    while (!open_.empty()) {
      if (Open& top = open_.back(); top.next == top.inputs.size()) {
        state(top.unit) = State::kDone;
        units_.push_back(top.unit);
        open_.pop_back();
      } else if (const auto unit = finder_.unit_of(top.inputs[top.next++], level_)) {
        TRY(enter(*unit));
      }
    }
    return {};
  }
  bool has(const Unit& unit) { return state(unit) == State::kDone; }
  std::vector<Unit>& units() { return units_; }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Open {
    Unit unit;
    std::vector<ValueId> inputs;
    size_t next = 0;
  };
  State& state(const Unit& unit) {
    return states_[unit.group >= 0 ? static_cast<size_t>(finder_.graph_.num_nodes() + unit.group)
                                   : ir::index(unit.node)];
  }
  Status enter(const Unit& unit) {
    TRY(require(state(unit) != State::kOpen, "the network has a cycle through ", finder_.text(unit)));
    if (state(unit) == State::kDone) return {};
    state(unit) = State::kOpen;
    open_.push_back({unit, TRY(finder_.inputs_of(unit))});
    return {};
  }

  Finder& finder_;
  const int level_;
  std::vector<State> states_;
  std::vector<Open> open_;
  std::vector<Unit> units_;
};

/// The unit of a group's bodies (-1: of the network) that makes a value. There is none for what a body has from its
/// boundaries, which is noted.
std::optional<Unit> Finder::unit_of(ValueId given, int level) {
  const ValueId value = without_if_inputs(graph_, given);
  const NodeId producer = graph_.value(value).producer;
  if (graph_.constant(value)) return std::nullopt;
  const auto note = [](auto& list, auto what) {
    if (std::ranges::find(list, what) == list.end()) list.push_back(what);
  };
  if (level >= 0 && !is_inside(value, level)) return note(region(level).captures, value), std::nullopt;
  if (producer == NodeId::kNone) return std::nullopt;
  int group = home_[ir::index(producer)];
  if (group == level && boundary_of_[ir::index(producer)] < 0) return Unit{.node = producer};
  if (group == level) {
    Region& r = region(level);
    note(node(producer).op.as<ops::LoopIterator>() ? r.iterators : r.recurrences, producer);
    return std::nullopt;
  }
  while (group >= 0 && region(group).parent != level) group = region(group).parent;
  CHECK(group >= 0);
  return Unit{.group = group};
}

Result<std::vector<ValueId>> Finder::inputs_of(const Unit& unit) {
  if (unit.group >= 0) {
    TRY(close(unit.group));
    return region(unit.group).needs;
  }
  std::vector<ValueId> result;
  for (const ValueId input : node(unit.node).inputs)
    if (input != ValueId::kNone) result.push_back(input);
  return result;
}

/// Notes which groups have assertions, which are nodes without outputs.
void Finder::find_assertions() {
  for (size_t i = 0; i < home_.size(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph_.alive(id) && boundary_of_[i] < 0 && node(id).outputs.empty())
      for (int group = home_[i]; group >= 0; group = region(group).parent) region(group).has_assertions = true;
}

/// What runs wherever a group (-1: the network) does: assertions, and groups within it that have some.
std::vector<Unit> Finder::assertions_in(int group) const {
  std::vector<Unit> result;
  for (size_t i = 0; i < home_.size(); ++i)
    if (const auto id = static_cast<NodeId>(i); graph_.alive(id) && home_[i] == group && boundary_of_[i] < 0)
      if (node(id).outputs.empty()) result.push_back({.node = id});
  for (int inner = 0; inner < num_groups(); ++inner)
    if (const Region& r = regions_.groups[static_cast<size_t>(inner)]; r.parent == group && r.has_assertions)
      result.push_back({.group = inner});
  return result;
}

/// Notes which values are to be watched, by where they are made: a boundary at which values leave a group belongs to
/// what is around it.
void Finder::find_watched() {
  watched_.resize(static_cast<size_t>(num_groups()) + 1);
  for (int i = 0; i < graph_.num_values(); ++i) {
    const auto value = static_cast<ValueId>(i);
    const NodeId producer = graph_.value(value).producer;
    if (graph_.value(value).taps.empty() || producer == NodeId::kNone || !graph_.alive(producer)) continue;
    const Op& op = node(producer).op;
    if (op.as<ops::Constant>() || op.as<ops::IfInput>()) continue;  // the latter passes on what is outside
    int level = home_[ir::index(producer)];
    if (boundary_of_[ir::index(producer)] >= 0 && !is_entry(op)) level = region(level).parent;
    watched(level).push_back(value);
    for (int group = level; group >= 0; group = region(group).parent) region(group).is_watched = true;
  }
}

/// Groups within a group (-1: the network) in which something is watched.
std::vector<Unit> Finder::watched_groups_in(int group) const {
  std::vector<Unit> result;
  for (int inner = 0; inner < num_groups(); ++inner)
    if (const Region& r = regions_.groups[static_cast<size_t>(inner)]; r.parent == group && r.is_watched)
      result.push_back({.group = inner});
  return result;
}

/// Notes what a group reads of outside.
void Finder::add_needs(int group) {
  Region& r = region(group);
  r.needs = r.captures;
  const auto add = [&](ValueId given) {
    if (given == ValueId::kNone) return;
    const ValueId value = without_if_inputs(graph_, given);
    if (!graph_.constant(value) && std::ranges::find(r.needs, value) == r.needs.end()) r.needs.push_back(value);
  };
  for (const NodeId id : {r.count, r.condition})
    if (id != NodeId::kNone) add(node(id).inputs[0]);
  for (const NodeId id : r.recurrences) add(node(id).inputs[0]);
  for (const NodeId id : r.iterators) add(node(id).inputs[0]);
  if (r.kind == Region::Kind::kLoop)
    for (const NodeId id : r.outputs) add(node(id).input(1));
}

/// Finds the bodies of a group, and of those within it.
Status Finder::close(int group) {
  if (std::exchange(groups_[static_cast<size_t>(group)].is_closed, true)) return {};
  Region& r = region(group);
  for (const NodeId id : groups_[static_cast<size_t>(group)].boundaries)
    if ((node(id).op.as<ops::LoopOutput>() || node(id).op.as<ops::IfOutput>()) &&
        (graph_.num_uses(node(id).outputs[0]) > 0 || !graph_.value(node(id).outputs[0]).taps.empty()))
      r.outputs.push_back(id);
  TRY(r.kind == Region::Kind::kLoop ? close_loop(group) : close_conditional(group));
  add_needs(group);
  return {};
}

Status Finder::close_loop(int group) {
  Region& r = region(group);
  BodyWalk iteration(*this, group), test(*this, group);
  if (r.test != NodeId::kNone) TRY(test.add(node(r.test).inputs[0]));
  for (const NodeId id : r.outputs) TRY(iteration.add(node(id).inputs[0]));
  for (const Unit& unit : assertions_in(group)) TRY(iteration.visit(unit));
  size_t followed = 0;
  const auto follow_recurrences = [&]() -> Status {  // which grow
    for (; followed < r.recurrences.size(); ++followed) TRY(iteration.add(node(r.recurrences[followed]).inputs[1]));
    return {};
  };
  TRY(follow_recurrences());
  // What is only watched comes last: it changes nothing of the rest.
  for (const ValueId value : watched(group))
    if (!test.has({.node = graph_.value(value).producer})) TRY(iteration.add(value));
  for (const Unit& unit : watched_groups_in(group)) TRY(iteration.visit(unit));
  TRY(follow_recurrences());
  std::ranges::sort(r.recurrences), std::ranges::sort(r.iterators);
  RegionBody body{std::move(iteration.units()), {}};
  for (const NodeId id : r.recurrences) body.results.push_back(node(id).inputs[1]);
  for (const NodeId id : r.outputs)
    if (node(id).op.as<ops::LoopOutput>()->kind != LoopOutputKind::kLastValue)
      body.results.push_back(node(id).inputs[0]);
  r.bodies.push_back(std::move(body));
  if (r.test != NodeId::kNone) r.bodies.push_back({std::move(test.units()), {node(r.test).inputs[0]}});
  return {};
}

Status Finder::close_conditional(int group) {
  Region& r = region(group);
  std::vector<BodyWalk> branches(2, BodyWalk(*this, group));
  r.bodies.resize(2);
  for (const NodeId id : r.outputs)
    for (size_t b = 0; b < 2; ++b) {
      TRY(branches[b].add(node(id).inputs[b]));
      r.bodies[b].results.push_back(node(id).inputs[b]);
    }
  for (const Unit& unit : branches[0].units())
    TRY(require(!branches[1].has(unit), text(unit), " is in both branches of ", r.name,
                ": a branch cannot read what the other one computes"));
  // Outputs that nobody reads still say which branch a value that is watched belongs to.
  std::vector<BodyWalk> unread_branches(2, BodyWalk(*this, group));
  for (const NodeId id : groups_[static_cast<size_t>(group)].boundaries)
    if (!watched(group).empty() && node(id).op.as<ops::IfOutput>() &&
        std::ranges::find(r.outputs, id) == r.outputs.end())
      for (size_t b = 0; b < 2; ++b) TRY(unread_branches[b].add(node(id).inputs[b]));
  std::vector<Unit> unread = assertions_in(group);  // in both branches, or in the one that has what it reads
  for (const ValueId value : watched(group)) {
    const NodeId producer = graph_.value(value).producer;
    const int inner = boundary_of_[ir::index(producer)];  // at which the value leaves a group within
    unread.push_back(inner >= 0 ? Unit{.group = inner} : Unit{.node = producer});
  }
  for (const Unit& unit : watched_groups_in(group)) unread.push_back(unit);
  for (const Unit& extra : unread) {
    for (size_t b = 0; b < 2; ++b) {
      BodyWalk reads(*this, group);
      TRY(reads.visit(extra));
      const bool is_of_other = std::ranges::any_of(reads.units(), [&](const Unit& unit) {
        return branches[1 - b].has(unit) || unread_branches[1 - b].has(unit);
      });
      if (!is_of_other) TRY(branches[b].visit(extra));
    }
  }
  for (size_t b = 0; b < 2; ++b) r.bodies[b].units = std::move(branches[b].units());
  return {};
}

Result<Regions> Finder::run() {
  TRY(collect_groups());
  for (int g = 0; g < num_groups(); ++g) reach(g);
  TRY(nest());
  find_assertions();
  find_watched();
  TRY(check_outputs());
  for (int g = 0; g < num_groups(); ++g)
    TRY(region(g).kind == Region::Kind::kLoop ? check_loop(g) : check_conditional(g));
  BodyWalk network(*this, -1);
  for (const NodeId id : TRY(graph_.topological_order()))  // dead ones too: they may decide sizes
    if (home_[ir::index(id)] < 0 && !node(id).op.as<ops::Constant>()) TRY(network.visit({.node = id}));
  for (const ir::Output& output : graph_.outputs()) TRY(network.add(output.value));
  for (const Unit& unit : assertions_in(-1)) TRY(network.visit(unit));
  for (const ValueId value : watched(-1)) TRY(network.add(value));
  for (const Unit& unit : watched_groups_in(-1)) TRY(network.visit(unit));
  regions_.network.units = std::move(network.units());
  return std::move(regions_);
}

}  // namespace

std::optional<int> group_of(const Op& op) {
  std::optional<int> id;
  const auto look = [&](const auto* boundary) {
    if (boundary) id = boundary->group;
  };
  look(op.as<ops::LoopTripLimit>()), look(op.as<ops::LoopRecurrence>());
  look(op.as<ops::LoopIterator>()), look(op.as<ops::LoopOutput>());
  look(op.as<ops::IfCondition>()), look(op.as<ops::IfInput>()), look(op.as<ops::IfOutput>());
  return id;
}

ValueId without_if_inputs(const ir::Graph& graph, ValueId value) {
  while (value != ValueId::kNone && graph.producer_as<ops::IfInput>(value))
    value = graph.node(graph.value(value).producer).inputs[0];
  return value;
}

Result<Regions> find_regions(const ir::Graph& graph, std::span<const std::string> names) {
  return Finder(graph, names).run();
}

}  // namespace kiln::passes
