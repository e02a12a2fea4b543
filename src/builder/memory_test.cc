#include "builder/memory.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kiln
