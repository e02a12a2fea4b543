/// A program's say in which tactics run the regions of a network.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tactics/timer.h"

namespace kiln {

/// One way to run a region, as a selector is shown it.
struct Algorithm {
  const Region& region;  ///< with the inputs and outputs in the order of its tactic
  const Candidate& candidate;
  double time_us = 0;  ///< 0 where nothing was measured
  int64_t workspace_bytes = 0;
};

/// Asked once for each region of a graph, then told what was chosen of its answer.
class TacticSelector {
 public:
  virtual ~TacticSelector() = default;
  /// The indices of the algorithms that a build may choose from for the region called `name`, which has
  /// `algorithms.front().region.nodes`; none: all of them. Fails where the answer is no such list.
  virtual Result<std::vector<size_t>> select(const TacticContext& cx, const std::string& name,
                                             std::span<const Algorithm> algorithms) = 0;
  /// The algorithms that a graph got, by their indices, in the order in which `select` was asked about its regions.
  /// None for a region that does not run: what was chosen for others has no need of it.
  virtual void chose(std::span<const std::optional<size_t>> algorithms) = 0;
  /// All graphs of a profile have their algorithms.
  virtual void end_profile() = 0;
};

}  // namespace kiln
