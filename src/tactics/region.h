/// Regions and variants of the plainest kind.
#pragma once

#include "tactics/tactic.h"

namespace kiln {

/// A region of one node with all its inputs and outputs.
Region single_node_region(const ir::Graph& graph, ir::NodeId node);
/// The names of its nodes that have one, joined by " + ": what a plan calls its step. May be empty.
std::string names_of(const ir::Graph& graph, const Region& region);
/// The names of its ops, joined by " + ".
std::string ops_of(const ir::Graph& graph, const Region& region);
/// How many sizes the region's runs decide.
int num_sizes(const ir::Graph& graph, const Region& region);
/// A variant that reads and writes everything row-major.
Variant linear_variant(const Region& region, std::string name);

/// Bytes of a tensor at the profile's optimum, for estimates: as a double, for extents may be of any size.
double estimated_bytes(const TensorType& type);

}  // namespace kiln
