// Integers of a loop that decide the shapes of its layers: what slices begin at, what reshapes and fills are as large
// as.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "api/build/testing/loop_bench.h"

namespace kiln::api::testing {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using nv::LoopOutput, nv::TripLimit;

nv::ITensor* last(nv::ILoop* loop, nv::ITensor* value) {
  return loop->addLoopOutput(*value, LoopOutput::kLAST_VALUE)->getOutput(0);
}

/// A number as a list of one.
nv::ITensor* as_list(LoopBench& w, nv::ITensor* number) {
  nv::IShuffleLayer* shuffle = w->addShuffle(*number);
  shuffle->setReshapeDimensions(dims({1}));
  return shuffle->getOutput(0);
}

nv::ITensor* sum_of(LoopBench& w, nv::ITensor* x) {
  const auto rank = static_cast<uint32_t>(x->getDimensions().nbDims);
  return w->addReduce(*x, nv::ReduceOperation::kSUM, (1U << rank) - 1, false)->getOutput(0);
}

/// A slice whose start and size are tensors.
nv::ITensor* slice(LoopBench& w, nv::ITensor* x, nv::ITensor* start, nv::ITensor* size) {
  nv::Dims none{x->getDimensions().nbDims, {}}, ones = none;
  std::fill_n(ones.d, ones.nbDims, 1);
  nv::ISliceLayer* layer = w->addSlice(*x, none, none, ones);
  layer->setInput(1, *start);
  layer->setInput(2, *size);
  return layer->getOutput(0);
}

Floats counted(int64_t n) {
  Floats result(static_cast<size_t>(n));
  std::iota(result.begin(), result.end(), 1.0F);
  return result;
}

/// A recurrence to which each iteration adds a number.
nv::ITensor* counter(LoopBench& w, nv::ILoop* loop, nv::ITensor* first, nv::ITensor* step) {
  nv::IRecurrenceLayer* i = loop->addRecurrence(*first);
  i->setInput(1, *w.add(i->getOutput(0), step));
  return i->getOutput(0);
}

// y[i] = x[2 i : 2 i + 2]
TEST(CarriedShapes, ASliceBeginsAtANumber) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {8});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* i = counter(w, loop, w.number(1), w.number(2));
  nv::ITensor* part = slice(w, x, as_list(w, i), w.ints({1}, {2}));
  EXPECT_EQ(list(part->getDimensions()), std::vector<int64_t>{2});
  EXPECT_TRUE(i->isShapeTensor());
  w.mark(w.stack(loop, part, w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({8}, counted(8))}}), (Floats{2, 3, 4, 5, 6, 7})) << run.error;
}

// A list is what a two-dimensional slice begins at: it goes down a diagonal.
TEST(CarriedShapes, ASliceBeginsAtAList) {
  for (const bool is_wide : {false, true}) {
    LoopBench w;
    nv::ITensor* x = w.input("x", {3, 5});
    nv::ILoop* loop = w->addLoop();
    loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
    const auto list_of = [&](int32_t a, int32_t b) {
      nv::ITensor* result = w.ints({2}, {a, b});
      return is_wide ? w->addCast(*result, nv::DataType::kINT64)->getOutput(0) : result;
    };
    nv::ITensor* at = counter(w, loop, list_of(0, 0), list_of(1, 2));
    w.mark(w.stack(loop, slice(w, x, at, list_of(1, 1)), w.number(3)));
    LoopRun run(w);
    ASSERT_EQ(run.error, "");
    EXPECT_EQ(run.floats_of({{"x", floats({3, 5}, counted(15))}}), (Floats{1, 8, 15})) << run.error;
  }
}

// y[i] = the sum of the first n[i] elements, n = {1, 3, 5}
TEST(CarriedShapes, ASliceIsAsLongAsANumber) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {6});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* n = counter(w, loop, w.number(1), w.number(2));
  nv::ITensor* part = slice(w, x, w.ints({1}, {0}), as_list(w, n));
  EXPECT_EQ(list(part->getDimensions()), std::vector<int64_t>{-1});
  w.mark(w.stack(loop, sum_of(w, part), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({6}, counted(6))}}), (Floats{1, 6, 15})) << run.error;
}

// y = slices of n elements that begin at 0, 1 and 2: n is data, and the same in all iterations.
TEST(CarriedShapes, SlicesOfOneLengthAreStacked) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {6});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* begin = counter(w, loop, w.ints({1}, {0}), w.ints({1}, {1}));
  nv::ITensor* n = loop->addIterator(*w.input("n", {3, 1}, nv::DataType::kINT32))->getOutput(0);
  w.mark(w.stack(loop, slice(w, x, begin, n), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto of = [&](Ints counts) {
    return run({{"x", floats({6}, counted(6))}, {"n", tensor_of<int32_t>({3, 1}, std::move(counts))}})["y"];
  };
  EXPECT_EQ(of({2, 2, 2}).extents, (std::vector<int64_t>{3, 2})) << run.error;
  EXPECT_EQ(elements<float>(of({2, 2, 2})), (Floats{1, 2, 2, 3, 3, 4})) << run.error;
  EXPECT_EQ(elements<float>(of({4, 4, 4})), (Floats{1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6})) << run.error;
  of({2, 2, 3});
  EXPECT_NE(run.error.find("gives a slice of [3] to stack, and those before it were [2]"), std::string::npos)
      << run.error;
}

// What an iterator gives decides likewise: y[i] = the sum of the elements from begin[i] to begin[i] + n[i].
TEST(CarriedShapes, IteratorsGiveThem) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {6});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::ITensor* begin = loop->addIterator(*w.input("begin", {3, 1}, nv::DataType::kINT32))->getOutput(0);
  nv::ITensor* n = loop->addIterator(*w.input("n", {3}, nv::DataType::kINT32), 0, true)->getOutput(0);
  w.mark(w.stack(loop, sum_of(w, slice(w, x, begin, as_list(w, n))), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto of = [&](Ints begins, Ints counts) {
    return run.floats_of({{"x", floats({6}, counted(6))},
                          {"begin", tensor_of<int32_t>({3, 1}, std::move(begins))},
                          {"n", tensor_of<int32_t>({3}, std::move(counts))}});
  };
  EXPECT_EQ(of({0, 2, 5}, {1, 3, 2}), (Floats{1 + 2, 3 + 4 + 5, 6})) << run.error;
  EXPECT_EQ(of({5, 0, 0}, {0, 6, 1}), (Floats{6, 21, 0})) << run.error;
  EXPECT_EQ(of({0, 5, 0}, {1, 2, 1}), Floats{});
  EXPECT_NE(run.error.find("iteration 1: "), std::string::npos) << run.error;
}

// x is reshaped to [1, 12], [2, 6] and [4, 3]; y[i] = the sum of its rows' largest elements.
TEST(CarriedShapes, AReshapeReadsAList) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {12});
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
  nv::IRecurrenceLayer* shape = loop->addRecurrence(*w.ints({2}, {1, -1}));
  shape->setInput(1, *w.mul(shape->getOutput(0), w.ints({2}, {2, 1})));
  nv::IShuffleLayer* shuffle = w->addShuffle(*x);
  shuffle->setInput(1, *shape->getOutput(0));
  nv::ITensor* peaks = w->addReduce(*shuffle->getOutput(0), nv::ReduceOperation::kMAX, 1U << 1, false)->getOutput(0);
  w.mark(w.stack(loop, sum_of(w, peaks), w.number(3)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.floats_of({{"x", floats({12}, counted(12))}}), (Floats{12, 18, 30})) << run.error;
}

// A fill of n elements, n = 1, 3, 5: 0, 1, 2, ... and their sums.
TEST(CarriedShapes, AFillIsAsLargeAsAList) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  loop->addTripLimit(*w.input("trips", {}, nv::DataType::kINT32), TripLimit::kCOUNT);
  nv::ITensor* n = counter(w, loop, w.ints({1}, {1}), w.ints({1}, {2}));
  nv::IFillLayer* fill = w->addFill(nv::Dims{-1, {}}, nv::FillOperation::kLINSPACE, nv::DataType::kFLOAT);
  fill->setInput(0, *n);
  fill->setInput(1, *w.constant({}, {0}));
  fill->setInput(2, *w.constant({1}, {1}));
  nv::IRecurrenceLayer* total = loop->addRecurrence(*w.constant({}, {0}));
  total->setInput(1, *w.add(total->getOutput(0), sum_of(w, fill->getOutput(0))));
  w.mark(last(loop, total->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  for (int32_t trips = 0; trips < 6; ++trips) {
    float expected = 0;
    for (int32_t i = 0; i < trips; ++i)
      for (int32_t k = 0; k < 1 + 2 * i; ++k) expected += static_cast<float>(k);
    EXPECT_EQ(run.floats_of({{"trips", scalar(trips)}}), Floats{expected}) << run.error;
  }
}

// In a branch, and as the count of a loop within: both see the number of the loop around them.
TEST(CarriedShapes, ReachBranchesAndLoopsWithin) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {8});
  nv::ITensor* wanted = w.input("wanted", {4}, nv::DataType::kBOOL);
  nv::ILoop* outer = w->addLoop();
  outer->addTripLimit(*w.number(4), TripLimit::kCOUNT);
  nv::ITensor* n = counter(w, outer, w.number(0), w.number(2));
  nv::IIfConditional* conditional = w->addIfConditional();
  conditional->setCondition(*outer->addIterator(*wanted)->getOutput(0));
  nv::ITensor* inside = conditional->addInput(*x)->getOutput(0);
  nv::ITensor* number = conditional->addInput(*n)->getOutput(0);
  nv::ITensor* part = slice(w, inside, as_list(w, number), w.ints({1}, {2}));
  nv::ITensor* chosen = conditional->addOutput(*sum_of(w, part), *w.constant({}, {-1}))->getOutput(0);
  w.mark(w.stack(outer, chosen, w.number(4)));
  nv::ILoop* inner = w->addLoop();  // doubles 1 as often as n says
  inner->addTripLimit(*n, TripLimit::kCOUNT);
  nv::IRecurrenceLayer* power = inner->addRecurrence(*w.constant({}, {1}));
  power->setInput(1, *w.add(power->getOutput(0), power->getOutput(0)));
  w.mark(w.stack(outer, last(inner, power->getOutput(0)), w.number(4)), "powers");
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  auto outputs = run({{"x", floats({8}, counted(8))}, {"wanted", tensor_of<uint8_t>({4}, {1, 0, 1, 1})}});
  EXPECT_EQ(elements<float>(outputs["y"]), (Floats{3, -1, 11, 15})) << run.error;
  EXPECT_EQ(elements<float>(outputs["powers"]), (Floats{1, 4, 16, 64}));
}

// A while loop that halves a range, as a search does: the number of its iterations is data.
TEST(CarriedShapes, FollowAConditionOfData) {
  LoopBench w;
  nv::ITensor* x = w.input("x", {16});
  nv::ITensor* limit = w.input("limit", {}, nv::DataType::kFLOAT);
  nv::ILoop* loop = w->addLoop();
  nv::IRecurrenceLayer* n = loop->addRecurrence(*w.number(16));
  nv::ITensor* sum = sum_of(w, slice(w, x, w.ints({1}, {0}), as_list(w, n->getOutput(0))));
  loop->addTripLimit(*w.less(limit, sum), TripLimit::kWHILE);
  n->setInput(1, *w.binary(n->getOutput(0), w.number(2), nv::ElementWiseOperation::kFLOOR_DIV));
  w.mark(last(loop, n->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  for (const auto& [most, expected] : {std::pair(200.F, 16), {100.F, 8}, {12.F, 4}, {2.F, 1}, {0.F, 0}})
    EXPECT_EQ(run.ints_of({{"x", floats({16}, counted(16))}, {"limit", floats({}, {most})}}), Ints{expected})
        << run.error;
}

// The limit of a while loop is another in each iteration, so it bounds nothing: what grows has the iterator's bound.
TEST(CarriedShapes, ALimitThatAnIteratorGivesIsNoBound) {
  LoopBench w;
  nv::ILoop* loop = w->addLoop();
  nv::ITensor* limit = loop->addIterator(*w.input("limits", {6}, nv::DataType::kINT32))->getOutput(0);
  nv::ITensor* i = counter(w, loop, w.number(0), w.number(1));
  loop->addTripLimit(*w.less(i, limit), TripLimit::kWHILE);
  nv::IRecurrenceLayer* all = loop->addRecurrence(*w.constant({1}, {1}));
  nv::ITensor* const parts[] = {all->getOutput(0), w.constant({1}, {7})};
  all->setInput(1, *w->addConcatenation(parts, 2)->getOutput(0));
  w.mark(last(loop, all->getOutput(0)));
  LoopRun run(w);
  ASSERT_EQ(run.error, "");
  const auto of = [&](Ints limits) {
    return run.floats_of({{"limits", tensor_of<int32_t>({6}, std::move(limits))}}).size();
  };
  EXPECT_EQ(of({1, 1, 9, 9, 9, 9}), 2U) << run.error;
  EXPECT_EQ(of({1, 2, 3, 4, 5, 6}), 7U) << run.error;
  EXPECT_EQ(of({0, 2, 3, 4, 5, 6}), 1U) << run.error;
}

TEST(CarriedShapes, SayWhatIsWrong) {
  const auto error_of = [](auto make) {
    LoopBench w;
    nv::ITensor* x = w.input("x", {6});
    nv::ILoop* loop = w->addLoop();
    loop->setName("l");
    loop->addTripLimit(*w.number(3), TripLimit::kCOUNT);
    nv::ITensor* part = make(w, x, loop);
    w.mark(w.stack(loop, part, w.number(3)));
    LoopRun run(w);
    if (run.error.empty()) run({{"x", floats({6}, counted(6))}});
    return run.error;
  };
  using W = LoopBench&;
  const std::string beyond = error_of([](W w, nv::ITensor* x, nv::ILoop* loop) {
    return slice(w, x, as_list(w, counter(w, loop, w.number(0), w.number(3))), w.ints({1}, {2}));
  });
  EXPECT_NE(beyond.find("step 'l': iteration 2: "), std::string::npos) << beyond;
  const std::string data = error_of([](W w, nv::ITensor* x, nv::ILoop*) {
    nv::ITopKLayer* peak = w->addTopK(*x, nv::TopKOperation::kMAX, 1, 1);
    peak->setName("peak");
    return slice(w, x, peak->getOutput(1), w.ints({1}, {2}));
  });
  EXPECT_NE(data.find("starts: input 1 (i32[1] from 'peak') must be known before the op runs"), std::string::npos)
      << data;
  const std::string long_list = error_of([](W w, nv::ITensor* x, nv::ILoop* loop) {
    nv::ITensor* at = counter(w, loop, w.ints({9}, Ints(9, 0)), w.ints({9}, Ints(9, 1)));
    nv::ISliceLayer* first = w->addSlice(*at, dims({0}), dims({1}), dims({1}));
    first->setName("first");
    return slice(w, x, first->getOutput(0), w.ints({1}, {2}));
  });
  EXPECT_NE(long_list.find("input 1 (i32[1] from 'first') must be known"), std::string::npos) << long_list;
}

}  // namespace
}  // namespace kiln::api::testing
