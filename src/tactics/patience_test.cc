// How long timing takes: a device whose steps last as long as their numbers say.
#include "tactics/patience.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ir/parse.h"
#include "steps/testing/named_step.h"
#include "steps/testing/stub_device.h"

namespace kiln {
namespace {

struct Sleep final : LoadedStep, BoundStep {
  Sleep(double us, int* runs) : us(us), runs(runs) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes&) const override {
    return std::make_unique<Sleep>(us, runs);
  }
  Status run(const RunArguments&) override {
    ++*runs;
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us));
    return {};
  }
  double us;
  int* runs;
};

class SleepyDevice final : public StubDevice {
 public:
  SleepyDevice() : StubDevice("sleepy") {}
  int64_t total_memory_bytes() const override { return memory; }
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec, std::span<const HostTensor* const>) override {
    return std::make_unique<Sleep>(as_named(spec.step).number, &runs);
  }
  int runs = 0;
  int64_t memory = 0;
};

class AnyTactic final : public Tactic {
 public:
  std::string_view name() const override { return "sleep"; }
  Match match(const TacticContext&, ir::NodeId root) const override { return Region{.nodes = {root}}; }
  std::vector<Variant> variants(const TacticContext&, const Region&) const override { return {}; }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant&) const override { return StepDraft{}; }
};

class PatienceTest : public ::testing::Test {
 protected:
  /// Times candidates that sleep so long, of the node that makes the output. `enough_us` is enough for all of them, and
  /// a tenth of it makes one slow. It is far from the sleeps, which may last longer on a busy machine.
  std::vector<Candidate> timed(std::string_view network, const std::vector<double>& sleeps_us, double enough_us) {
    ir::Graph graph = *ir::parse(network);
    const ir::ValueId y = graph.outputs()[0].value;
    const ir::Node& node = graph.node(graph.value(y).producer);
    const Region region{.nodes = {graph.value(y).producer}, .inputs = node.inputs, .outputs = {y}};
    std::vector<Candidate> candidates;
    for (const double us : sleeps_us) {
      Candidate& made = candidates.emplace_back();
      made.tactic = &tactic_;
      made.variant = {.name = str(us), .inputs = std::vector<Format>(node.inputs.size()), .outputs = {Format()}};
      made.draft = {.executor = "sleepy", .step = NamedStep{"sleep", us}};
    }
    const Numerics numerics;
    Timer timer(device_, cache_, {.least_limit_us = enough_us}, log_);
    const Trial trials[] = {{region, candidates}};
    const Status status = timer.time({graph, numerics, device_}, trials);
    EXPECT_TRUE(status) << status.error().message;
    return candidates;
  }

  static constexpr std::string_view kSmall = "x: f32[2]; y = Unary{kind=exp}(x); return y";
  AnyTactic tactic_;
  SleepyDevice device_;
  TimingCache cache_{"sleepy"};
  NullLog log_;
};

TEST_F(PatienceTest, QuickOnesTakeTurns) {
  const auto got = timed(kSmall, {10, 50e3}, 20e6);  // farther apart than a busy machine wakes late
  EXPECT_GT(device_.runs, 2 * 3) << "slow ones run once each";
  EXPECT_LT(got[0].time_us, got[1].time_us);
}

TEST_F(PatienceTest, SlowOnesRunOnceAndOthersAreLeftOutWhenEnoughIsSpent) {
  const auto got = timed(kSmall, {105e3, 100e3, 1, 2}, 200e3);
  EXPECT_EQ(device_.runs, 2);
  EXPECT_GE(got[0].time_us, 105e3);
  EXPECT_GE(got[1].time_us, 100e3);
  for (const size_t i : {2, 3})
    EXPECT_NE(got[i].failure.find("not timed: other tactics of this layer already take"), std::string::npos);
  // The cache has what was timed. A second build chooses from the same.
  const auto again = timed(kSmall, {105e3, 100e3, 1, 2}, 200e3);
  EXPECT_EQ(device_.runs, 2);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(again[i].time_us, got[i].time_us);
    EXPECT_EQ(again[i].failure.empty(), got[i].failure.empty());
  }
}

TEST_F(PatienceTest, WhatWouldTakeMinutesIsNotRun) {
  const auto got = timed(
      "x: f32[1,1,64,64]; y = Pooling{kind=average, window=[60,60], strides=[1,1], pre_pads=[0,0], "
      "post_pads=[0,0]}(x); return y",
      {1}, 1e6);
  EXPECT_GT(device_.runs, 1);  // 5 * 5 * 60 * 60 taps are few
  device_.runs = 0;
  const auto slow = timed(
      "x: f32[1,1,512,512]; y = Pooling{kind=average, window=[256,256], strides=[1,1], "
      "pre_pads=[0,0], post_pads=[0,0]}(x); return y",
      {1, 2}, 1e6);
  EXPECT_EQ(device_.runs, 0);
  for (const Candidate& candidate : slow) {
    EXPECT_EQ(candidate.failure, "");
    EXPECT_GT(candidate.time_us, 1e6);
  }
}

TEST_F(PatienceTest, WhatFillsTheMemoryIsNotRun) {
  device_.memory = 31;  // x and y take 16 bytes
  const auto got = timed(kSmall, {1, 2}, 20e6);
  EXPECT_EQ(device_.runs, 0);
  for (const Candidate& candidate : got) EXPECT_GT(candidate.time_us, 0);
  device_.memory = 32;
  timed(kSmall, {1, 2}, 20e6);
  EXPECT_GT(device_.runs, 0);
}

}  // namespace
}  // namespace kiln
