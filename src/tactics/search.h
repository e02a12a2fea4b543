/// Finds the cheapest set of regions, variants and formats among choices whose costs are given.
#pragma once

#include <vector>

#include "tactics/choices.h"
#include "tactics/reformats.h"
#include "tactics/surface.h"

namespace kiln {

/// A choice with one of its candidates.
struct Pick {
  size_t choice = 0, candidate = 0;
};

struct FoundCover {
  std::vector<Pick> picks;  ///< producers first, as far as the search's order goes
  double cost_us = 0;       ///< times or bounds, reformats the overhead of steps and the handicap of splits
};

struct SearchProblem {
  const ir::Graph& graph;
  const Choices& choices;
  Reformats& reformats;
  const Surface& surface;
  double step_overhead_us = 0;
  double least_gain = 0;  ///< a region is split only if that saves this share of its time
  size_t beam = 64;
};

/// Walks the nodes from the outputs to the inputs and keeps the cheapest way to each frontier (what is claimed ahead,
/// which formats of which values are wanted): exact until more than `beam` frontiers are open at once.
/// Where nothing can run a node, returns its id.
std::expected<FoundCover, ir::NodeId> search_cover(const SearchProblem& problem);

}  // namespace kiln
