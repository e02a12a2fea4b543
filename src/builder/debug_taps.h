/// Values that somebody wants to watch under names of their own, from build to build.
#pragma once

#include <set>
#include <span>
#include <string>

#include "base/log.h"
#include "ir/graph.h"
#include "plan/plan.h"

namespace kiln {

/// Taps of a network (ir::Value::taps) cost nothing where a plan has their values anyway: what a step writes, an input,
/// a constant. So the first build is that of the network without them. If it keeps some value inside of a step, or
/// drops it, another build follows in which this value is kept, as an output is that nobody gets (ADR 32).
class DebugTaps {
 public:
  explicit DebugTaps(const ir::Graph& network);

  /// Keeps all values from the first build on.
  void keep_all() { kept_ = wanted_; }
  /// Makes outputs, without names, of the values that are to be kept, and of what makes them in its bodies though
  /// nobody reads it. Returns whether there are some.
  bool keep(ir::Graph& graph) const;
  /// Takes note of which values a profile's plan has.
  void take(const plan::Profile& profile, std::span<const plan::Body> bodies);
  /// Begins another build where it can keep values that are missing, and returns whether it does. Tells those that none
  /// can keep.
  bool begin_next_build(Log& log);

 private:
  std::set<std::string> wanted_, kept_;
  std::set<std::string> found_, lost_;  ///< in this build: in some profile; not in some profile
  int num_builds_ = 0;
};

/// Removes debug tensors from a loop's test that its iteration has, too: what both compute is shown once.
void drop_doubled_taps(plan::Body& test, const ir::Graph& iteration);

}  // namespace kiln
