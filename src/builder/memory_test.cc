#include "builder/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace kiln {
namespace {

TEST(PlanMemory, DisjointLivesShare) {
  const std::vector<Lifetime> lives{{1000, 0, 1}, {1000, 2, 3}, {500, 1, 2}};
  const MemoryPlan plan = plan_memory(lives);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.total_bytes, 1024 + 512);
}
TEST(PlanMemory, OverlappingLivesNeverShare) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lives;
    for (int i = 0; i < 30; ++i) {
      const int first = static_cast<int>(random() % 20);
      lives.push_back({static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 6)});
    }
    const MemoryPlan plan = plan_memory(lives);
    for (size_t a = 0; a < lives.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        const bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
        const bool apart = plan.offsets[a] + lives[a].size_bytes <= plan.offsets[b] ||
                           plan.offsets[b] + lives[b].size_bytes <= plan.offsets[a];
        EXPECT_TRUE(!together || apart) << "round " << round;
      }
  }
}

/// The lowest offset that is free for a whole life, by a look at every block for every offset that could be it.
int64_t lowest_free(std::span<const Lifetime> lives, const MemoryPlan& plan, std::span<const size_t> placed,
                    const Lifetime& life) {
  const auto rounded = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  int64_t lowest = INT64_MAX;
  std::vector<int64_t> candidates{0};
  for (const size_t i : placed) candidates.push_back(plan.offsets[i] + rounded(lives[i].size_bytes));
  for (const int64_t offset : candidates) {
    const bool is_free = std::ranges::none_of(placed, [&](size_t i) {
      return lives[i].first <= life.last && life.first <= lives[i].last &&
             offset < plan.offsets[i] + rounded(lives[i].size_bytes) &&
             plan.offsets[i] < offset + rounded(life.size_bytes);
    });
    if (is_free) lowest = std::min(lowest, offset);
  }
  return lowest;
}

/// Compares the planner with a plain search, for so many blocks that it keeps them in several chunks.
TEST(PlanMemory, EachAtTheLowestOffsetThatIsFree) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    std::mt19937 random(seed);
    std::vector<Lifetime> lives;
    for (int step = 0; step < 400; ++step)
      lives.push_back({static_cast<int64_t>(1 + random() % 3000), step,
                       step + static_cast<int>(random() % 10 == 0 ? random() % 200 : random() % 4)});
    std::ranges::stable_sort(lives, std::greater(), &Lifetime::size_bytes);
    const MemoryPlan plan = plan_memory(lives);
    std::vector<size_t> placed;
    for (size_t i = 0; i < lives.size(); ++i) {
      ASSERT_EQ(plan.offsets[i], lowest_free(lives, plan, placed, lives[i])) << "seed " << seed << ", block " << i;
      placed.push_back(i);
    }
  }
}

}  // namespace
}  // namespace kiln
