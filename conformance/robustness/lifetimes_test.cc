// Objects made and destroyed in orders that programs happen to choose.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include "device_numbers.h"
#include "program.h"

namespace robustness {
namespace {

TEST(Lifetimes, WhatABuilderMadeOutlivesIt) {
  Program p;
  p.make_relu();
  p.builder.reset();
  EXPECT_EQ(p.network->getNbLayers(), 1);
  nv::ITensor* const z = p.network->addIdentity(*p.network->getInput(0))->getOutput(0);
  EXPECT_EQ(list(z->getDimensions()), (std::vector<int64_t>{-1, 4}));
  EXPECT_TRUE(p.config->getFlag(nv::BuilderFlag::kTF32));
  p.config.reset();
  p.network->markOutput(*z);
  EXPECT_EQ(p.network->getNbOutputs(), 2);
  EXPECT_EQ(p.network->addActivation(*z, static_cast<nv::ActivationType>(99)), nullptr);
  EXPECT_NE(p.logger.take_errors(), "");
}

TEST(Lifetimes, AnEngineOutlivesRuntimeBuilderAndPlan) {
  Logger logger;
  std::unique_ptr<nv::IExecutionContext> context;
  std::unique_ptr<nv::ICudaEngine> engine;
  {
    Program p;
    p.make_relu();
    auto plan = p.build();
    ASSERT_NE(plan, nullptr);
    std::vector<char> bytes(static_cast<const char*>(plan->data()),
                            static_cast<const char*>(plan->data()) + plan->size());
    plan.reset();
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
    engine.reset(runtime->deserializeCudaEngine(bytes.data(), bytes.size()));
    std::fill(bytes.begin(), bytes.end(), '\1');  // the program may do so at once
  }
  ASSERT_NE(engine, nullptr);
  context.reset(engine->createExecutionContext());
  EXPECT_TRUE(relu_works(*context, nullptr)) << logger.take_errors();
}

TEST(Lifetimes, AContextOutlivesItsEngine) {
  Program p;
  p.make_relu();
  std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  engine.reset();
  EXPECT_TRUE(relu_works(*context, nullptr)) << p.logger.take_errors();
  EXPECT_EQ(list(context->getTensorShape("y")), (std::vector<int64_t>{2, 4}));
  EXPECT_FALSE(context->setInputShape("x", dims({9, 4})));
  EXPECT_NE(p.logger.take_errors().find("maximum 8"), std::string::npos);
  EXPECT_TRUE(context->setNvtxVerbosity(nv::ProfilingVerbosity::kNONE));
}

TEST(Lifetimes, AnInspectorOutlivesItsEngine) {
  Program p;
  p.make_relu();
  std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  const std::unique_ptr<nv::IEngineInspector> inspector(engine->createEngineInspector());
  engine.reset();
  EXPECT_NE(inspector->getEngineInformation(nv::LayerInformationFormat::kJSON), nullptr);
}

TEST(Lifetimes, EverythingGoesWhileARunIsQueued) {
  Managed<float> x{-1, 2, -3, 4}, y(4);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    Program p;
    p.make_relu();
    const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    context->setInputShape("x", dims({1, 4}));
    context->setTensorAddress("x", x.data());
    context->setTensorAddress("y", y.data());
    ASSERT_TRUE(context->enqueueV3(stream));
  }
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(y, (Managed<float>{0, 2, 0, 4}));
}

TEST(Lifetimes, RunsOfOneContextOnTwoStreams) {
  Managed<float> x{-1, 2, -3, 4};
  std::vector<Managed<float>> y(8, Managed<float>(4));
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    Program p;
    p.make_relu();
    const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    context->setInputShape("x", dims({1, 4}));
    context->setTensorAddress("x", x.data());
    for (size_t i = 0; i < y.size(); ++i) {
      context->setTensorAddress("y", y[i].data());
      ASSERT_TRUE(context->enqueueV3(streams[i % 3 == 0])) << p.logger.take_errors();
    }
  }  // the context waits for both
  for (cudaStream_t stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  for (const auto& result : y) EXPECT_EQ(result, (Managed<float>{0, 2, 0, 4}));
}

TEST(Lifetimes, AStreamThatIsGone) {
  if (is_on_gpu()) GTEST_SKIP() << "the driver's streams are addresses: it may crash where one is gone";
  Program p;
  p.make_relu();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  EXPECT_TRUE(relu_works(*context, stream));
  cudaStreamDestroy(stream);
  EXPECT_FALSE(relu_works(*context, stream));
  EXPECT_NE(p.logger.take_errors().find("was destroyed"), std::string::npos);
  EXPECT_FALSE(relu_works(*context, reinterpret_cast<cudaStream_t>(uintptr_t{0x1234560})));
  EXPECT_FALSE(context->setOptimizationProfileAsync(0, stream));
  EXPECT_TRUE(relu_works(*context, nullptr));
}

TEST(Lifetimes, TwoEnginesOfOneRuntime) {
  Program p;
  p.make_relu();
  const auto plan = p.build();
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(p.logger));
  auto first = load(*runtime, *plan), second = load(*runtime, *plan);
  const std::unique_ptr<nv::IExecutionContext> one(first->createExecutionContext());
  std::unique_ptr<nv::IExecutionContext> two(second->createExecutionContext());
  EXPECT_TRUE(relu_works(*one, nullptr));
  EXPECT_TRUE(relu_works(*two, nullptr));
  two.reset();
  second.reset();
  EXPECT_TRUE(relu_works(*one, nullptr));
}

TEST(Lifetimes, TwoContextsOnOneProfile) {
  Program p;
  p.make_relu();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  const std::unique_ptr<nv::IExecutionContext> one(engine->createExecutionContext());
  const std::unique_ptr<nv::IExecutionContext> two(engine->createExecutionContext());
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(one->getOptimizationProfile(), 0);
  EXPECT_EQ(two->getOptimizationProfile(), 0);
  EXPECT_TRUE(one->setInputShape("x", dims({8, 4})));
  EXPECT_TRUE(relu_works(*two, nullptr));
  EXPECT_EQ(list(one->getTensorShape("y")), (std::vector<int64_t>{8, 4}));
  EXPECT_TRUE(relu_works(*one, nullptr));
}

TEST(Lifetimes, RecordersAreCountedAtEachLevel) {
  Recorder recorder;
  {
    Program p;
    p.builder->setErrorRecorder(&recorder);
    const std::unique_ptr<nv::INetworkDefinition> network(p.builder->createNetworkV2(0));
    EXPECT_EQ(network->getErrorRecorder(), &recorder);  // handed on
    p.network->setErrorRecorder(&recorder);
    EXPECT_EQ(p.network->addInput("", nv::DataType::kFLOAT, dims({1})), nullptr);
    ASSERT_EQ(recorder.texts.size(), 1U);
    EXPECT_EQ(recorder.codes[0], nv::ErrorCode::kINVALID_ARGUMENT);
    p.make_relu();
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(p.logger));
    runtime->setErrorRecorder(&recorder);
    EXPECT_EQ(runtime->deserializeCudaEngine("nonsense", 8), nullptr);
    EXPECT_EQ(recorder.texts.size(), 2U);
    const auto plan = p.build();
    const auto engine = load(*runtime, *plan);
    engine->setErrorRecorder(&recorder);
    EXPECT_EQ(engine->getTensorShape("nobody").nbDims, -1);
    EXPECT_EQ(recorder.texts.size(), 3U);
    const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
    EXPECT_FALSE(context->setInputShape("x", dims({1})));
    EXPECT_EQ(recorder.texts.size(), 4U);
    context->setErrorRecorder(nullptr);
    EXPECT_FALSE(context->setInputShape("x", dims({1})));
    EXPECT_EQ(recorder.texts.size(), 4U);
    EXPECT_GT(recorder.references, 0);
  }
  EXPECT_EQ(recorder.references, 0);
}

}  // namespace
}  // namespace robustness
