/// Offsets for tensors that share a context's memory, by their lifetimes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kiln {

/// A block needed from step `first` to step `last`, both inclusive.
struct Lifetime {
  int64_t size_bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< one a lifetime, multiples of 256
  int64_t total_bytes = 0;
};

/// Largest first, each at the lowest offset free for its whole life.
MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

}  // namespace kiln
