#include "builder/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

/// Spans by following every path: step i may run beside step j unless one of them waits for the other.
std::vector<Span> spans_by_paths(std::span<const ScheduledStep> steps, const Streams& streams) {
  const size_t count = steps.size();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));  // [j][i]: i is done when j begins
  std::vector<Span> spans;
  for (size_t j = 0; j < count; ++j) {
    spans.push_back({static_cast<int>(j), static_cast<int>(j)});
    for (size_t i = 0; i < j; ++i) {
      const bool reads = std::ranges::find(steps[j].needs, static_cast<int>(i)) != steps[j].needs.end();
      if (!reads && streams[i] != streams[j]) continue;
      before[j][i] = true;
      for (size_t k = 0; k < i; ++k) before[j][k] = before[j][k] || before[i][k];
    }
    for (size_t i = 0; i < j; ++i) {
      if (before[j][i]) continue;
      spans[j].first = std::min(spans[j].first, static_cast<int>(i));
      spans[i].last = static_cast<int>(j);
    }
  }
  return spans;
}

TEST(Streams, SpansAgreeWithPaths) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const size_t count = 2 + random() % 40;
    std::vector<ScheduledStep> steps(count);
    Streams streams(count);
    for (size_t j = 0; j < count; ++j) {
      streams[j] = static_cast<int>(random() % 4);
      for (size_t i = 0; i < j; ++i)
        if (random() % 8 == 0) steps[j].needs.push_back(static_cast<int>(i));
    }
    const std::vector<Span> spans = concurrent_spans(steps, streams), wanted = spans_by_paths(steps, streams);
    for (size_t j = 0; j < count; ++j) {
      EXPECT_EQ(spans[j].first, wanted[j].first) << "seed " << seed << ", step " << j;
      EXPECT_EQ(spans[j].last, wanted[j].last) << "seed " << seed << ", step " << j;
    }
  }
}

}  // namespace
}  // namespace kiln
