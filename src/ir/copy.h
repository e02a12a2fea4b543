/// Copies of nodes in another graph.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace kiln::ir {

/// Where the values of a graph stand in another one, by their ids; kNone: nowhere.
using Places = std::vector<ValueId>;

/// The inputs of a node, where they stand.
std::vector<ValueId> placed(const Places& places, std::span<const ValueId> inputs);
/// Adds a copy of a node of `from` that has this op and these inputs instead of its own. The copy keeps the node's
/// name, provenance, bodies and sizes, and its outputs keep their names. It is not inferred.
NodeId copy_node(Graph& to, const Graph& from, NodeId id, Op op, std::span<const ValueId> inputs);
/// Infers a node all of whose inputs have their types.
Status infer_copy(Graph& graph, NodeId id);
/// Copies a body's nodes to a graph of the same symbol table, and infers them. `places` has the places of the body's
/// inputs. Nodes whose outputs have places already are not copied; those without a provenance get `provenance`. Returns
/// the places of all values.
Result<Places> splice(Graph& to, const Graph& body, Places places, const std::vector<std::string>& provenance);

}  // namespace kiln::ir
