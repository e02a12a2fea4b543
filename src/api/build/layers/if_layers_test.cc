#include <gtest/gtest.h>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Extents = std::vector<int64_t>;
using nv::LoopOutput, nv::TripLimit;
constexpr auto kSub = nv::ElementWiseOperation::kSUB;

nv::ITensor* enter_branch(nv::IIfConditional* conditional, nv::ITensor* x) {
  return conditional->addInput(*x)->getOutput(0);
}
nv::ITensor* choose_branch(nv::IIfConditional* conditional, nv::ITensor* then, nv::ITensor* other) {
  return conditional->addOutput(*then, *other)->getOutput(0);
}

/// A network with a conditional by its input "c".
struct IfBench : LoopBench {
  IfBench() { conditional->setCondition(*input("c", {}, nv::DataType::kBOOL)); }
  nv::ITensor* enter(nv::ITensor* x) { return enter_branch(conditional, x); }
  nv::ITensor* choose(nv::ITensor* then, nv::ITensor* other) { return choose_branch(conditional, then, other); }
  nv::ITensor* least(nv::ITensor* x) {
    return network->addReduce(*x, nv::ReduceOperation::kMIN, 1, true)->getOutput(0);
  }
  nv::IIfConditional* conditional = network->addIfConditional();
};

TEST(ConditionalLayers, KeepTheirFields) {
  LoopBench w;
  nv::IIfConditional* conditional = w->addIfConditional();
  EXPECT_STREQ(conditional->getName(), "(Unnamed Conditional* 0)");
  conditional->setName("choice");
  EXPECT_STREQ(conditional->getName(), "choice");
  nv::IConditionLayer* condition = conditional->setCondition(*w.input("c", {}, nv::DataType::kBOOL));
  nv::IIfConditionalInputLayer* input = conditional->addInput(*w.input("x", {2, 3}));
  nv::ITensor* x = input->getOutput(0);
  nv::IIfConditionalOutputLayer* output = conditional->addOutput(*x, *w.add(x, x));
  EXPECT_EQ(condition->getType(), nv::LayerType::kCONDITION);
  EXPECT_EQ(input->getType(), nv::LayerType::kCONDITIONAL_INPUT);
  EXPECT_EQ(output->getType(), nv::LayerType::kCONDITIONAL_OUTPUT);
  for (const nv::IIfConditionalBoundaryLayer* layer :
       std::initializer_list<nv::IIfConditionalBoundaryLayer*>{condition, input, output})
    EXPECT_EQ(layer->getConditional(), conditional);
  EXPECT_EQ(condition->getNbInputs(), 1);
  EXPECT_EQ(condition->getNbOutputs(), 0);
  EXPECT_EQ(list(x->getDimensions()), (Extents{2, 3}));
  EXPECT_EQ(output->getNbInputs(), 2);
  EXPECT_EQ(list(output->getOutput(0)->getDimensions()), (Extents{2, 3}));
}

TEST(Conditionals, TakeOneBranch) {
  IfBench w;
  nv::ITensor* x = w.enter(w.input("x", {3}));
  nv::ITensor* y = w.enter(w.input("y0", {3}));
  w.mark(w.choose(w.add(x, y), w.binary(x, y, kSub)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Bytes a = floats({3}, {5, 6, 7}), b = floats({3}, {1, 2, 4});
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", a}, {"y0", b}}), (Floats{6, 8, 11})) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", a}, {"y0", b}}), (Floats{4, 4, 3})) << run.error;
}

TEST(Conditionals, TakeAConditionThatIsAConstant) {
  LoopBench w;
  nv::IIfConditional* conditional = w->addIfConditional();
  nv::ITensor* x = enter_branch(conditional, w.input("x", {3}));
  nv::ITensor* condition = w->addCast(*w.number(1), nv::DataType::kBOOL)->getOutput(0);
  conditional->setCondition(*condition);
  w.mark(choose_branch(conditional, w.add(x, x), x));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({3}, {5, 6, 7})}}), (Floats{10, 12, 14})) << run.error;
}

// An index that is outside of x fails where it is read: only in the branch that runs.
TEST(Conditionals, RunNothingOfTheOtherBranch) {
  IfBench w;
  nv::ITensor* x = w.enter(w.input("x", {3}));
  nv::ITensor* at = w.enter(w.input("at", {1}, nv::DataType::kINT32));
  nv::ITensor* picked = w->addGather(*x, *at, 0)->getOutput(0);
  nv::ITensor* first = w->addSlice(*x, dims({0}), dims({1}), dims({1}))->getOutput(0);
  w.mark(w.choose(picked, first));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Bytes values = floats({3}, {5, 6, 7}), inside = tensor_of<int32_t>({1}, {2}),
              outside = tensor_of<int32_t>({1}, {1000});
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", values}, {"at", inside}}), Floats{7}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", values}, {"at", outside}}), Floats{5}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", values}, {"at", outside}}), Floats{});
  EXPECT_NE(run.error.find("outside"), std::string::npos) << run.error;
}

/// Runs a conditional over x f32[-1] whose first branch `make` makes of x, for four elements and not for two. The
/// second gives the least element.
template <class F>
void expect_branch_for_four(F make, float of_four) {
  IfBench w;
  nv::ITensor* x = w.input("x", {-1});
  w.profile("x", {1}, {4}, {8});
  nv::ITensor* inner = w.enter(x);
  EXPECT_EQ(list(inner->getDimensions()), Extents{-1});
  w.mark(w.choose(make(w, inner), w.least(inner)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({4}, {5, 6, 7, 8})}}), Floats{of_four}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", floats({2}, {5, 6})}}), Floats{5}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({2}, {5, 6})}}), Floats{});
  EXPECT_NE(run.error, "");
}

// Shapes that a branch needs are none that the network needs.
TEST(Conditionals, CheckShapesOfTheBranchThatRuns) {
  expect_branch_for_four(
      [](IfBench& w, nv::ITensor* x) { return w->addSlice(*x, dims({2}), dims({1}), dims({1}))->getOutput(0); }, 7);
}

// The branch cannot run at the profile's largest extents.
TEST(Conditionals, HoldBranchesForOneShapeOfMany) {
  expect_branch_for_four(
      [](IfBench& w, nv::ITensor* x) {
        nv::ITensor* four = w.add(x, w.constant({4}, {1, 2, 3, 4}));
        return w->addReduce(*four, nv::ReduceOperation::kSUM, 1, true)->getOutput(0);
      },
      36);
}

TEST(Conditionals, GiveExtentsOfTheBranchThatRuns) {
  IfBench w;
  nv::ITensor* x = w.enter(w.input("x", {4}));
  nv::ITensor* two = w->addSlice(*x, dims({1}), dims({2}), dims({1}))->getOutput(0);
  nv::ITensor* y = w.choose(w.add(x, x), two);
  EXPECT_EQ(list(y->getDimensions()), Extents{-1});
  w.mark(w.add(y, y));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto all = run({{"c", flag(true)}, {"x", floats({4}, {1, 2, 3, 4})}});
  EXPECT_EQ(all["y"].extents, Extents{4}) << run.error;
  EXPECT_EQ(elements<float>(all["y"]), (Floats{4, 8, 12, 16}));
  auto some = run({{"c", flag(false)}, {"x", floats({4}, {1, 2, 3, 4})}});
  EXPECT_EQ(some["y"].extents, Extents{2}) << run.error;
  EXPECT_EQ(elements<float>(some["y"]), (Floats{4, 6}));
}

TEST(Conditionals, GiveNoShapesBeforeTheRun) {
  IfBench w;
  nv::ITensor* x = w.enter(w.input("x", {4}));
  nv::ITensor* two = w->addSlice(*x, dims({1}), dims({2}), dims({1}))->getOutput(0);
  nv::ITensor* y = w.choose(two, x);
  nv::ITensor* shape = w->addShape(*y)->getOutput(0);
  shape->setName("s");
  w.mark(y);
  ASSERT_TRUE(w->markOutputForShapes(*shape));
  LoopRun run(w);
  EXPECT_NE(run.error.find("output 's' has \"extent of (Unnamed Layer* 3) [IfOutput]\", which data decides: an output"),
            std::string::npos)
      << run.error;
}

// Without inputs, branches are values that were there already.
TEST(Conditionals, ChooseAmongValuesFromOutside) {
  IfBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ITensor* y = w.choose(w.add(x, x), x);
  nv::ITensor* constant = w.choose(w.constant({1}, {3}), w.constant({1}, {4}));
  w.mark(y);
  w.mark(constant, "constant");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({{"c", flag(true)}, {"x", floats({2}, {1, 5})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{2, 10})) << run.error;
  EXPECT_EQ(elements<float>(outputs["constant"]), Floats{3});
  outputs = run({{"c", flag(false)}, {"x", floats({2}, {1, 5})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{1, 5})) << run.error;
  EXPECT_EQ(elements<float>(outputs["constant"]), Floats{4});
}

// What both branches read is outside of the conditional where it does not depend on the conditional's inputs: a layer,
// a layer behind addInput, what is computed of constants, a loop. It runs before the branch does.
TEST(Conditionals, ShareWhatIsOutside) {
  IfBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ITensor* inner = w.enter(x);
  nv::ITensor* twice = w.add(x, x);
  nv::ITensor* thrice = w.enter(w.add(twice, x));
  nv::ITensor* seven = w.add(w.constant({1}, {3}), w.constant({1}, {4}));
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  value->setInput(1, *w.add(value->getOutput(0), value->getOutput(0)));
  nv::ITensor* eightfold = loop->addLoopOutput(*value->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0);
  const auto all = [&](nv::ITensor* first) {
    for (nv::ITensor* part : {twice, thrice, seven, eightfold}) first = w.add(first, part);
    return first;
  };
  w.mark(w.choose(all(inner), all(w.binary(w.constant({1}, {0}), inner, kSub))));
  w.mark(w.choose(twice, twice), "same");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({{"c", flag(true)}, {"x", floats({2}, {1, 10})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{14 + 7, 140 + 7})) << run.error;
  EXPECT_EQ(elements<float>(outputs["same"]), (Floats{2, 20}));
  outputs = run({{"c", flag(false)}, {"x", floats({2}, {1, 10})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{12 + 7, 120 + 7})) << run.error;
}

// A layer of a loop is outside of a conditional in it.
TEST(Conditionals, ShareLayersOfTheLoopAround) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* row = loop->addIterator(*w.input("x", {3, 2}))->getOutput(0);
  nv::ITensor* twice = w.add(row, row);
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setCondition(*loop->addIterator(*w.input("c", {3}, nv::DataType::kBOOL))->getOutput(0));
  nv::ITensor* inner = enter_branch(conditional, row);
  w.mark(w.stack(loop, choose_branch(conditional, w.add(twice, inner), w.binary(twice, inner, kSub)), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"c", tensor_of<uint8_t>({3}, {1, 0, 1})}}),
            (Floats{3, 6, 3, 4, 15, 18}))
      << run.error;
}

TEST(Conditionals, Nest) {
  LoopBench w;
  nv::ITensor* a = w.input("a", {}, nv::DataType::kBOOL);
  nv::ITensor* b = w.input("b", {}, nv::DataType::kBOOL);
  nv::IIfConditional* outer = w->addIfConditional();
  outer->setCondition(*a);
  nv::ITensor* x = enter_branch(outer, w.input("x", {2}));
  nv::IIfConditional* inner = w->addIfConditional();
  inner->setCondition(*enter_branch(outer, b));
  nv::ITensor* deep = enter_branch(inner, w.add(x, x));
  nv::ITensor* chosen = choose_branch(inner, w.add(deep, deep), w.add(deep, x));
  w.mark(choose_branch(outer, w.add(chosen, x), x));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto y = [&](bool first, bool second) {
    return run.floats_of({{"a", flag(first)}, {"b", flag(second)}, {"x", floats({2}, {1, 10})}});
  };
  EXPECT_EQ(y(true, true), (Floats{5, 50})) << run.error;
  EXPECT_EQ(y(true, false), (Floats{4, 40})) << run.error;
  EXPECT_EQ(y(false, true), (Floats{1, 10})) << run.error;
}

// The sum of x's even elements: a conditional in a loop.
TEST(Conditionals, RunInLoops) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {6}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(6), TripLimit::kCOUNT);
  nv::ITensor* element = loop->addIterator(*x)->getOutput(0);
  nv::IRecurrenceLayer* sum = loop->addRecurrence(*w.number(0));
  nv::ITensor* half = w.binary(element, w.number(2), nv::ElementWiseOperation::kFLOOR_DIV);
  nv::ITensor* even = w.binary(w.mul(half, w.number(2)), element, nv::ElementWiseOperation::kEQUAL);
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setCondition(*even);
  nv::ITensor* before = enter_branch(conditional, sum->getOutput(0));
  sum->setInput(1, *choose_branch(conditional, w.add(before, enter_branch(conditional, element)), before));
  w.mark(loop->addLoopOutput(*sum->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.ints_of({{"x", tensor_of<int32_t>({6}, {1, 2, 3, 4, 7, 8})}}), Ints{14}) << run.error;
  EXPECT_EQ(run.ints_of({{"x", tensor_of<int32_t>({6}, {1, 3, 5, 7, 9, 11})}}), Ints{0}) << run.error;
}

// A loop in a branch, which reads what the conditional was given.
TEST(Conditionals, HoldLoops) {
  IfBench w;
  nv::ITensor* x = w.enter(w.input("x", {2}));
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  value->setInput(1, *w.add(value->getOutput(0), value->getOutput(0)));
  nv::ITensor* last = loop->addLoopOutput(*value->getOutput(0), LoopOutput::kLAST_VALUE)->getOutput(0);
  w.mark(w.choose(last, x));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({2}, {1, 5})}}), (Floats{8, 40})) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", floats({2}, {1, 5})}}), (Floats{1, 5})) << run.error;
}

/// What a build says of a conditional that `make` adds, over an input x f32[2] and a condition.
template <class F>
std::string build_error(F make) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ITensor* condition = w.input("c", {}, nv::DataType::kBOOL);
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setName("i");
  make(w, x, condition, conditional);
  if (const std::string early = w.take_error(); !early.empty()) return early;
  return LoopRun(w).error;
}

TEST(Conditionals, SayWhatIsWrong) {
  using W = LoopBench&;
  using T = nv::ITensor*;
  using C = nv::IIfConditional*;
  const auto error_of = [](auto make, std::string_view part) {
    const std::string error = build_error(make);
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  };
  error_of([](W w, T x, T, C i) { w.mark(choose_branch(i, w.add(enter_branch(i, x), x), x)); },
           "conditional 'i' has no condition: IIfConditional::setCondition gives it");
  error_of([](W, T x, T, C i) { i->setCondition(*x); }, "the condition is f32[2]; one boolean is needed");
  error_of(
      [](W, T, T c, C i) {
        i->setCondition(*c);
        i->setCondition(*c);
      },
      "conditional 'i' has a condition already; ILayer::setInput of its layer replaces it");
  error_of([](W w, T x, T, C i) { i->addOutput(*x, *w.number(1)); },
           "the branch for true gives f32[2] and the branch for");
  error_of(
      [](W w, T x, T c, C i) {
        i->setCondition(*c);
        w.mark(w.add(enter_branch(i, x), x));
      },
      "output 'y' of the network is inside conditional 'i'; a value leaves it by IIfConditional::addOutput");
  error_of(
      [](W w, T x, T c, C i) {
        i->setCondition(*c);
        T first = w.add(enter_branch(i, x), x);
        w.mark(choose_branch(i, w.add(first, first), w.add(first, x)));
      },
      "is in both branches of conditional 'i': a branch cannot read what");
  error_of(
      [](W w, T x, T, C i) {
        T inner = enter_branch(i, x);
        T sum = w->addReduce(*inner, nv::ReduceOperation::kSUM, 1, false)->getOutput(0);
        i->setCondition(*w.less(sum, w.constant({}, {1})));
        w.mark(choose_branch(i, w.add(inner, inner), inner));
      },
      "the condition of conditional 'i'");
}

}  // namespace
}  // namespace kiln::api::testing
