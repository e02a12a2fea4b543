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
  EXPECT_TRUE(g.tells("FP16's range: by the weights tensor 'b' is about 720000, so the network was run in FP32"))
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
      cancels.tells("by the weights tensor 'b' is about 80000, so the network was run in FP32, on the CPU, "
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

/// Numbers that only made-up inputs make say nothing of FP16.
TEST_F(HalfTrial, WhatIsNotFiniteWithMadeUpInputsIsTriedWithPositiveOnes) {
  HalfBench bench;
  constexpr auto kPlain = nv::MatrixOperation::kNONE;
  nv::ITensor* const large =
      bench->addElementWise(*bench.input("x", {8, 8}), *bench.constant({1, 1}, 2000), nv::ElementWiseOperation::kPROD)
          ->getOutput(0);
  nv::ITensor* const log = bench->addUnary(*large, nv::UnaryOperation::kLOG)->getOutput(0);
  nv::ITensor* const length = bench.input("length", {8, 1}, nv::DataType::kINT32);
  nv::ITensor* const divisor = bench->addCast(*length, nv::DataType::kFLOAT)->getOutput(0);
  nv::ITensor* const mean = bench->addElementWise(*log, *divisor, nv::ElementWiseOperation::kDIV)->getOutput(0);
  bench.mark(bench->addMatrixMultiply(*mean, kPlain, *bench.constant({8, 8}, 1), kPlain)->getOutput(0));
  EXPECT_TRUE(bench.tells("with random inputs; no tensor reached half of it"))
      << ::testing::PrintToString(bench.logger.infos);
  EXPECT_FALSE(bench.tells("stays in FP32"));
  EXPECT_FALSE(bench.tells("not finite with made-up inputs"));
}

TEST_F(HalfTrial, WhatIsNeverFiniteCountsByItsWeights) {
  HalfBench bench;
  constexpr auto kPlain = nv::MatrixOperation::kNONE;
  nv::ITensor* const large =
      bench->addElementWise(*bench.input("x", {8, 8}), *bench.constant({1, 1}, 2000), nv::ElementWiseOperation::kPROD)
          ->getOutput(0);
  nv::ITensor* const magnitude = bench->addUnary(*large, nv::UnaryOperation::kABS)->getOutput(0);
  nv::ITensor* const negative = bench->addUnary(*magnitude, nv::UnaryOperation::kNEG)->getOutput(0);
  nv::ITensor* x = bench->addUnary(*negative, nv::UnaryOperation::kLOG)->getOutput(0);
  x->setName("log");
  for (const auto& [name, weight] : {std::pair("small", 1.0F), std::pair("large", 1e4F)}) {
    x = bench->addMatrixMultiply(*x, kPlain, *bench.constant({8, 8}, weight), kPlain)->getOutput(0);
    x->setName(name);
  }
  bench.mark(x, "large");
  EXPECT_TRUE(bench.tells("FP16's range: 3 tensors ('log' first) are not finite with made-up inputs"))
      << ::testing::PrintToString(bench.logger.infos);
  EXPECT_TRUE(bench.tells("stays in FP32: tensor 'large' reaches")) << "some 4e5, by the weights";
  EXPECT_FALSE(bench.tells("stays in FP32: tensor 'small' reaches"));
  EXPECT_FALSE(bench.tells("e+38"));
}

/// Their estimate would be small if they were taken for numbers of both signs.
TEST_F(HalfTrial, FindsSumsOfPositiveNumbers) {
  HalfBench bench;
  nv::ITensor* const relu =
      bench->addActivation(*bench.input("x", {512, 512}), nv::ActivationType::kRELU)->getOutput(0);
  nv::ITensor* const sum = bench->addReduce(*relu, nv::ReduceOperation::kSUM, 3, true)->getOutput(0);
  sum->setName("sum");
  bench.mark(bench->addElementWise(*relu, *sum, nv::ElementWiseOperation::kDIV)->getOutput(0));
  EXPECT_TRUE(bench.tells("stays in FP32: tensor 'sum' reaches")) << ::testing::PrintToString(bench.logger.details);
}

/// Explicit quantization says which layers are INT8, and nothing of FP16.
TEST_F(HalfTrial, NetworksWithQuantizationAreTriedToo) {
  Growing g(300);
  nv::ITensor* const scale = g.constant({}, 0.01F);
  nv::ITensor* const quantized = g->addQuantize(*g.network->getOutput(0), *scale, nv::DataType::kINT8)->getOutput(0);
  g.mark(g->addDequantize(*quantized, *scale, nv::DataType::kFLOAT)->getOutput(0), "last");
  EXPECT_TRUE(g.tells("stays in FP32: tensor 'b' reaches")) << ::testing::PrintToString(g.logger.infos);
}

/// Layers that the program has in FP16 stay there, with a warning; the run shows their numbers in FP32.
TEST_F(HalfTrial, WarnsOfLayersThatThePrecisionForces) {
  for (const bool is_output_type : {false, true}) {
    Growing g(300);
    g.config->setFlag(nv::BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
    nv::ILayer* layer = nullptr;
    for (int i = 0; i < g.network->getNbLayers(); ++i)
      if (g.network->getLayer(i)->getOutput(0)->getName() == std::string_view("b")) layer = g.network->getLayer(i);
    layer->setName("forced");
    is_output_type ? layer->setOutputType(0, nv::DataType::kHALF) : layer->setPrecision(nv::DataType::kHALF);
    g.logger.warnings.clear();
    EXPECT_TRUE(g.tells("FP16's range"));
    EXPECT_TRUE(std::ranges::any_of(g.logger.warnings, [&](const std::string& one) {
      return one.starts_with(is_output_type ? "'b as f16' is in FP16" : "'forced' is in FP16") &&
             one.contains("tensor 'b' reaches ") && !one.contains("e+38");
    })) << ::testing::PrintToString(g.logger.warnings);
  }
}

/// Rows of a table other than its first two are looked at, too.
TEST_F(HalfTrial, DrawsIndicesFromAllOfTheirTable) {
  HalfBench bench;
  nv::ITensor* const table = bench.constant({1000, 4}, 2e4F);
  std::ranges::fill_n(bench.values.back().begin(), 8, 0.0F);  // rows 0 and 1
  nv::ITensor* const ids = bench.input("ids", {16}, nv::DataType::kINT32);
  nv::ITensor* const row = bench->addGather(*table, *ids, 0)->getOutput(0);
  nv::ITensor* const scaled =
      bench->addElementWise(*row, *bench.constant({1, 1}, 10), nv::ElementWiseOperation::kPROD)->getOutput(0);
  scaled->setName("scaled");
  bench.mark(bench->addUnary(*scaled, nv::UnaryOperation::kSIN)->getOutput(0));
  EXPECT_TRUE(bench.tells("stays in FP32: tensor 'scaled' reaches")) << ::testing::PrintToString(bench.logger.details);
}

/// Few of many rows are drawn.
TEST_F(HalfTrial, KnowsTheLargestRowOfATable) {
  HalfBench bench;
  nv::ITensor* const table = bench.constant({100'000, 4}, 200);
  bench.values.back()[77'777 * 4] = -3e6F;
  nv::ITensor* const ids = bench.input("ids", {2}, nv::DataType::kINT32);
  nv::ITensor* const row = bench->addGather(*table, *ids, 0)->getOutput(0);
  row->setName("row");
  bench.mark(bench->addElementWise(*row, *bench.constant({1, 1}, 100), nv::ElementWiseOperation::kPROD)->getOutput(0));
  EXPECT_TRUE(bench.tells("stays in FP32: tensor 'row' reaches 3")) << ::testing::PrintToString(bench.logger.details);
}

TEST_F(HalfTrial, CountsTheTimeOfWindows) {
  HalfBench bench;
  nv::ITensor* const large = bench
                                 ->addElementWise(*bench.input("x", {1, 16, 512, 512}),
                                                  *bench.constant({1, 1, 1, 1}, 3000), nv::ElementWiseOperation::kPROD)
                                 ->getOutput(0);
  nv::IPoolingLayer* const pool = bench->addPoolingNd(*large, nv::PoolingType::kAVERAGE, dims({101, 101}));
  bench.mark(pool->getOutput(0));
  EXPECT_TRUE(bench.tells("was not tried with random inputs: a run takes the time of "))
      << ::testing::PrintToString(bench.logger.details);
}

/// Nobody asked for the run: its errors are not the program's.
TEST_F(HalfTrial, ARunThatFailsIsNoError) {
  HalfBench bench;
  nv::ITensor* const large = bench.constant({1}, 1e5F);
  nv::ITensor* const product =
      bench->addElementWise(*bench.input("x", {1}), *large, nv::ElementWiseOperation::kPROD)->getOutput(0);
  nv::ITensor* const index = bench.input("index", {8}, nv::DataType::kINT32);
  nv::ITensor* const larger = bench->addElementWise(*index, *index, nv::ElementWiseOperation::kSUM)->getOutput(0);
  bench.mark(bench->addGather(*product, *larger, 0)->getOutput(0));
  EXPECT_TRUE(bench.tells("was not tried with random inputs: step '(Unnamed Layer* 3) [Gather]': index 2 is outside"))
      << ::testing::PrintToString(bench.logger.details);
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
