/// Chooses the steps that run on auxiliary streams, beside others.
#pragma once

#include <span>
#include <vector>

namespace kiln {

/// A step in execution order.
struct ScheduledStep {
  std::vector<int> needs;  ///< earlier steps whose results it reads
  double time_us = 0;
};

/// A stream for each step, 0 being the enqueue's, of at most `most_auxiliary` others. Each step goes where it may begin
/// first; a step that waits for another stream waits a little longer. All 0 where that saves next to nothing.
std::vector<int> assign_streams(std::span<const ScheduledStep> steps, int most_auxiliary);

/// The first and the last step, in execution order, that may run at the same time as a given one; itself if none.
struct Span {
  int first = 0, last = 0;
};
std::vector<Span> concurrent_spans(std::span<const ScheduledStep> steps, std::span<const int> streams);

}  // namespace kiln
