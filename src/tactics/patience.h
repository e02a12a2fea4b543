/// Limits of patience: steps that are too slow to be run for a comparison, since a build may not take as long as its
/// steps.
#pragma once

#include "tactics/timer.h"

namespace kiln {

class Patience {
 public:
  /// `enough_us`: what the candidates of one region may take in all, or about so.
  Patience(const TacticContext& cx, double enough_us, const TimingCache& cache, Log& log)
      : cx_(cx), enough_us_(enough_us), cache_(cache), log_(log) {}

  /// Gives a candidate a time without a run, if one would last longer than all of its region's may, or would take more
  /// than half of the device's memory.
  bool estimates(const Region& region, Candidate& candidate) const;
  /// Leaves a candidate out where those before it have taken enough. A complete timing cache leaves the same ones out.
  bool leaves_out(const Trial& trial, Candidate& candidate) const;
  /// Whether a first run was so slow that others would say nothing new.
  bool is_enough(double first_us) const { return cx_.device.is_host() && first_us >= enough_us_ / 10; }

 private:
  const TacticContext& cx_;
  double enough_us_;
  const TimingCache& cache_;
  Log& log_;
};

}  // namespace kiln
