// Assertions inside loops and conditionals: checked in each iteration and in the branch that runs, and nowhere else.
#include <gtest/gtest.h>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using nv::LoopOutput, nv::TripLimit;

nv::ITensor* last(nv::ILoop* loop, nv::ITensor* value) {
  return loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE)->getOutput(0);
}

void expect_error(const LoopRun& run, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts)
    EXPECT_NE(run.error.find(part), std::string::npos) << "'" << part << "' is not in: " << run.error;
}

nv::ILoop* loop_of(LoopBench& w, const char* name, nv::ITensor* count) {
  nv::ILoop* loop = w->addLoop();
  loop->setName(name);
  loop->addTripLimit(*count, TripLimit::kCOUNT);
  return loop;
}

// An assertion on what an iteration computes, which nobody else reads.
TEST(BodyAssertions, NameTheLoopAndTheIteration) {
  LoopBench w;
  nv::ILoop* loop = loop_of(w, "decoder", w.number(4));
  nv::ITensor* slice = loop->addIterator(*w.input("x", {4}))->getOutput(0);
  w->addAssertion(*w.less(slice, w.constant({}, {10})), "x is below 10")->setName("limit");
  w.mark(w.stack(loop, w.add(slice, slice), w.number(4)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 3, 4})}}), (Floats{2, 4, 6, 8})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 13, 4})}}), Floats{});
  expect_error(run, {"step 'decoder'", "iteration 2", "'limit'", "the assertion 'x is below 10' does not hold"});
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 13, 14})}}), Floats{});
  expect_error(run, {"iteration 2"});
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 3, 14})}}), Floats{});
  expect_error(run, {"iteration 3"});
}

/// A loop over the rows of x and, within it, one over their elements, which asserts that each is below 10.
struct Rows : LoopBench {
  nv::ILoop* rows = loop_of(*this, "rows", number(2));
  nv::ITensor* row = rows->addIterator(*input("x", {2, 3}))->getOutput(0);
  nv::ILoop* columns = loop_of(*this, "columns", number(3));
  nv::ITensor* element = columns->addIterator(*row)->getOutput(0);
  Rows() { network->addAssertion(*less(element, constant({}, {10})), "x is below 10"); }
};
/// Runs a network that doubles x: with small elements, and with one in row 1 that is too large, at the iteration
/// `column`.
void expect_doubled(Rows& w, const Floats& too_large, std::string_view column) {
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}}), (Floats{2, 4, 6, 8, 10, 12})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({2, 3}, too_large)}}), Floats{});
  expect_error(run, {"step 'rows'", "iteration 1: ", "step 'columns'", column, "x is below 10"});
}

TEST(BodyAssertions, NameAllLoopsAroundThem) {
  Rows w;
  w.mark(w.stack(w.rows, w.stack(w.columns, w.add(w.element, w.element), w.number(3)), w.number(2)));
  expect_doubled(w, {1, 2, 3, 4, 5, 60}, "iteration 2: ");
}

TEST(BodyAssertions, HoldNothingWhereNoIterationRuns) {
  LoopBench w;
  nv::ITensor *x = w.input("x", {1}), *n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = loop_of(w, "l", n);
  nv::IRecurrenceLayer* sum = loop->addRecurrence(*x);
  nv::ITensor* next = w.add(sum->getOutput(0), x);
  sum->setInput(1, *next);
  w->addAssertion(*w.less(next, w.constant({1}, {10})), "the sum is below 10");
  w->addAssertion(*w.less(x, w.constant({1}, {10})), "x is below 10");  // of no iteration
  w.mark(last(loop, sum->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({1}, {7})}, {"n", scalar(0)}}), Floats{7}) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({1}, {7})}, {"n", scalar(1)}}), Floats{});
  expect_error(run, {"step 'l'", "iteration 0", "the sum is below 10"});
  EXPECT_EQ(run.floats_of({{"x", floats({1}, {70})}, {"n", scalar(0)}}), Floats{});
  expect_error(run, {"x is below 10"});
}

// Shapes decide this one, anew in each iteration.
TEST(BodyAssertions, OfExtentsThatALoopChanges) {
  LoopBench w;
  nv::ITensor *x = w.input("x", {1, 2}), *n = w.input("n", {}, nv::DataType::kINT32);
  const int64_t most = 8, none = 0;
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  profile->setShapeValuesV2("n", nv::OptProfileSelector::kMIN, &none, 1);
  profile->setShapeValuesV2("n", nv::OptProfileSelector::kOPT, &most, 1);
  profile->setShapeValuesV2("n", nv::OptProfileSelector::kMAX, &most, 1);
  w.config->addOptimizationProfile(profile);
  nv::ILoop* loop = loop_of(w, "l", n);
  nv::IRecurrenceLayer* all = loop->addRecurrence(*x);
  nv::ITensor* const parts[] = {all->getOutput(0), x};
  nv::IConcatenationLayer* longer = w->addConcatenation(parts, 2);
  longer->setAxis(0);
  all->setInput(1, *longer->getOutput(0));
  nv::ITensor* rows = w->addCast(*w.extent(all->getOutput(0), 0), nv::DataType::kINT32)->getOutput(0);
  w->addAssertion(*w.less(rows, w.number(4)), "at most three rows");
  w.mark(last(loop, all->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Bytes row = floats({1, 2}, {1, 5});
  EXPECT_EQ(run.floats_of({{"x", row}, {"n", scalar(3)}}), (Floats{1, 5, 1, 5, 1, 5, 1, 5})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", row}, {"n", scalar(5)}}), Floats{});
  expect_error(run, {"step 'l'", "iteration 3", "at most three rows"});
}

/// y = c ? x + x : x, where x must be below 10 in the first branch.
nv::ITensor* choice(LoopBench& w, nv::ITensor* condition, nv::ITensor* x) {
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setName("choice");
  conditional->setCondition(*condition);
  nv::ITensor* inside = conditional->addInput(*x)->getOutput(0);
  nv::ITensor* twice = w.add(inside, inside);
  w->addAssertion(*w.less(twice, w.constant({1}, {20})), "x is below 10");
  return conditional->addOutput(*twice, *inside)->getOutput(0);
}

/// Runs a network in which a choice asserts in its branch for true. `otherwise` is what it gives for 70 and false.
void expect_choice_asserts(LoopBench& w, float otherwise) {
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({1}, {7})}}), Floats{14}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", floats({1}, {70})}}), Floats{otherwise}) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", floats({1}, {70})}}), Floats{});
  expect_error(run, {"step 'choice'", "the branch of true", "x is below 10"});
}

TEST(BodyAssertions, OfABranchHoldWhereItRuns) {
  LoopBench w;
  w.mark(choice(w, w.input("c", {}, nv::DataType::kBOOL), w.input("x", {1})));
  expect_choice_asserts(w, 70);
}

// The branch stands in the network's place then.
TEST(BodyAssertions, OfABranchThatABuildTakes) {
  for (const int taken : {1, 0}) {
    LoopBench w;
    w.mark(choice(w, w->addCast(*w.number(taken), nv::DataType::kBOOL)->getOutput(0), w.input("x", {1})));
    LoopRun run(w);
    ASSERT_EQ(run.error, "");
    EXPECT_EQ(run.floats_of({{"x", floats({1}, {7})}}), Floats{taken ? 14.0F : 7.0F}) << run.error;
    EXPECT_EQ(run.floats_of({{"x", floats({1}, {70})}}), taken ? Floats{} : Floats{70});
    if (taken) expect_error(run, {"x is below 10"});
  }
}

TEST(BodyAssertions, OfBranchesInLoops) {
  LoopBench w;
  nv::ILoop* loop = loop_of(w, "l", w.number(3));
  nv::ITensor* slice = loop->addIterator(*w.input("x", {3, 1}))->getOutput(0);
  nv::ITensor* taken = loop->addIterator(*w.input("c", {3}, nv::DataType::kBOOL))->getOutput(0);
  w.mark(w.stack(loop, choice(w, taken, slice), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto choices = [](uint8_t a, uint8_t b, uint8_t c) { return tensor_of<uint8_t>({3}, {a, b, c}); };
  const Bytes x = floats({3, 1}, {1, 20, 3});
  EXPECT_EQ(run.floats_of({{"c", choices(1, 0, 1)}, {"x", x}}), (Floats{2, 20, 6})) << run.error;
  EXPECT_EQ(run.floats_of({{"c", choices(1, 1, 1)}, {"x", x}}), Floats{});
  expect_error(run, {"step 'l'", "iteration 1", "step 'choice'", "the branch of true", "x is below 10"});
}

// Nobody reads what the loop gives, and it runs for the assertion.
TEST(BodyAssertions, OfLoopsThatNobodyReads) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {4});
  nv::ILoop* loop = loop_of(w, "check", w.number(4));
  nv::ITensor* slice = loop->addIterator(*x)->getOutput(0);
  w->addAssertion(*w.less(slice, w.constant({}, {10})), "x is below 10");
  w.mark(w.add(x, x));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 3, 4})}}), (Floats{2, 4, 6, 8})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {1, 2, 13, 4})}}), Floats{});
  expect_error(run, {"step 'check'", "iteration 2", "x is below 10"});
}

TEST(BodyAssertions, OfConditionalsThatNobodyReads) {
  LoopBench w;
  nv::ITensor *c = w.input("c", {}, nv::DataType::kBOOL), *x = w.input("x", {1});
  choice(w, c, x);
  w.mark(w.add(x, x));
  expect_choice_asserts(w, 140);
}

TEST(BodyAssertions, OfLoopsWithinOthersThatNobodyReads) {
  Rows w;
  w.mark(w.stack(w.rows, w.add(w.row, w.row), w.number(2)));
  expect_doubled(w, {1, 2, 3, 40, 5, 6}, "iteration 0: ");
}

// What constants make is known to the build, and a branch that never runs asserts nothing.
TEST(BodyAssertions, OfConstantsInABranch) {
  LoopBench w;
  nv::ITensor *c = w.input("c", {}, nv::DataType::kBOOL), *x = w.input("x", {100});
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setName("choice");
  conditional->setCondition(*c);
  nv::ITensor* inside = conditional->addInput(*x)->getOutput(0);
  nv::ITensor* none = conditional->addInput(*w.constant({100}, Floats(100, 0)))->getOutput(0);
  nv::ITensor* sum = w->addReduce(*none, nv::ReduceOperation::kSUM, 1, true)->getOutput(0);
  w->addAssertion(*w.less(w.constant({1}, {1}), sum), "the sum is above 1");
  nv::ITensor* all = w.add(inside, sum);
  w.mark(conditional->addOutput(*all, *inside)->getOutput(0));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Bytes zeros = floats({100}, Floats(100, 0));
  EXPECT_EQ(run.floats_of({{"c", flag(false)}, {"x", zeros}}), Floats(100, 0)) << run.error;
  EXPECT_EQ(run.floats_of({{"c", flag(true)}, {"x", zeros}}), Floats{});
  expect_error(run, {"the sum is above 1"});
}

}  // namespace
}  // namespace kiln::api::testing
