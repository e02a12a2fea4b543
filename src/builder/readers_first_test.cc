#include "builder/readers_first.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

/// A block whose tensors are named by letters. x is an input, y an output.
struct Sketch {
  int tensor(plan::Place place, int index = 0) {
    plan::Tensor t;
    t.place = place, t.index = index;
    block.tensors.push_back(std::move(t));
    return static_cast<int>(block.tensors.size()) - 1;
  }
  void step(std::vector<int> inputs, std::vector<int> outputs) {
    plan::Step step;
    step.inputs = std::move(inputs), step.outputs = std::move(outputs);
    block.steps.push_back(std::move(step));
  }

  plan::Block block;
  const int x = tensor(plan::Place::kInput), y = tensor(plan::Place::kOutput);
  const int changed = tensor(plan::Place::kView, y);  ///< y behind the change
  const int view_of_x = tensor(plan::Place::kView, x);
  const int a = tensor(plan::Place::kArena), b = tensor(plan::Place::kArena), c = tensor(plan::Place::kArena);
};

using Order = std::vector<size_t>;

TEST(ReadersFirst, ComeWithWhatTheyNeed) {
  Sketch s;
  s.step({s.x}, {s.y});             // 0: the copy
  s.step({s.y}, {s.changed});       // 1: the change
  s.step({s.changed, s.x}, {s.a});  // 2: needs both
  s.step({}, {s.b});                // 3: nobody needs it early but 4
  s.step({s.view_of_x, s.b}, {s.c});
  s.step({s.changed}, {s.tensor(plan::Place::kArena)});
  EXPECT_EQ(readers_first(s.block, {{{s.x, s.y}}}), (Order{0, 3, 4, 1, 2, 5}));
  EXPECT_EQ(readers_first(s.block, {}), (Order{0, 1, 2, 3, 4, 5}));
}

TEST(ReadersFirst, StayBehindWhatTheyWouldOverwrite) {
  Sketch s;
  s.step({}, {s.a});
  s.step({s.x}, {s.y});
  s.step({s.y, s.a}, {s.changed});
  s.step({s.x}, {s.a});  // the change reads what was there
  EXPECT_EQ(readers_first(s.block, {{{s.x, s.y}}}), (Order{0, 1, 2, 3}));
}

/// A copy of a tensor that is no input, or to one that is no output, is the plan's own memory.
TEST(ReadersFirst, OfOtherTensorsStay) {
  Sketch s;
  s.step({}, {s.a});
  s.step({s.a}, {s.y});
  s.step({s.y}, {s.changed});
  s.step({s.a}, {s.b});
  EXPECT_EQ(readers_first(s.block, {{{s.a, s.y}}}), (Order{0, 1, 2, 3}));
  s.block.tensors[static_cast<size_t>(s.a)].place = plan::Place::kInput;
  EXPECT_EQ(readers_first(s.block, {{{s.a, s.y}}}), (Order{0, 1, 3, 2}));
  s.block.tensors[static_cast<size_t>(s.y)].place = plan::Place::kArena;
  EXPECT_EQ(readers_first(s.block, {{{s.a, s.y}}}), (Order{0, 1, 2, 3}));
}

/// Both copies are made of what the caller gave.
TEST(ReadersFirst, AreCopiesForOthersToo) {
  Sketch s;
  const int z = s.tensor(plan::Place::kOutput, 1), changed_z = s.tensor(plan::Place::kView, z);
  s.step({s.x}, {s.y});
  s.step({s.y}, {s.changed});
  s.step({s.x}, {z});
  s.step({z}, {changed_z});
  EXPECT_EQ(readers_first(s.block, {{{s.x, s.y}, {s.x, z}}}), (Order{0, 2, 1, 3}));
}

}  // namespace
}  // namespace kiln
