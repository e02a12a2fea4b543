#include "backend/cpu/device/host_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/testing/child.h"

// Allocations of the calling thread, and their number: this test's executable counts all of them.
static thread_local int64_t num_allocations = 0;
[[gnu::noinline]] void* operator new(size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++num_allocations;
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace kiln::cpu {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<HostStream> new_stream(std::shared_ptr<Standby> standby = std::make_shared<Standby>()) {
  return std::make_unique<HostStream>(std::move(standby));
}

/// A note of a piece of work: its number, and the thread that ran it.
struct Note {
  std::vector<int>* order;
  int number;
  std::thread::id thread;
  static void write(void* self) {
    auto& note = *static_cast<Note*>(self);
    note.thread = std::this_thread::get_id();
    note.order->push_back(note.number);
  }
};

std::vector<Note> notes(std::vector<int>& order, int count) {
  std::vector<Note> made;
  for (int i = 0; i < count; ++i) made.push_back({&order, i, {}});
  return made;
}
std::vector<int> first(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// Work that waits for a flag, which must not be the standby's or the stream's to set.
struct Gate {
  std::atomic<bool> entered{false}, open{false};
  static void pass(void* self) {
    auto& gate = *static_cast<Gate*>(self);
    gate.entered = true;
    while (!gate.open) std::this_thread::yield();
  }
};

void count(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

template <class F>
bool soon(F holds) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(50us);
  }
  return true;
}

TEST(HostStream, RunsInOrderOnTheThreadThatSynchronises) {
  const auto stream = new_stream();
  std::vector<int> order;
  auto work = notes(order, 40);
  for (Note& note : work) ASSERT_TRUE(stream->launch_host(Note::write, &note));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(order, first(40));
  // The standby gets the work only where this thread was held up for long between the launch and the wait.
  int here = 0;
  for (const Note& note : work) here += note.thread == std::this_thread::get_id();
  EXPECT_GT(here, 0);
}

TEST(HostStream, RunsWithoutAnybodyWaiting) {
  const auto stream = new_stream();
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::atomic<int> runs{0};
    ASSERT_TRUE(stream->launch_host(count, &runs));
    EXPECT_TRUE(soon([&] { return runs == 1; }));
    std::this_thread::sleep_for(repeat == 1 ? 250ms : 1ms);  // also from a standby that went to sleep
  }
}

TEST(HostStream, SaysInAChildThatItIsTheParents) {
  auto stream = new_stream();
  Gate gate;
  ASSERT_TRUE(stream->launch_host(Gate::pass, &gate));
  ASSERT_TRUE(soon([&] { return gate.entered.load(); }));  // at the fork a thread of the standby runs the queue
  const int child = test::in_child([&] {
    const std::string_view expected =
        "the stream belongs to the process that this one was forked off: it has no thread here";
    if (const Status launched = stream->launch_host(count, nullptr); launched || launched.error().message != expected)
      return 1;
    if (stream->synchronize() || stream->query()) return 2;
    stream.reset();
    return 0;
  });
  gate.open = true;
  EXPECT_EQ(child, 0);
  EXPECT_TRUE(stream->synchronize());
}

TEST(HostStream, QueryNeverRunsWorkButGetsItDone) {
  const auto stream = new_stream();
  EXPECT_TRUE(stream->query().value());
  std::vector<int> order;
  auto work = notes(order, 1);
  Gate gate;
  ASSERT_TRUE(stream->launch_host(Gate::pass, &gate));
  ASSERT_TRUE(stream->launch_host(Note::write, &work[0]));
  EXPECT_FALSE(stream->query().value());
  EXPECT_TRUE(soon([&] { return gate.entered.load(); }));
  EXPECT_FALSE(stream->query().value());
  gate.open = true;
  EXPECT_TRUE(soon([&] { return stream->query().value(); }));
  EXPECT_NE(work[0].thread, std::this_thread::get_id());
}

TEST(HostStream, UnattendedStreamsRunSideBySide) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby), c = new_stream(standby);
  Gate first, second;
  std::atomic<int> runs{0};
  ASSERT_TRUE(a->launch_host(Gate::pass, &first));
  EXPECT_TRUE(soon([&] { return first.entered.load(); }));
  ASSERT_TRUE(b->launch_host(Gate::pass, &second));
  ASSERT_TRUE(c->launch_host(count, &runs));
  EXPECT_TRUE(soon([&] { return second.entered.load() && runs == 1; }));
  first.open = second.open = true;
}

TEST(HostStream, ADeepQueueIsRunByWhoeverLaunches) {
  const auto stream = new_stream();
  std::vector<int> order;
  auto work = notes(order, 5000);
  for (Note& note : work) ASSERT_TRUE(stream->launch_host(Note::write, &note));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(order, first(5000));
}

TEST(HostStream, AllocatesNothingOnceGrown) {
  const auto stream = new_stream();
  const auto event = std::make_shared<HostEvent>(HostEvent::Timing::kOn);
  std::atomic<int> runs{0};
  int rounds_with_allocations = 0;  // behind the first, in which the queue grows and the standby gets its first thread
  for (int round = 0; round < 20; ++round) {
    const int64_t before = num_allocations;
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(stream->launch_host(count, &runs));
    ASSERT_TRUE(stream->record(event));
    ASSERT_TRUE(event->synchronize());
    ASSERT_TRUE(stream->synchronize());
    rounds_with_allocations += round > 0 && num_allocations != before;
  }
  // The standby makes its second thread when the first one takes over the work of a thread that was held up.
  EXPECT_LE(rounds_with_allocations, 1);
  EXPECT_EQ(runs, 4000);
}

TEST(HostStream, ManyThreadsLaunchAndWait) {
  const auto stream = new_stream();
  std::atomic<int> runs{0};
  int64_t unguarded = 0;  // work of one stream never overlaps
  struct Both {
    std::atomic<int>& runs;
    int64_t& unguarded;
  } both{runs, unguarded};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(stream->launch_host(
            [](void* argument) {
              auto& both = *static_cast<Both*>(argument);
              ++both.runs;
              ++both.unguarded;
            },
            &both));
        if (i % 7 == 0) {
          ASSERT_TRUE(stream->synchronize());
        }
        if (i % 11 == 0) {
          ASSERT_TRUE(stream->query());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(runs, 8000);
  EXPECT_EQ(unguarded, 8000);
}

TEST(HostStream, FaultsAreToldOnceAndSkipWhatFollows) {
  const auto stream = new_stream();
  struct Work {
    HostStream* stream;
    int calls = 0, real = 0;
  } work{stream.get()};
  const auto fail = [](void* argument) {
    static_cast<Work*>(argument)->stream->fault({Code::kDevice, "step 'a' failed"});
  };
  const auto step = [](void* argument) {
    auto& work = *static_cast<Work*>(argument);
    ++work.calls;
    if (!work.stream->faulted()) ++work.real;
  };
  ASSERT_TRUE(stream->launch_host(step, &work));
  ASSERT_TRUE(stream->launch_host(fail, &work));
  ASSERT_TRUE(stream->launch_host(step, &work));
  ASSERT_TRUE(stream->launch_host(fail, &work));
  const Status failed = stream->synchronize();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "step 'a' failed");
  EXPECT_EQ(work.calls, 2);
  EXPECT_EQ(work.real, 1);
  EXPECT_FALSE(stream->faulted());
  ASSERT_TRUE(stream->launch_host(step, &work));
  EXPECT_TRUE(stream->synchronize());
  EXPECT_EQ(work.real, 2);
}

TEST(HostStream, WorkThatWaitsForItsOwnStreamIsTold) {
  const auto stream = new_stream();
  struct Work {
    HostStream* stream;
    Status seen;
  } work{stream.get(), {}};
  ASSERT_TRUE(stream->launch_host(
      [](void* argument) {
        auto& work = *static_cast<Work*>(argument);
        work.seen = work.stream->synchronize();
      },
      &work));
  ASSERT_TRUE(stream->synchronize());
  ASSERT_FALSE(work.seen);
  EXPECT_EQ(work.seen.error().code, Code::kState);
}

TEST(HostStream, DestroyingRunsWhatIsQueued) {
  std::atomic<int> runs{0};
  for (int i = 0; i < 50; ++i) {
    const auto stream = new_stream();
    ASSERT_TRUE(stream->launch_host(count, &runs));
    ASSERT_TRUE(stream->launch_host(count, &runs));
  }
  EXPECT_EQ(runs, 100);
}

TEST(HostStream, KeptArgumentsLiveUntilTheirRun) {
  const auto stream = new_stream();
  auto counter = std::make_shared<std::atomic<int>>(0);
  const std::weak_ptr<std::atomic<int>> watched = counter;
  ASSERT_TRUE(stream->launch_kept([](void* argument, bool) { count(argument); }, std::move(counter)));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_TRUE(watched.expired());
}

TEST(HostEvent, OrdersStreams) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby);
  const auto event = std::make_shared<HostEvent>(HostEvent::Timing::kOff);
  EXPECT_TRUE(event->query().value());  // never recorded
  std::vector<int> order;
  auto work = notes(order, 3);
  ASSERT_TRUE(a->launch_host(Note::write, &work[0]));
  ASSERT_TRUE(a->record(event));
  ASSERT_TRUE(b->wait(*event));
  ASSERT_TRUE(b->launch_host(Note::write, &work[1]));
  ASSERT_TRUE(b->synchronize());
  EXPECT_EQ(order, first(2));
  EXPECT_TRUE(event->query().value());
  // A wait is for the record before it, whatever is recorded later.
  ASSERT_TRUE(b->wait(*event));
  ASSERT_TRUE(a->launch_host(Note::write, &work[2]));
  ASSERT_TRUE(a->record(event));
  ASSERT_TRUE(event->synchronize());
  EXPECT_EQ(order, first(3));
}

TEST(HostEvent, KeepsTime) {
  const auto stream = new_stream();
  const auto start = std::make_shared<HostEvent>(HostEvent::Timing::kOn);
  const auto end = std::make_shared<HostEvent>(HostEvent::Timing::kOn);
  EXPECT_FALSE(HostEvent::elapsed_ms(*start, *end));
  ASSERT_TRUE(stream->record(start));
  ASSERT_TRUE(stream->launch_host([](void*) { std::this_thread::sleep_for(5ms); }, nullptr));
  ASSERT_TRUE(stream->record(end));
  ASSERT_TRUE(end->synchronize());
  const float ms = HostEvent::elapsed_ms(*start, *end).value();
  EXPECT_GE(ms, 5.0f);
  EXPECT_LT(ms, 2000.0f);
  const auto untimed = std::make_shared<HostEvent>(HostEvent::Timing::kOff);
  ASSERT_TRUE(stream->record(untimed));
  EXPECT_FALSE(HostEvent::elapsed_ms(*start, *untimed));
}

TEST(HostEvent, AFaultReachesWhoWaitsForIt) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby);
  const auto event = std::make_shared<HostEvent>(HostEvent::Timing::kOn);
  const auto fail = [](void* stream) { static_cast<HostStream*>(stream)->fault({Code::kDevice, "it broke"}); };
  ASSERT_TRUE(a->launch_host(fail, a.get()));
  ASSERT_TRUE(a->record(event));
  ASSERT_TRUE(b->wait(*event));
  EXPECT_FALSE(b->synchronize());
  EXPECT_TRUE(b->synchronize());
  EXPECT_FALSE(event->synchronize());
  EXPECT_TRUE(event->synchronize());
}

// Threads drive streams that wait for one another in all directions; each wait is for something queued before it.
TEST(HostEvent, CrossingWaitsEnd) {
  const auto standby = std::make_shared<Standby>();
  constexpr int kStreams = 4;
  std::vector<std::unique_ptr<HostStream>> streams;
  for (int s = 0; s < kStreams; ++s) streams.push_back(new_stream(standby));
  std::atomic<int> runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto event = std::make_shared<HostEvent>(t % 2 ? HostEvent::Timing::kOn : HostEvent::Timing::kOff);
      uint64_t random = 88172645463325252u + static_cast<uint64_t>(t);
      for (int i = 0; i < 1500; ++i) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        HostStream& from = *streams[random % kStreams];
        HostStream& to = *streams[(random >> 8) % kStreams];
        ASSERT_TRUE(from.launch_host(count, &runs));
        ASSERT_TRUE(from.record(event));
        ASSERT_TRUE(to.wait(*event));
        to.follow(from);
        ASSERT_TRUE(to.launch_host(count, &runs));
        if (random % 5 == 0) {
          ASSERT_TRUE(to.synchronize());
        }
        if (random % 13 == 0) {
          ASSERT_TRUE(event->synchronize());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& stream : streams) ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(runs, 4 * 1500 * 2);
}

TEST(HostGraph, RecordsAndReplays) {
  const auto stream = new_stream();
  std::vector<int> order;
  auto work = notes(order, 2);
  ASSERT_TRUE(stream->begin_capture());
  EXPECT_FALSE(stream->begin_capture());
  for (Note& note : work) ASSERT_TRUE(stream->launch_host(Note::write, &note));
  const auto graph = stream->end_capture().value();
  EXPECT_EQ(graph->num_nodes(), 2u);
  ASSERT_TRUE(stream->synchronize());
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(stream->launch(graph));
  ASSERT_TRUE(stream->launch(graph));
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(order, (std::vector<int>{0, 1, 0, 1}));
}

TEST(HostGraph, OtherStreamsJoinThroughEvents) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby);
  const auto fork = std::make_shared<HostEvent>(HostEvent::Timing::kOff);
  const auto back = std::make_shared<HostEvent>(HostEvent::Timing::kOff);
  std::vector<int> order;
  auto work = notes(order, 3);
  ASSERT_TRUE(a->begin_capture());
  ASSERT_TRUE(a->launch_host(Note::write, &work[0]));
  ASSERT_TRUE(a->record(fork));
  ASSERT_TRUE(b->wait(*fork));
  ASSERT_TRUE(b->launch_host(Note::write, &work[1]));
  ASSERT_TRUE(b->record(back));
  ASSERT_TRUE(a->wait(*back));
  ASSERT_TRUE(a->launch_host(Note::write, &work[2]));
  EXPECT_FALSE(b->end_capture());
  EXPECT_FALSE(back->query());
  const auto graph = a->end_capture().value();
  EXPECT_EQ(graph->num_nodes(), 3u);
  EXPECT_FALSE(b->capture());
  ASSERT_TRUE(b->launch(graph));
  ASSERT_TRUE(b->synchronize());
  EXPECT_EQ(order, first(3));
}

TEST(HostGraph, WhatACaptureForbidsSpoilsIt) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby);
  const auto outside = std::make_shared<HostEvent>(HostEvent::Timing::kOff);
  EXPECT_FALSE(a->end_capture());
  for (int how = 0; how < 3; ++how) {
    ASSERT_TRUE(b->record(outside));
    ASSERT_TRUE(a->begin_capture());
    if (how == 0) {
      EXPECT_FALSE(a->synchronize());
    }
    if (how == 1) {
      EXPECT_FALSE(a->query());
    }
    if (how == 2) {
      EXPECT_FALSE(a->wait(*outside));
    }
    EXPECT_TRUE(a->capture()->invalidated());
    EXPECT_FALSE(a->end_capture());
    EXPECT_TRUE(a->synchronize());
  }
}

TEST(HostGraph, AReplaysFaultIsThatOfItsStream) {
  const auto standby = std::make_shared<Standby>();
  const auto a = new_stream(standby), b = new_stream(standby);
  ASSERT_TRUE(a->begin_capture());
  ASSERT_TRUE(a->launch_host([](void* s) { static_cast<HostStream*>(s)->fault({Code::kDevice, "x"}); }, a.get()));
  const auto graph = a->end_capture().value();
  ASSERT_TRUE(b->launch(graph));
  EXPECT_FALSE(b->synchronize());
  EXPECT_TRUE(a->synchronize());
  EXPECT_TRUE(b->synchronize());
}

TEST(HostStream, LaunchAndWaitAreCheap) {
  const auto stream = new_stream();
  constexpr int kRounds = 20000;
  double best_us = 1e9;
  std::atomic<int> runs{0};
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_TRUE(stream->launch_host(count, &runs));
      ASSERT_TRUE(stream->synchronize());
    }
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    best_us = std::min(best_us, spent.count() / kRounds);
  }
  RecordProperty("us", std::to_string(best_us));
  printf("launch and synchronize: %.3f us\n", best_us);
  EXPECT_LT(best_us, 20);  // a woken sleeper at each launch would cost more even on a slow machine
}

}  // namespace
}  // namespace kiln::cpu
