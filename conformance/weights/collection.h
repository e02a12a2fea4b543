/// Networks of the models' collection with weights that are a little off.
#pragma once

#include <set>
#include <string>

#include "builder/build.h"
#include "ir/graph.h"
#include "runtime/weight_store.h"

namespace kiln {

/// A network and all its weights by name.
struct WeightedGraph {
  ir::Graph graph;
  runtime::NewWeights weights;
};

/// The model of a file, in which initializers of these names have other elements of the same signs.
Result<WeightedGraph> model_with_other(const std::string& path, const std::set<std::string, std::less<>>& names);

/// One shape: unknown extents are 1, then 128.
ProfileRequest fixed_profile(const ir::Graph& graph);

}  // namespace kiln
