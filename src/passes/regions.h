/// Which nodes of a network belong to its loops and conditionals, found from their boundaries.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::passes {

/// A part of a body that is made as one: a node, or a whole group within it.
struct Unit {
  ir::NodeId node = ir::NodeId::kNone;
  int group = -1;  ///< >= 0: a group, and no node
};

/// What runs together: an iteration of a loop, its test, a branch of a conditional, or the network itself.
struct RegionBody {
  std::vector<Unit> units;           ///< in an order in which each finds what it reads
  std::vector<ir::ValueId> results;  ///< that its group reads of it
};

/// The layers between the boundaries of a loop or a conditional.
struct Region {
  enum class Kind : uint8_t { kLoop, kConditional };
  Kind kind = Kind::kLoop;
  std::string label;  ///< "decoder": the program's name, and that of the node
  std::string name;   ///< "loop 'decoder'", for messages
  ir::NodeId count{ir::NodeId::kNone}, test{ir::NodeId::kNone}, condition{ir::NodeId::kNone};
  std::vector<ir::NodeId> recurrences, iterators;  ///< that its bodies read
  std::vector<ir::NodeId> outputs;                 ///< that anyone reads
  bool has_assertions = false;                     ///< itself, or a group within it: it runs though nobody reads it
  bool is_watched = false;                         ///< itself, or a group within it, has a value with a name to be
                                                   ///< watched by (ir::Value::taps): it is made though nobody reads it
  int parent = -1;                                 ///< the region around it
  /// Loop: an iteration, whose results are the recurrences' next values and what outputs concatenate; then the test,
  /// if there is one. Conditional: the branch for true and that for false.
  std::vector<RegionBody> bodies;
  std::vector<ir::ValueId> captures;  ///< what the bodies read of outside, constants excepted
  std::vector<ir::ValueId> needs;     ///< all that it reads of outside: the captures, and inputs of its boundaries
};

struct Regions {
  std::vector<Region> groups;
  RegionBody network;
};

/// The id of the group that an op is a boundary of; nothing for other ops.
std::optional<int> group_of(const Op& op);
/// The value that an IfInput passes on, or the value itself; of kNone kNone.
ir::ValueId without_if_inputs(const ir::Graph& graph, ir::ValueId value);
/// The regions of a network, whose types need not have been inferred. `names` are those of its groups, by the id that
/// boundaries have. Fails where groups do not nest, where a boundary is missing or too many, and where a value passes
/// between a group and its outside, or between branches, other than by a boundary.
Result<Regions> find_regions(const ir::Graph& graph, std::span<const std::string> names);

}  // namespace kiln::passes
