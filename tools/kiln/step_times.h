/// The times of a session's steps: the least of several runs, each step timed by itself.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "cli/layer_profile.h"
#include "cli/shapes.h"
#include "session.h"

namespace kiln {

/// A body's steps in one run of the network, which may run the body often, or never.
struct BodyTime {
  int64_t num_runs = 0;
  std::vector<double> total_ms;  ///< by step, of all its runs
  double all_ms() const;
};

struct StepTimes {
  std::vector<double> wall_ms;     ///< by run, of runs without timed steps
  std::vector<double> best_ms;     ///< by step of the profile; infinite: not timed
  std::map<int, BodyTime> bodies;  ///< by body of the plan, those that have run
  cli::LayerProfile layers;        ///< steps of one name are one layer

  /// Null: the body has not run.
  const BodyTime* find(const plan::Plan& plan, const plan::Body& body) const;
};

/// The inputs' extents: those that `shapes` names, or the profile's optimum.
std::vector<Extents> extents_at(const plan::Plan& plan, int profile, const cli::NamedExtents& shapes);

/// Inputs of small numbers; those that decide shapes have the values that the profile is tuned for.
Result<std::vector<HostTensor>> made_up_inputs(const plan::Plan& plan, int profile, std::span<const Extents> extents);

/// Runs `runs` times as a whole, then `runs` times with each step timed. The session's inputs are set.
Result<StepTimes> measure(Session& session, int runs);

}  // namespace kiln
