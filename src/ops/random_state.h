/// Where a random generator is: what a fill keeps from run to run. Host and kernels compile this file.
#pragma once

#include <cstdint>

namespace kiln {

/// Element i of a run is drawn from `random_bits(key, position + i)`; the run then moves `position` behind its
/// elements.
struct RandomState {
  uint64_t key = 0;
  uint64_t position = 0;
  uint32_t num_arrived =
      0;  ///< blocks of a launch that have read `position`: the last one moves it; 0 between launches
  uint32_t unused = 0;
};

}  // namespace kiln
