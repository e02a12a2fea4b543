#include "builder/memory.h"

#include <algorithm>
#include <numeric>

namespace kiln {

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  constexpr int64_t kAlign = 256;
  const auto rounded = [](int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].size_bytes > lifetimes[b].size_bytes; });
  MemoryPlan plan{std::vector<int64_t>(lifetimes.size(), 0), 0};
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    int64_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& neighbour = lifetimes[other];
      if (neighbour.last < life.first || life.last < neighbour.first) continue;
      if (offset + rounded(life.size_bytes) <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + rounded(neighbour.size_bytes));
    }
    plan.offsets[i] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + rounded(life.size_bytes));
    const auto at = std::upper_bound(placed.begin(), placed.end(), i,
                                     [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    placed.insert(at, i);
  }
  return plan;
}

}  // namespace kiln
