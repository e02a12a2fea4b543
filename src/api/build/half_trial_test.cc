#include "api/build/half_trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "api/build/testing/workbench.h"
#include "api/run/devices.h"

namespace kiln::api::testing {
namespace {

/// A workbench for FP16, and what its builds tell.
struct HalfBench : Workbench {
  HalfBench() { configure(); }
  void configure() {
    config.reset(builder->createBuilderConfig());
    config->setFlag(nv::BuilderFlag::kFP16);
    config->setBuilderOptimizationLevel(0);
  }
  nv::ITensor* constant(std::initializer_list<int64_t> extents, float value) {
    int64_t volume = 1;
    for (const int64_t extent : extents) volume *= extent;
    values.emplace_back(static_cast<size_t>(volume), value);
    return network->addConstant(dims(extents), weights(values.back()))->getOutput(0);
  }
  bool tells(std::string_view text) {
    logger.infos.clear(), logger.details.clear();
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    EXPECT_NE(plan, nullptr) << take_error();
    const auto is_in = [&](const std::vector<std::string>& messages) {
      return std::ranges::any_of(messages, [&](const std::string& one) { return one.contains(text); });
    };
    return is_in(logger.infos) || is_in(logger.details);
  }
  std::deque<std::vector<float>> values;
};

/// Three products of a row by matrices of `weight`, a sine in front of the last.
struct Growing : HalfBench {
  explicit Growing(float weight) {
    nv::ITensor* x = input("x", {1, 8});
    for (const char* name : {"a", "b", "c"}) {
      constexpr auto kPlain = nv::MatrixOperation::kNONE;
      x = network->addMatrixMultiply(*x, kPlain, *constant({8, 8}, weight), kPlain)->getOutput(0);
      x->setName(name);
      if (name[0] == 'b') x = network->addUnary(*x, nv::UnaryOperation::kSIN)->getOutput(0);
    }
    mark(x);
  }
};

/// By `ctest` on the stand-in for a driver, too.
class HalfTrial : public ::testing::Test {
 protected:
  void SetUp() override {
    if (engine_device_kind().value_or(DeviceKind::kCpu) == DeviceKind::kCpu)
      GTEST_SKIP() << "on the CPU, numbers between steps are FP32";
  }
};

TEST(HalfTrialOnTheCpu, IsNotNeeded) {
  use_host(true);
  Growing g(300);
  EXPECT_FALSE(g.tells("FP16's range"));
  use_host(false);
}

TEST_F(HalfTrial, FindsLayersThatLeaveTheRange) {
  Growing g(300);
  EXPECT_TRUE(g.tells("FP16's range: by the weights tensor 'b' is about 720000, so the network was run once"))
      << ::testing::PrintToString(g.logger.infos);
  EXPECT_TRUE(g.tells("stays in FP32: tensor 'b' reaches "));
  EXPECT_FALSE(g.tells("tensor 'a' reaches ")) << "it is some 2,000";
  EXPECT_FALSE(g.tells("tensor 'c' reaches ")) << "a sine stands in front of it";
}

TEST_F(HalfTrial, TakesTheExtentsOfAProfile) {
  HalfBench bench;
  nv::ITensor* const x = bench.input("x", {-1, 8});
  constexpr auto kPlain = nv::MatrixOperation::kNONE;
  nv::ITensor* const y = bench->addMatrixMultiply(*x, kPlain, *bench.constant({8, 8}, 1e5F), kPlain)->getOutput(0);
  bench.mark(y);
  const auto told_of_rows = [&](int64_t least, int64_t best) {
    nv::IOptimizationProfile* const profile = bench.builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, dims({least, 8}));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, dims({best, 8}));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, dims({best, 8}));
    bench.configure();
    bench.config->addOptimizationProfile(profile);
    return bench.tells("with random inputs; twice");
  };
  EXPECT_TRUE(told_of_rows(2, 5));
  EXPECT_TRUE(told_of_rows(3, 100'000'000)) << "too large a run is one of the least extents";
  EXPECT_FALSE(told_of_rows(100'000'000, 100'000'000));
  EXPECT_TRUE(bench.tells("was not tried with random inputs: its tensors take 6.4e+09 bytes, more than 1e+09"))
      << ::testing::PrintToString(bench.logger.infos);
}

TEST_F(HalfTrial, LeavesOthersAlone) {
  Growing g(1);
  EXPECT_FALSE(g.tells("FP16's range"));
  Growing cancels(100);  // all of a row of 'a' is one number, which 'b' adds as often as it subtracts it
  for (size_t i = 0; i < cancels.values[1].size(); ++i) cancels.values[1][i] = i / 8 % 2 == 0 ? 100 : -100;
  EXPECT_TRUE(
      cancels.tells("by the weights tensor 'b' is about 80000, so the network was run once in FP32, on the CPU, "
                    "with random inputs; no tensor reached half of it"))
      << ::testing::PrintToString(cancels.logger.details);
  EXPECT_FALSE(cancels.tells("stays in FP32"));
  Growing full(300);
  full.config->clearFlag(nv::BuilderFlag::kFP16);
  EXPECT_FALSE(full.tells("FP16's range"));
}

TEST_F(HalfTrial, WhatTheProgramSaysComesFirst) {
  Growing g(300);
  g.network->getInput(0)->setDynamicRange(-1, 1);
  EXPECT_FALSE(g.tells("FP16's range"));
}

/// Nobody asked for the run: its errors are not the program's.
TEST_F(HalfTrial, ARunThatFailsIsNoError) {
  HalfBench bench;
  nv::ITensor* const large = bench.constant({1}, 1e5F);
  nv::ITensor* const product =
      bench->addElementWise(*bench.input("x", {1}), *large, nv::ElementWiseOperation::kPROD)->getOutput(0);
  nv::ITensor* const index = bench.input("index", {1}, nv::DataType::kINT32);  // which the run takes to be 1
  bench.mark(bench->addGather(*product, *index, 0)->getOutput(0));
  EXPECT_TRUE(bench.tells("was not tried with random inputs: step '(Unnamed Layer* 2) [Gather]': index 1 is outside"))
      << ::testing::PrintToString(bench.logger.infos);
  EXPECT_EQ(bench.logger.errors, std::vector<std::string>());
}

/// A loop whose count random numbers give may take any time.
TEST_F(HalfTrial, LoopsAreNotTried) {
  Growing bench(300);
  nv::ILoop* const loop = bench->addLoop();
  loop->addTripLimit(*bench.input("count", {}, nv::DataType::kINT32), nv::TripLimit::kCOUNT);
  nv::IRecurrenceLayer* const state = loop->addRecurrence(*bench.network->getOutput(0));
  state->setInput(1, *bench->addUnary(*state->getOutput(0), nv::UnaryOperation::kSIN)->getOutput(0));
  bench.mark(loop->addLoopOutput(*state->getOutput(0), nv::LoopOutput::kLAST_VALUE)->getOutput(0), "last");
  EXPECT_TRUE(bench.tells("was not tried with random inputs: it has loops or branches"))
      << ::testing::PrintToString(bench.logger.infos);
}

}  // namespace
}  // namespace kiln::api::testing
