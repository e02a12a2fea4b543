#include "builder/streams.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Streams = std::vector<int>;

TEST(Streams, BranchesRunBesideEachOther) {
  // 0 forks into 1, 2 and 3, 4, which 5 joins.
  const ScheduledStep steps[] = {{{}, 5}, {{0}, 20}, {{1}, 20}, {{0}, 20}, {{3}, 20}, {{2, 4}, 5}};
  EXPECT_EQ(assign_streams(steps, 1), (Streams{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(assign_streams(steps, 0), (Streams(6, 0)));
}

TEST(Streams, AChainStaysInLine) {
  const ScheduledStep steps[] = {{{}, 5}, {{0}, 20}, {{1}, 20}, {{2}, 20}};
  EXPECT_EQ(assign_streams(steps, 3), (Streams(4, 0)));
}

TEST(Streams, WhatWaitingCostsMoreThanIsSaved) {
  const ScheduledStep steps[] = {{{}, 50}, {{0}, 1}, {{0}, 1}, {{1, 2}, 50}};
  EXPECT_EQ(assign_streams(steps, 3), (Streams(4, 0)));
}

TEST(Streams, SpansHoldWhatMayRunAtTheSameTime) {
  const ScheduledStep steps[] = {{{}, 5}, {{0}, 20}, {{1}, 20}, {{0}, 20}, {{3}, 20}, {{2, 4}, 5}};
  const Streams streams{0, 0, 0, 1, 1, 1};
  const std::vector<Span> spans = concurrent_spans(steps, streams);
  const auto check = [&](size_t step, int first, int last) {
    EXPECT_EQ(spans[step].first, first) << step;
    EXPECT_EQ(spans[step].last, last) << step;
  };
  check(0, 0, 0);
  check(1, 1, 4);
  check(2, 2, 4);
  check(3, 1, 3);
  check(4, 1, 4);
  check(5, 5, 5);
  for (const Span& span : concurrent_spans(steps, Streams(6, 0))) EXPECT_EQ(span.first, span.last);
}

}  // namespace
}  // namespace kiln
