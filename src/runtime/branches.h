/// Waits between steps that run on several streams.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace kiln::runtime {

/// Streams and waits of one profile. They follow from what steps read and write alone, not from a plan's dependencies:
/// whatever streams it names, no step runs beside one whose memory it needs. Each stream has a workspace of its own.
struct Branches {
  int num_streams = 1;                  ///< the enqueue's, and auxiliary ones
  std::vector<std::vector<int>> waits;  ///< by step: steps of other streams, in front of it
  std::vector<bool> awaited;            ///< by step: whether another waits for it
  std::vector<int> ends;                ///< the last step of each auxiliary stream, for which the end waits
};
Branches branches_of(const plan::Profile& profile);

}  // namespace kiln::runtime
