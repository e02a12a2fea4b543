/// Names of a graph's sources of weights: no two sources have one name.
#pragma once

#include <set>
#include <string>

#include "ir/graph.h"

namespace kiln::ir {

/// The sources that constants of the graph come from.
std::set<std::string> source_names(const Graph& graph);
/// Takes a name: this one, or where it is taken, with a number behind it.
std::string take_name(std::set<std::string>& taken, std::string_view name);

}  // namespace kiln::ir
