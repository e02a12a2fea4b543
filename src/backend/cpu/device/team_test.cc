#include "backend/cpu/device/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>

namespace kiln::cpu {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

TEST(Team, RunsEveryPartOnce) {
  for (int size : {1, 2, 3, 5}) {
    Team team(size);
    EXPECT_EQ(team.size(), size);
    for (int64_t parts : {0, 1, 2, 7, 1000}) {
      std::vector<int> runs(static_cast<size_t>(parts), 0);
      team.run(parts, [&](int64_t part, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, size);
        ++runs[static_cast<size_t>(part)];
      });
      for (int64_t part = 0; part < parts; ++part) ASSERT_EQ(runs[static_cast<size_t>(part)], 1) << size << " " << part;
    }
  }
}

/// Each thread begins with a share that is the same in every call, as long as all of them come.
TEST(Team, SharesAreInOrderOfThreads) {
  for (const int size : {2, 3}) {
    Team team(size);
    for (const int64_t parts : {int64_t{size}, int64_t{size} * 5, int64_t{size} * 5 + 1}) {
      std::vector<std::atomic<int64_t>> first(static_cast<size_t>(size));
      for (auto& of_worker : first) of_worker = -1;
      std::atomic<int> come{0};
      team.run(parts, [&](int64_t part, int worker) {
        std::atomic<int64_t>& mine = first[static_cast<size_t>(worker)];
        if (mine != -1) return;
        mine = part;
        const int64_t start = now_ns();
        for (++come; come < size && now_ns() - start < 10'000'000'000;) std::this_thread::yield();
      });
      ASSERT_EQ(come, size);
      const int64_t each = parts / size, rest = parts % size;
      for (int64_t worker = 0; worker < size; ++worker)
        EXPECT_EQ(first[static_cast<size_t>(worker)], worker * each + std::min(worker, rest)) << size << " " << parts;
    }
  }
}

/// Where a thread does not come, or is slow, the others do its parts.
TEST(Team, SharesOfTheLateAreTaken) {
  Team team(2);
  std::atomic<int64_t> by_caller{0};
  const auto me = std::this_thread::get_id();
  team.run(100, [&](int64_t part, int) {
    if (std::this_thread::get_id() == me)
      ++by_caller;
    else if (part == 50)  // the helper's first
      for (const int64_t start = now_ns(); by_caller < 99 && now_ns() - start < 10'000'000'000;)
        std::this_thread::yield();
  });
  EXPECT_GE(by_caller, 99);
}

TEST(Team, AWorkersPartsNeverOverlap) {
  Team team(3);
  std::vector<int64_t> sums(3, 0);  // unguarded: a race here is what the thread sanitizer looks for
  for (int repeat = 0; repeat < 2000; ++repeat)
    team.run(16, [&](int64_t part, int worker) { sums[static_cast<size_t>(worker)] += part; });
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 2000 * 120);
}

TEST(Team, SeesWhatEarlierForksWrote) {
  Team team(2);
  std::vector<int> at(64, 0);
  for (int repeat = 1; repeat <= 3000; ++repeat)
    team.run(64, [&](int64_t part, int) { at[static_cast<size_t>(part)] += 1; });
  for (int value : at) EXPECT_EQ(value, 3000);
}

TEST(Team, NestedRunsAreInLine) {
  Team team(2);
  std::atomic<int64_t> total{0};
  team.run(8, [&](int64_t, int) {
    const auto me = std::this_thread::get_id();
    team.run(5, [&](int64_t, int worker) {
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(std::this_thread::get_id(), me);
      ++total;
    });
  });
  EXPECT_EQ(total, 40);
}

TEST(Team, ABusyTeamIsNotWaitedFor) {
  Team team(2);
  std::atomic<bool> started{false}, release{false};
  std::thread holder([&] {
    team.run(2, [&](int64_t, int) {
      started = true;
      while (!release) std::this_thread::yield();
    });
  });
  while (!started) std::this_thread::yield();
  const auto me = std::this_thread::get_id();
  int runs = 0;
  team.run(10, [&](int64_t, int worker) {
    EXPECT_EQ(worker, 0);
    EXPECT_EQ(std::this_thread::get_id(), me);
    ++runs;
  });
  EXPECT_EQ(runs, 10);
  release = true;
  holder.join();
}

TEST(Team, ManyCallersAtOnce) {
  Team team(2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 300; ++repeat) team.run(9, [&](int64_t part, int) { total += part; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 300 * 36);
}

TEST(Team, SleepersWakeUp) {
  Team team(2);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    std::atomic<bool> helped{false};
    const int64_t start = now_ns();
    // Two parts of which the first taken waits for the second: only possible if the helper comes.
    std::atomic<int> inside{0};
    team.run(2, [&](int64_t, int) {
      ++inside;
      while (inside < 2 && now_ns() - start < 10'000'000'000) std::this_thread::yield();
      if (inside == 2) helped = true;
    });
    EXPECT_TRUE(helped);
  }
}

TEST(Team, EndsWhileHelpersAreStillComing) {
  for (int repeat = 0; repeat < 3000; ++repeat) {
    Team team(3);
    for (int run = 0; run < repeat % 4; ++run) team.run(2, [](int64_t, int) {});
  }
}

TEST(Team, DefaultSizeFollowsTheEnvironment) {
  const char* before = std::getenv("KILN_THREADS");
  const std::string kept = before ? before : "";
  setenv("KILN_THREADS", "3", 1);
  EXPECT_EQ(default_team_size(), 3);
  for (const char* bad : {"0", "x", "2x", "-1", "100000", ""}) {
    setenv("KILN_THREADS", bad, 1);
    EXPECT_GE(default_team_size(), 1) << bad;
    EXPECT_LE(default_team_size(), 256) << bad;
  }
  if (before)
    setenv("KILN_THREADS", kept.c_str(), 1);
  else
    unsetenv("KILN_THREADS");
}

}  // namespace
}  // namespace kiln::cpu
