#include "plan/decided_sizes.h"

#include <gtest/gtest.h>

#include <array>

#include "steps/plugin.h"

namespace kiln::plan {
namespace {

sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, id + 1);
}

/// Symbol 0 is bound to 5. Step 'a' decides symbol 1, of 0 to 5; step 'b' symbol 2, of 2 to what 'a' has decided.
class TakeDecidedSizes : public ::testing::Test {
 protected:
  TakeDecidedSizes() {
    plan.symbols = {{"n", 0, 0, -1}, {"of_a"}, {"of_b"}};
    block.steps.resize(3);
    block.steps[0].name = "a", block.steps[0].sizes = {{.symbol = 1, .most = symbol(0)}};
    block.steps[2].name = "b", block.steps[2].sizes = {{.symbol = 2, .most = symbol(1), .least = 2}};
  }
  std::string take(const Segment& segment, std::vector<int64_t> sizes) {
    const Status taken = take_decided_sizes(plan, block, guards, segment, sizes, symbols);
    return taken ? "" : str(taken.error().code == Code::kInternal ? "internal: " : "", taken.error().message);
  }
  Plan plan;
  Block block;
  std::vector<sym::Guard> guards;
  std::vector<int64_t> symbols{5, -1, -1};
};

TEST_F(TakeDecidedSizes, OneBehindTheOtherFromTheStepsOfTheSegment) {
  EXPECT_EQ(take({0, 3}, {4, 3}), "");
  EXPECT_EQ(symbols, (std::vector<int64_t>{5, 4, 3}));
  EXPECT_EQ(take({1, 3}, {2}), "");
  EXPECT_EQ(symbols, (std::vector<int64_t>{5, 4, 2}));
}

TEST_F(TakeDecidedSizes, SayWhichLiesOutside) {
  EXPECT_EQ(take({0, 1}, {6}), "internal: step 'a' decided 6 for 'of_a', which lies in [0, 5]");
  EXPECT_EQ(take({0, 1}, {-1}), "internal: step 'a' decided -1 for 'of_a', which lies in [0, 5]");
  EXPECT_EQ(take({0, 3}, {3, 4}), "internal: step 'b' decided 4 for 'of_b', which lies in [2, 3]");
  EXPECT_EQ(take({2, 3}, {1}), "internal: step 'b' decided 1 for 'of_b', which lies in [2, 3]");
}

/// A GPU copies the 32 bits of a plugin's scalar, and those above them are anything.
TEST_F(TakeDecidedSizes, OfAPluginAreAsWideAsItsScalar) {
  block.steps[0].step =
      steps::Plugin{.plugin = {"P", "1", ""}, .fields = {}, .size_outputs = {0}, .decided_axes = {{}}};
  block.steps[0].outputs = {0};
  block.tensors.resize(1);
  block.tensors[0].dtype = DType::kI32;
  EXPECT_EQ(take({0, 1}, {0xffffffff}), "internal: step 'a' decided -1 for 'of_a', which lies in [0, 5]");
  EXPECT_EQ(take({0, 1}, {0x700000004}), "");
  EXPECT_EQ(symbols[1], 4);
  block.tensors[0].dtype = DType::kI64;
  EXPECT_EQ(take({0, 1}, {0xffffffff}), "internal: step 'a' decided 4294967295 for 'of_a', which lies in [0, 5]");
}

/// A guard tells who needs another size. One that reads a size of a later step, or holds, tells nothing.
TEST_F(TakeDecidedSizes, SayWhoNeedsMore) {
  plan.guards = {{sym::Relation::kLessEqual, symbol(2), symbol(1), "'later' needs both"},
                 {sym::Relation::kLessEqual, symbol(1), symbol(0), "5 <= of_a ('wide' has 5)"}};
  guards = {{sym::Relation::kLessEqual, symbol(0), symbol(1), "5 >= of_a ('narrow' has 5)"}};
  symbols[2] = 9;
  EXPECT_EQ(take({0, 1}, {6}),
            "step 'a' decided 6 for 'of_a': 5 <= of_a ('wide' has 5) does not hold: the left side is 6, the right "
            "side 5");
  EXPECT_EQ(take({0, 1}, {-1}),
            "step 'a' decided -1 for 'of_a': 5 >= of_a ('narrow' has 5) does not hold: the left side is 5, the right "
            "side -1");
}

}  // namespace
}  // namespace kiln::plan
