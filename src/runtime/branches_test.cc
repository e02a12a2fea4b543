#include "runtime/branches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kiln::runtime {
namespace {

/// Steps over pieces of an arena of 64 bytes each.
struct Sketch {
  plan::Profile profile;
  int piece(int64_t offset, plan::Place place = plan::Place::kArena) {
    plan::Tensor& t = profile.tensors.emplace_back();
    t.place = place, t.offset_bytes = offset * 64, t.size_bytes_max = 64, t.index = static_cast<int>(offset);
    return static_cast<int>(profile.tensors.size()) - 1;
  }
  void step(int stream, std::vector<int> inputs, std::vector<int> outputs) {
    plan::Step& s = profile.steps.emplace_back();
    s.stream = stream, s.inputs = std::move(inputs), s.outputs = std::move(outputs);
  }
};

using Waits = std::vector<std::vector<int>>;

TEST(Branches, OneStreamWaitsForNothing) {
  Sketch s;
  s.step(0, {}, {s.piece(0)});
  s.step(0, {s.piece(0)}, {s.piece(1)});
  const Branches branches = branches_of(s.profile);
  EXPECT_EQ(branches.num_streams, 1);
  EXPECT_TRUE(branches.waits.empty());
}

TEST(Branches, ForksAndJoins) {
  Sketch s;
  s.step(0, {}, {s.piece(0)});
  s.step(0, {s.piece(0)}, {s.piece(1)});
  s.step(1, {s.piece(0)}, {s.piece(2)});
  s.step(0, {s.piece(1), s.piece(2)}, {s.piece(3)});
  s.step(1, {s.piece(3)}, {s.piece(0)});  // the memory that step 1 read
  const Branches branches = branches_of(s.profile);
  EXPECT_EQ(branches.num_streams, 2);
  EXPECT_EQ(branches.waits, (Waits{{}, {}, {0}, {2}, {3}}));  // 3 is behind 1
  EXPECT_EQ(branches.awaited, (std::vector<bool>{true, false, true, true, false}));
  EXPECT_EQ(branches.ends, std::vector<int>{4});
}

TEST(Branches, MemoryDecidesAndNotWhatItIsCalled) {
  Sketch s;
  const int first = s.piece(0), view = s.piece(0, plan::Place::kView);
  s.profile.tensors[static_cast<size_t>(view)].index = first;
  s.step(0, {}, {first});
  s.step(1, {view}, {s.piece(5)});
  s.step(0, {}, {s.piece(0)});                        // another tensor in the same bytes
  s.step(1, {s.piece(0, plan::Place::kInput)}, {});   // the caller's, who may give one address
  s.step(0, {}, {s.piece(3, plan::Place::kOutput)});  // for both
  s.step(1, {s.piece(0, plan::Place::kWeight)}, {s.piece(4, plan::Place::kOutput)});
  const Branches branches = branches_of(s.profile);
  EXPECT_EQ(branches.waits, (Waits{{}, {0}, {1}, {}, {3}, {}}));
}

/// Whatever streams there are: of two steps with memory in common, one is done when the other begins.
TEST(Branches, NeverRunWhatConflictsSideBySide) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    Sketch s;
    const int num_steps = 12;
    for (int i = 0; i < num_steps; ++i) s.step(below(3), {s.piece(below(6)), s.piece(below(6))}, {s.piece(below(6))});
    const Branches b = branches_of(s.profile);
    if (b.num_streams == 1) continue;
    std::vector<std::vector<bool>> before(num_steps, std::vector<bool>(num_steps, false));
    for (int j = 0; j < num_steps; ++j) {
      const auto& step = s.profile.steps[static_cast<size_t>(j)];
      for (int i = 0; i < j; ++i) {
        const bool same = s.profile.steps[static_cast<size_t>(i)].stream == step.stream;
        if (!same && std::ranges::find(b.waits[static_cast<size_t>(j)], i) == b.waits[static_cast<size_t>(j)].end())
          continue;
        before[static_cast<size_t>(j)][static_cast<size_t>(i)] = true;
        for (int k = 0; k < i; ++k)
          if (before[static_cast<size_t>(i)][static_cast<size_t>(k)])
            before[static_cast<size_t>(j)][static_cast<size_t>(k)] = true;
      }
      const auto offset = [&](int id) { return s.profile.tensors[static_cast<size_t>(id)].offset_bytes; };
      for (int i = 0; i < j; ++i) {
        const auto& other = s.profile.steps[static_cast<size_t>(i)];
        bool conflict = offset(step.outputs[0]) == offset(other.outputs[0]);
        for (const int id : step.inputs) conflict |= offset(id) == offset(other.outputs[0]);
        for (const int id : other.inputs) conflict |= offset(id) == offset(step.outputs[0]);
        EXPECT_TRUE(!conflict || before[static_cast<size_t>(j)][static_cast<size_t>(i)])
            << "seed " << seed << ": " << i << " and " << j;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::runtime
