#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Extents = std::vector<int64_t>;
using nv::LoopOutput, nv::TripLimit;
constexpr auto kProd = nv::ElementWiseOperation::kPROD;

nv::ITensor* last(nv::ILoop* loop, nv::ITensor* value) {
  return loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE)->getOutput(0);
}

TEST(LoopLayers, KeepTheirFields) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  EXPECT_STREQ(loop->getName(), "(Unnamed Loop* 0)");
  loop->setName("decoder");
  EXPECT_STREQ(loop->getName(), "decoder");
  nv::ITensor* x = w.input("x", {2, 3, 4});
  nv::ITripLimitLayer* limit = loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IIteratorLayer* iterator = loop->addIterator(*x, 1);
  nv::IRecurrenceLayer* recurrence = loop->addRecurrence(*w.constant({2, 4}, Floats(8, 0)));
  recurrence->setInput(1, *w.add(recurrence->getOutput(0), iterator->getOutput(0)));
  nv::ILoopOutputLayer* output = loop->addLoopOutput(*recurrence->getOutput(0), LoopOutput::kREVERSE, 2);
  output->setName("o");
  output->getOutput(0)->setName("t");
  EXPECT_EQ(list(output->getOutput(0)->getDimensions()), Extents{-1});  // it has no length yet
  EXPECT_NE(w.take_error().find("a concatenated output needs its length"), std::string::npos);
  output->setInput(1, *w.number(3));
  EXPECT_EQ(limit->getType(), nv::LayerType::kTRIP_LIMIT);
  EXPECT_EQ(iterator->getType(), nv::LayerType::kITERATOR);
  EXPECT_EQ(recurrence->getType(), nv::LayerType::kRECURRENCE);
  EXPECT_EQ(output->getType(), nv::LayerType::kLOOP_OUTPUT);
  for (const nv::ILoopBoundaryLayer* layer :
       std::initializer_list<nv::ILoopBoundaryLayer*>{limit, iterator, recurrence, output})
    EXPECT_EQ(layer->getLoop(), loop);
  EXPECT_EQ(limit->getTripLimit(), TripLimit::kCOUNT);
  EXPECT_EQ(limit->getNbOutputs(), 0);
  EXPECT_EQ(limit->getNbInputs(), 1);
  EXPECT_EQ(iterator->getAxis(), 1);
  EXPECT_FALSE(iterator->getReverse());
  EXPECT_EQ(list(iterator->getOutput(0)->getDimensions()), (Extents{2, 4}));
  iterator->setAxis(2);
  iterator->setReverse(true);
  EXPECT_EQ(iterator->getAxis(), 2);
  EXPECT_TRUE(iterator->getReverse());
  EXPECT_EQ(list(iterator->getOutput(0)->getDimensions()), (Extents{2, 3}));
  EXPECT_EQ(recurrence->getNbInputs(), 2);
  EXPECT_EQ(list(recurrence->getOutput(0)->getDimensions()), (Extents{2, 4}));
  EXPECT_EQ(output->getLoopOutput(), LoopOutput::kREVERSE);
  EXPECT_EQ(output->getAxis(), 2);
  EXPECT_EQ(list(output->getOutput(0)->getDimensions()), (Extents{2, 4, 3}));
  output->setAxis(0);
  EXPECT_EQ(output->getAxis(), 0);
  EXPECT_EQ(list(output->getOutput(0)->getDimensions()), (Extents{3, 2, 4}));
}

// The factorial of n: a while loop whose condition is of its recurrences.
TEST(Loops, RunWhileAConditionHolds) {
  LoopBench w;
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  nv::IRecurrenceLayer* i = loop->addRecurrence(*w.number(1));
  nv::IRecurrenceLayer* product = loop->addRecurrence(*w.number(1));
  loop->addTripLimit(*w.less(i->getOutput(0), w.add(n, w.number(1))), TripLimit::kWHILE);
  i->setInput(1, *w.add(i->getOutput(0), w.number(1)));
  product->setInput(1, *w.mul(product->getOutput(0), i->getOutput(0)));
  w.mark(last(loop, product->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.ints_of({{"n", scalar(5)}}), Ints{120}) << run.error;
  EXPECT_EQ(run.ints_of({{"n", scalar(10)}}), Ints{3628800}) << run.error;
  EXPECT_EQ(run.ints_of({{"n", scalar(0)}}), Ints{1}) << run.error;
}

/// Loops in one another, each of which adds a row in each iteration, with a conditional around every second one.
nv::ITensor* nest(LoopBench& w, nv::ITensor* x, nv::ITensor* row, nv::ITensor* condition, int depth) {
  if (depth == 0) return w->addUnary(*x, nv::UnaryOperation::kNEG)->getOutput(0);
  nv::IIfConditional* conditional = depth % 2 ? nullptr : w->addIfConditional();
  if (conditional) {
    conditional->setCondition(*condition);
    x = conditional->addInput(*x)->getOutput(0);
  }
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(1), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* carried = loop->addRecurrence(*x);
  nv::ITensor* parts[] = {nest(w, carried->getOutput(0), row, condition, depth - 1), row};
  nv::IConcatenationLayer* joined = w->addConcatenation(parts, 2);
  joined->setAxis(0);
  carried->setInput(1, *joined->getOutput(0));
  nv::ITensor* result = last(loop, carried->getOutput(0));
  return conditional ? conditional->addOutput(*result, *x)->getOutput(0) : result;
}
TEST(Loops, NestForThirtyLevels) {
  LoopBench w;
  nv::ITensor* condition = w.input("condition", {}, nv::DataType::kBOOL);
  w.mark(nest(w, w.input("x", {1, 2}), w.constant({1, 2}, {1, 2}), condition, 30));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto of = [&](bool holds) { return run({{"x", floats({1, 2}, {3, 4})}, {"condition", flag(holds)}})["y"]; };
  EXPECT_EQ(of(true).extents, (Extents{31, 2})) << run.error;
  EXPECT_EQ(elements<float>(of(false)), (Floats{3, 4})) << run.error;
}

// Fibonacci's numbers: two recurrences, of which one is the other's next value.
TEST(Loops, CountIterations) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(8), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* a = loop->addRecurrence(*w.number(0));
  nv::IRecurrenceLayer* b = loop->addRecurrence(*w.number(1));
  a->setInput(1, *b->getOutput(0));
  b->setInput(1, *w.add(a->getOutput(0), b->getOutput(0)));
  w.mark(w.stack(loop, a->getOutput(0), w.number(8)));
  w.mark(last(loop, b->getOutput(0)), "last");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({});
  EXPECT_EQ(elements<int32_t>(outputs["y"]), (Ints{0, 1, 1, 2, 3, 5, 8, 13}));
  EXPECT_EQ(elements<int32_t>(outputs["last"]), Ints{34});
}

TEST(Loops, CountAsATensorSays) {
  LoopBench w;
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  nv::IRecurrenceLayer* x = loop->addRecurrence(*w.constant({1}, {1}));
  x->setInput(1, *w.mul(x->getOutput(0), w.constant({1}, {2})));
  w.mark(last(loop, x->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"n", scalar(10)}}), Floats{1024}) << run.error;
  EXPECT_EQ(run.floats_of({{"n", scalar(0)}}), Floats{1}) << run.error;
  EXPECT_EQ(run.floats_of({{"n", scalar(-3)}}), Floats{1}) << run.error;
}

/// Running sums of x's slices along an axis, as a loop and as plain code.
struct RunningSum {
  int32_t axis;
  bool reverse;
  LoopOutput kind;
  int32_t out_axis;
};

class IteratedSum : public ::testing::TestWithParam<RunningSum> {};

TEST_P(IteratedSum, IsTheSumOfSlices) {
  const auto [axis, reverse, kind, out_axis] = GetParam();
  constexpr int kRows = 3, kCols = 4;
  LoopBench w;
  nv::ITensor* x = w.input("x", {kRows, kCols});
  const int count = axis == 0 ? kRows : kCols, width = axis == 0 ? kCols : kRows;
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(count), TripLimit::kCOUNT);
  nv::ITensor* slice = loop->addIterator(*x, axis, reverse)->getOutput(0);
  nv::IRecurrenceLayer* sum = loop->addRecurrence(*w.constant({width}, Floats(static_cast<size_t>(width), 0)));
  nv::ITensor* next = w.add(sum->getOutput(0), slice);
  sum->setInput(1, *next);
  w.mark(w.stack(loop, next, w.number(count), kind, out_axis));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Floats values(kRows * kCols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 13);
  const auto at = [&](int iteration, int k) {
    const int i = reverse ? count - 1 - iteration : iteration;
    return values[static_cast<size_t>(axis == 0 ? i * kCols + k : k * kCols + i)];
  };
  Floats expected(values.size());
  for (int k = 0; k < width; ++k) {
    float total = 0;
    for (int i = 0; i < count; ++i) {
      total += at(i, k);
      const int row = kind == LoopOutput::kREVERSE ? count - 1 - i : i;
      expected[static_cast<size_t>(out_axis == 0 ? row * width + k : k * count + row)] = total;
    }
  }
  auto outputs = run({{"x", floats({kRows, kCols}, values)}});
  EXPECT_EQ(outputs["y"].extents, out_axis == 0 ? (Extents{count, width}) : (Extents{width, count})) << run.error;
  EXPECT_EQ(elements<float>(outputs["y"]), expected);
}

INSTANTIATE_TEST_SUITE_P(All, IteratedSum,
                         ::testing::Values(RunningSum{0, false, LoopOutput::kCONCATENATE, 0},
                                           RunningSum{0, true, LoopOutput::kCONCATENATE, 0},
                                           RunningSum{1, false, LoopOutput::kCONCATENATE, 0},
                                           RunningSum{1, true, LoopOutput::kCONCATENATE, 1},
                                           RunningSum{-1, false, LoopOutput::kREVERSE, -1},
                                           RunningSum{0, false, LoopOutput::kREVERSE, 0},
                                           RunningSum{0, true, LoopOutput::kREVERSE, 1}));

/// A while loop that counts to n and stacks squares, for outputs whose length is not the number of iterations.
void stack_squares(LoopBench& w, LoopOutput kind, int32_t length, TripLimit limit) {
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  nv::IRecurrenceLayer* i = loop->addRecurrence(*w.number(0));
  if (limit == TripLimit::kWHILE)
    loop->addTripLimit(*w.less(i->getOutput(0), n), TripLimit::kWHILE);
  else
    loop->addTripLimit(*n, TripLimit::kCOUNT);
  nv::ITensor* next = w.add(i->getOutput(0), w.number(1));
  i->setInput(1, *next);
  nv::ILoopOutputLayer* squares = loop->addLoopOutput(*w.mul(next, next), kind);
  squares->setName("squares");
  squares->setInput(1, *w.number(length));
  w.mark(squares->getOutput(0));
}

TEST(Loops, FillWhatNoIterationGives) {
  for (const TripLimit limit : {TripLimit::kWHILE, TripLimit::kCOUNT}) {
    SCOPED_TRACE(static_cast<int>(limit));
    LoopBench forward, backward;
    stack_squares(forward, LoopOutput::kCONCATENATE, 5, limit);
    stack_squares(backward, LoopOutput::kREVERSE, 5, limit);
    LoopRun run(forward), reversed(backward);
    ASSERT_EQ(run.error, "");
    ASSERT_EQ(reversed.error, "");
    EXPECT_EQ(run.ints_of({{"n", scalar(3)}}), (Ints{1, 4, 9, 0, 0})) << run.error;
    EXPECT_EQ(run.ints_of({{"n", scalar(5)}}), (Ints{1, 4, 9, 16, 25})) << run.error;
    EXPECT_EQ(run.ints_of({{"n", scalar(0)}}), (Ints{0, 0, 0, 0, 0})) << run.error;
    EXPECT_EQ(reversed.ints_of({{"n", scalar(3)}}), (Ints{9, 4, 1, 0, 0})) << reversed.error;
    EXPECT_EQ(reversed.ints_of({{"n", scalar(5)}}), (Ints{25, 16, 9, 4, 1})) << reversed.error;
    EXPECT_EQ(run.ints_of({{"n", scalar(6)}}), Ints{});
    const std::string is_full = "stacked output 0 'squares' has room for 5 slices, and this would be number 6";
    EXPECT_NE(run.error.find("iteration 5: " + is_full), std::string::npos) << run.error;
    EXPECT_EQ(reversed.ints_of({{"n", scalar(6)}}), Ints{});
    EXPECT_NE(reversed.error.find(is_full), std::string::npos) << reversed.error;
    EXPECT_EQ(run.ints_of({{"n", scalar(2)}}), (Ints{1, 4, 0, 0, 0})) << run.error;  // as if nothing had been
  }
}

// A condition of data ends the loop: what it had stacked until then is reversed.
TEST(Loops, ReverseWhatAConditionHasEnded) {
  for (const bool is_counted : {false, true}) {
    LoopBench w;
    nv::ITensor* x = w.input("x", {6});
    nv::ITensor* limit = w.input("limit", {}, nv::DataType::kFLOAT);
    nv::ILoop* loop = w->addLoop();
    nv::IRecurrenceLayer* sum = loop->addRecurrence(*w.constant({}, {0}));
    loop->addTripLimit(*w.less(sum->getOutput(0), limit), TripLimit::kWHILE);
    if (is_counted) loop->addTripLimit(*w.number(6), TripLimit::kCOUNT);
    nv::ITensor* next = w.add(sum->getOutput(0), loop->addIterator(*x)->getOutput(0));
    sum->setInput(1, *next);
    w.mark(w.stack(loop, next, w.number(6), LoopOutput::kREVERSE));
    w.mark(w.stack(loop, next, w.number(6)), "forward");
    LoopRun run(w);
    ASSERT_EQ(run.error, "");
    const Floats values{3, 1, 4, 1, 5, 9};
    for (const float most : {0.F, 1.F, 4.F, 9.F, 100.F}) {
      Floats forward, expected(6, 0);
      for (float total = 0; total < most && forward.size() < values.size();)
        forward.push_back(total += values[forward.size()]);
      std::ranges::reverse_copy(forward, expected.begin());
      forward.resize(6, 0);
      auto outputs = run({{"x", floats({6}, values)}, {"limit", floats({}, {most})}});
      EXPECT_EQ(elements<float>(outputs["y"]), expected) << run.error << most;
      EXPECT_EQ(elements<float>(outputs["forward"]), forward) << most;
    }
  }
}

// Nothing bounds a counter that is compared by "not equal": it may begin beyond its end. What grows has memory as it
// grows, and a length says how much of what is stacked is kept at most.
TEST(Loops, RunWhileACounterIsNotItsEnd) {
  LoopBench w;
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  nv::IRecurrenceLayer* i = loop->addRecurrence(*w.number(0));
  nv::ITensor* is_end = w.binary(i->getOutput(0), n, nv::ElementWiseOperation::kEQUAL);
  loop->addTripLimit(*w->addUnary(*is_end, nv::UnaryOperation::kNOT)->getOutput(0), TripLimit::kWHILE);
  i->setInput(1, *w.add(i->getOutput(0), w.number(1)));
  nv::IRecurrenceLayer* all = loop->addRecurrence(*w.input("x", {1}));
  nv::ITensor* const parts[] = {all->getOutput(0), w.constant({1}, {7})};
  all->setInput(1, *w->addConcatenation(parts, 2)->getOutput(0));
  w.mark(last(loop, all->getOutput(0)));
  w.mark(w.stack(loop, i->getOutput(0), w.number(5)), "numbers");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  for (const int32_t count : {3, 0, 5, 1}) {
    Floats expected(static_cast<size_t>(count) + 1, 7);
    expected[0] = 1;
    Ints numbers(5, 0);
    for (int32_t k = 0; k < count; ++k) numbers[static_cast<size_t>(k)] = k;
    auto outputs = run({{"n", scalar(count)}, {"x", floats({1}, {1})}});
    EXPECT_EQ(elements<float>(outputs["y"]), expected) << run.error;
    EXPECT_EQ(elements<int32_t>(outputs["numbers"]), numbers);
  }
}

TEST(Loops, EndWhereTheFirstOfTwoLimitsSays) {
  LoopBench w;
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::ILoop* loop = w->addLoop();
  nv::IRecurrenceLayer* i = loop->addRecurrence(*w.number(0));
  loop->addTripLimit(*w.less(i->getOutput(0), n), TripLimit::kWHILE);
  loop->addTripLimit(*w.number(4), TripLimit::kCOUNT);
  i->setInput(1, *w.add(i->getOutput(0), w.number(1)));
  w.mark(w.stack(loop, i->getOutput(0), w.number(4), LoopOutput::kREVERSE));
  w.mark(last(loop, i->getOutput(0)), "last");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.ints_of({{"n", scalar(2)}}), (Ints{1, 0, 0, 0})) << run.error;
  auto outputs = run({{"n", scalar(9)}});
  EXPECT_EQ(elements<int32_t>(outputs["y"]), (Ints{3, 2, 1, 0})) << run.error;
  EXPECT_EQ(elements<int32_t>(outputs["last"]), Ints{4});
}

// An inner loop sums the elements of a row of x times each element of v; the outer one goes through the rows.
TEST(Loops, Nest) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {2, 3});
  nv::ITensor* v = w.input("v", {4});
  nv::ILoop* rows = w->addLoop();
  rows->addTripLimit(*w.number(2), TripLimit::kCOUNT);
  nv::ITensor* row = rows->addIterator(*x)->getOutput(0);
  nv::ILoop* factors = w->addLoop();
  factors->addTripLimit(*w.number(4), TripLimit::kCOUNT);
  nv::ITensor* factor = factors->addIterator(*v)->getOutput(0);
  nv::IShuffleLayer* vector = w->addShuffle(*factor);
  vector->setReshapeDimensions(dims({1}));
  nv::ITensor* product = w.binary(row, vector->getOutput(0), kProd);
  nv::IRecurrenceLayer* total = factors->addRecurrence(*w.constant({3}, {0, 0, 0}));
  total->setInput(1, *w.add(total->getOutput(0), product));
  nv::ITensor* products = w.stack(factors, product, w.number(4));
  nv::ITensor* sums = last(factors, total->getOutput(0));
  w.mark(w.stack(rows, products, w.number(2)));
  w.mark(w.stack(rows, sums, w.number(2)), "sums");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const Floats a{1, 2, 3, 4, 5, 6}, b{1, 10, 100, 1000};
  auto outputs = run({{"x", floats({2, 3}, a)}, {"v", floats({4}, b)}});
  Floats expected, totals;
  for (size_t i = 0; i < 2; ++i) {
    for (size_t k = 0; k < 4; ++k)
      for (size_t j = 0; j < 3; ++j) expected.push_back(a[i * 3 + j] * b[k]);
    for (size_t j = 0; j < 3; ++j) totals.push_back(a[i * 3 + j] * 1111);
  }
  EXPECT_EQ(outputs["y"].extents, (Extents{2, 4, 3})) << run.error;
  EXPECT_EQ(elements<float>(outputs["y"]), expected);
  EXPECT_EQ(elements<float>(outputs["sums"]), totals);
}

/// An LSTM's cell by hand: gates i, f, g, o of x W + h R.
TEST(Loops, MakeAnLstm) {
  constexpr int kSteps = 3, kIn = 2, kHidden = 2, kGates = 4 * kHidden;
  Floats x(kSteps * kIn), weights(kIn * kGates), recurrent(kHidden * kGates);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i + 1));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::cos(static_cast<float>(3 * i));
  for (size_t i = 0; i < recurrent.size(); ++i) recurrent[i] = std::sin(static_cast<float>(5 * i)) / 2;
  LoopBench w;
  w.config->clearFlag(nv::BuilderFlag::kTF32);
  nv::ILoop* loop = w->addLoop();
  nv::ITensor* input = w.input("x", {-1, 1, kIn});
  w.profile("x", {1, 1, kIn}, {kSteps, 1, kIn}, {8, 1, kIn});
  nv::ITensor* steps = w.extent(input, 0);
  loop->addTripLimit(*steps, TripLimit::kCOUNT);
  nv::ITensor* now = loop->addIterator(*input)->getOutput(0);
  nv::IRecurrenceLayer* h = loop->addRecurrence(*w.constant({1, kHidden}, Floats(kHidden, 0)));
  nv::IRecurrenceLayer* c = loop->addRecurrence(*w.constant({1, kHidden}, Floats(kHidden, 0)));
  const auto product = [&](nv::ITensor* a, nv::ITensor* b) {
    return w->addMatrixMultiply(*a, nv::MatrixOperation::kNONE, *b, nv::MatrixOperation::kNONE)->getOutput(0);
  };
  nv::ITensor* gates = w.add(product(now, w.constant({kIn, kGates}, weights)),
                             product(h->getOutput(0), w.constant({kHidden, kGates}, recurrent)));
  const auto gate = [&](int64_t k, nv::ActivationType type) {
    nv::ITensor* part = w->addSlice(*gates, dims({0, k * kHidden}), dims({1, kHidden}), dims({1, 1}))->getOutput(0);
    return w->addActivation(*part, type)->getOutput(0);
  };
  using enum nv::ActivationType;
  nv::ITensor* next_c = w.add(w.mul(gate(1, kSIGMOID), c->getOutput(0)), w.mul(gate(0, kSIGMOID), gate(2, kTANH)));
  nv::ITensor* next_h = w.mul(gate(3, kSIGMOID), w->addActivation(*next_c, kTANH)->getOutput(0));
  h->setInput(1, *next_h);
  c->setInput(1, *next_c);
  w.mark(w.stack(loop, next_h, steps));
  w.mark(last(loop, c->getOutput(0)), "cell");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  Floats hidden(kHidden, 0), cell(kHidden, 0), expected;
  for (size_t t = 0; t < kSteps; ++t) {
    Floats at(kGates, 0);
    for (size_t g = 0; g < kGates; ++g) {
      for (size_t k = 0; k < kIn; ++k) at[g] += x[t * kIn + k] * weights[k * kGates + g];
      for (size_t k = 0; k < kHidden; ++k) at[g] += hidden[k] * recurrent[k * kGates + g];
    }
    const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
    for (size_t k = 0; k < kHidden; ++k) {
      cell[k] = sigmoid(at[kHidden + k]) * cell[k] + sigmoid(at[k]) * std::tanh(at[2 * kHidden + k]);
      hidden[k] = sigmoid(at[3 * kHidden + k]) * std::tanh(cell[k]);
      expected.push_back(hidden[k]);
    }
  }
  auto outputs = run({{"x", floats({kSteps, 1, kIn}, x)}});
  const Floats y = elements<float>(outputs["y"]), last_cell = elements<float>(outputs["cell"]);
  EXPECT_EQ(outputs["y"].extents, (Extents{kSteps, 1, kHidden})) << run.error;
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5F);
  ASSERT_EQ(last_cell.size(), cell.size());
  for (size_t i = 0; i < cell.size(); ++i) EXPECT_NEAR(last_cell[i], cell[i], 1e-5F);
}

// What a loop gives may have nothing to do with its iterations.
TEST(Loops, TakeValuesThatNoIterationChanges) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* twice = w.add(x, x);
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  value->setInput(1, *twice);
  w.mark(w.stack(loop, value->getOutput(0), w.number(3)));
  w.mark(w.stack(loop, twice, w.number(3)), "same");
  w.mark(last(loop, value->getOutput(0)), "last");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({{"x", floats({2}, {1, 5})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{1, 5, 2, 10, 2, 10})) << run.error;
  EXPECT_EQ(elements<float>(outputs["same"]), (Floats{2, 10, 2, 10, 2, 10}));
  EXPECT_EQ(elements<float>(outputs["last"]), (Floats{2, 10}));
}

// A recurrence may grow: TensorRT has it keep its shape.
TEST(Loops, CarryExtentsThatChange) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {1, 2});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* all = loop->addRecurrence(*x);
  nv::ITensor* const parts[] = {all->getOutput(0), x};
  nv::IConcatenationLayer* longer = w->addConcatenation(parts, 2);
  longer->setAxis(0);
  all->setInput(1, *longer->getOutput(0));
  w.mark(last(loop, all->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({{"x", floats({1, 2}, {1, 5})}});
  EXPECT_EQ(outputs["y"].extents, (Extents{4, 2})) << run.error;
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{1, 5, 1, 5, 1, 5, 1, 5}));
}

// The count is a tensor's extent in this run, and another tensor is iterated over: it must have as many slices.
TEST(Loops, CheckThatIteratorsHaveEnoughSlices) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {-1});
  w.profile("x", {1}, {2}, {8});
  nv::ILoop* loop = w->addLoop();
  nv::ITensor* n = w.extent(x, 0);
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  nv::ITensor* slice = loop->addIterator(*w.constant({3}, {1, 10, 100}))->getOutput(0);
  w.mark(w.stack(loop, w.add(slice, slice), n));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {0, 0})}}), (Floats{2, 20})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({4}, {0, 0, 0, 0})}}), Floats{});
  EXPECT_NE(run.error.find("as many iterations as scanned input 0 has slices, at most"), std::string::npos)
      << run.error;
}

// A number that the program gives is the count and the length of what is stacked.
TEST(Loops, TakeTheirLengthFromAShapeInput) {
  LoopBench w;
  nv::ITensor* n = w.input("n", {}, nv::DataType::kINT32);
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const auto& [which, value] : {std::pair(nv::OptProfileSelector::kMIN, 0),
                                     {nv::OptProfileSelector::kOPT, 4},
                                     {nv::OptProfileSelector::kMAX, 8}}) {
    const int64_t wide = value;
    EXPECT_TRUE(profile->setShapeValuesV2("n", which, &wide, 1));
  }
  w.config->addOptimizationProfile(profile);
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*n, TripLimit::kCOUNT);
  nv::IRecurrenceLayer* i = loop->addRecurrence(*w.number(0));
  i->setInput(1, *w.add(i->getOutput(0), w.number(1)));
  nv::ITensor* y = w.stack(loop, w.mul(i->getOutput(0), i->getOutput(0)), n, LoopOutput::kREVERSE);
  EXPECT_EQ(list(y->getDimensions()), Extents{-1});
  EXPECT_TRUE(n->isShapeTensor());
  w.mark(y);
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.ints_of({{"n", scalar(3)}}), (Ints{4, 1, 0})) << run.error;
  EXPECT_EQ(run.ints_of({{"n", scalar(0)}}), Ints{}) << run.error;
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.ints_of({{"n", scalar(5)}}), (Ints{16, 9, 4, 1, 0})) << run.error;
}

// Inputs that are added behind layers of a loop, and dimensions of one name.
TEST(Loops, AreInNetworksWithNamedDimensions) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(2), TripLimit::kCOUNT);
  nv::ITensor* x = w.input("x", {-1});
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  nv::ITensor* z = w.input("z", {-1});
  x->setDimensionName(0, "n");
  z->setDimensionName(0, "n");
  value->setInput(1, *w.add(value->getOutput(0), w.constant({1}, {1})));
  w.mark(last(loop, value->getOutput(0)));
  w.mark(w.add(z, z), "twice");
  nv::IOptimizationProfile* profile = w.builder->createOptimizationProfile();
  for (const char* name : {"x", "z"})
    for (const auto which : {nv::OptProfileSelector::kMIN, nv::OptProfileSelector::kOPT, nv::OptProfileSelector::kMAX})
      profile->setDimensions(name, which, dims({which == nv::OptProfileSelector::kMIN ? 1 : 4}));
  w.config->addOptimizationProfile(profile);
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {1, 2})}, {"z", floats({2}, {1, 2})}}), (Floats{3, 4})) << run.error;
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {1, 2})}, {"z", floats({3}, {1, 2, 3})}}), Floats{});
  EXPECT_NE(run.error.find("dimension 'n'"), std::string::npos) << run.error;
}

TEST(Loops, AreDroppedWhereNobodyReadsThem) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  value->setInput(1, *w.add(value->getOutput(0), x));
  w.mark(w.add(x, x));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({2}, {1, 5})}}), (Floats{2, 10})) << run.error;
}

/// What a build says of a loop that `make` adds, over an input x f32[2].
template <class F>
std::string build_error(F make) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {2});
  nv::ILoop* loop = w->addLoop();
  loop->setName("l");
  make(w, x, loop);
  if (const std::string early = w.take_error(); !early.empty()) return early;
  return LoopRun(w).error;
}

TEST(Loops, SayWhatIsWrong) {
  const auto error_of = [](auto make, std::string_view part) {
    const std::string error = build_error(make);
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  };
  using W = LoopBench&;
  const auto carry = [](W w, nv::ITensor* x, nv::ILoop* loop) {
    nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
    value->setInput(1, *w.add(value->getOutput(0), x));
    return value->getOutput(0);
  };
  error_of([&](W w, nv::ITensor* x, nv::ILoop* l) { w.mark(last(l, carry(w, x, l))); },
           "loop 'l' has no trip limit: ILoop::addTripLimit says how often it runs");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.wide(INT64_MAX), TripLimit::kCOUNT);
        w.mark(last(l, carry(w, x, l)));
      },
      "loop 'l': nothing ends the loop: its count is 9223372036854775807, ");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(INT32_MAX), TripLimit::kCOUNT);
        w.mark(last(l, carry(w, x, l)));
      },
      "loop 'l': nothing ends the loop: its count is 2147483647, ");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.input("c", {}, nv::DataType::kBOOL), TripLimit::kWHILE);
        w.mark(last(l, carry(w, x, l)));
      },
      "loop 'l': nothing ends the loop: its condition 'c' is computed outside");
  error_of(
      [&](W w, nv::ITensor*, nv::ILoop* l) {
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
      },
      "loop 'l' has a trip limit of that kind already");
  error_of([&](W, nv::ITensor* x, nv::ILoop* l) { l->addTripLimit(*x, TripLimit::kCOUNT); },
           "the trip limit is f32[2]; one element of type i32 or i64 is needed");
  error_of([&](W w, nv::ITensor*, nv::ILoop* l) { l->addTripLimit(*w.number(1), TripLimit::kWHILE); },
           "one element of type bool is needed");
  error_of([&](W, nv::ITensor* x, nv::ILoop* l) { l->addIterator(*x, 1); }, "axis 1 is outside [-1, 1) of x f32[2]");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
        w.mark(last(l, l->addRecurrence(*x)->getOutput(0)));
      },
      "of loop 'l' has no next value: setInput(1, value) gives it");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
        w.mark(w.add(carry(w, x, l), x));
      },
      "output 'y' of the network is inside loop 'l'; a value leaves it by ILoop::addLoopOutput");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
        nv::IRecurrenceLayer* value = l->addRecurrence(*x);
        value->setInput(1, *w->addCast(*value->getOutput(0), nv::DataType::kINT32)->getOutput(0));
        w.mark(last(l, value->getOutput(0)));
      },
      "it is f32[2] before an iteration and i32[2] behind it; its ty");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(1), TripLimit::kCOUNT);
        w.mark(last(l, w.add(carry(w, x, l), x)));
      },
      "gives a last value, and its input");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        nv::ITensor* value = carry(w, x, l);
        nv::ITensor* sum = w->addReduce(*value, nv::ReduceOperation::kSUM, 1, false)->getOutput(0);
        l->addTripLimit(*w->addCast(*sum, nv::DataType::kINT32)->getOutput(0), TripLimit::kCOUNT);
        w.mark(last(l, value));
      },
      "the count of loop 'l'");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(3), TripLimit::kCOUNT);
        w.mark(w.stack(l, carry(w, x, l), w.number(2)));
      },
      "the length is 2, and the loop runs 3 times");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(3), TripLimit::kCOUNT);
        w.mark(w.stack(l, w.add(l->addIterator(*x)->getOutput(0), w.constant({}, {1})), w.number(3)));
      },
      "as many iterations as scanned input 0 has slices, at most");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {  // each reads the other's values
        nv::ILoop* m = w->addLoop();
        m->setName("m");
        l->addTripLimit(*w.number(3), TripLimit::kCOUNT);
        m->addTripLimit(*w.number(3), TripLimit::kCOUNT);
        nv::ITensor *of_l = carry(w, x, l), *of_m = carry(w, x, m);
        w.mark(w.stack(l, w.add(of_l, of_m), w.number(3)));
        w.mark(w.stack(m, w.add(of_l, of_m), w.number(3)), "z");
      },
      "loop 'l' and loop 'm' read values of each other");
  error_of(
      [&](W w, nv::ITensor* x, nv::ILoop* l) {
        l->addTripLimit(*w.number(3), TripLimit::kCOUNT);
        nv::IRecurrenceLayer* value = l->addRecurrence(*x);
        nv::ITensor* result = last(l, value->getOutput(0));
        value->setInput(1, *w.add(result, x));
        w.mark(result);
      },
      "the network has a cycle through");
}

}  // namespace
}  // namespace kiln::api::testing
