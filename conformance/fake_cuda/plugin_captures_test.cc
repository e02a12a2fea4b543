// Plugins in recordings: what a recording cannot repeat is found when it is made, told once, and launched in each run.
#include <algorithm>
#include <functional>

#include "program.h"
#include "promises/recorded.h"

namespace kiln::fake_cuda {
namespace {

constexpr int kRuns = 16;
constexpr size_t kBytes = 8 * 64 * sizeof(float);

cudaError_t copy(const promises::Enqueue& e) {
  return cudaMemcpyAsync(e.outputs[0], e.inputs[0], kBytes, cudaMemcpyDeviceToDevice, e.stream);
}

class PluginCaptures : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (!std::getenv("KILN_DEVICE") || std::string(std::getenv("KILN_DEVICE")) != "cuda" ||
        cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "KILN_DEVICE is not 'cuda', or there is no GPU";
  }
  /// A plugin between two layers that have kernels, in kRuns runs. Counts its calls of enqueue.
  void run(std::function<int32_t(const promises::Enqueue&)> enqueue) {
    behaviour.name = "Captured";
    behaviour.run = std::move(enqueue);
    const promises::RecordedCreator creator(behaviour, journal);
    std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
    nv::ITensor* before = network->addUnary(*x, nv::UnaryOperation::kNEG)->getOutput(0);
    promises::Recorded plugin(behaviour, journal);
    nv::IPluginV3Layer* layer = network->addPluginV3(&before, 1, nullptr, 0, plugin);
    ASSERT_TRUE(layer) << logger.all();
    nv::ITensor* y = network->addUnary(*layer->getOutput(0), nv::UnaryOperation::kEXP)->getOutput(0);
    y->setName("y");
    network->markOutput(*y);
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    ASSERT_TRUE(plan) << logger.all();
    const Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
    journal.clear();
    logger.notices.clear();
    for (int i = 0; i < kRuns; ++i) ASSERT_TRUE(session.context->enqueueV3(session.stream)) << i << logger.all();
    EXPECT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
    EXPECT_TRUE(logger.errors.empty()) << logger.all();
  }
  std::string told() const {
    std::string text;
    for (const std::string& line : logger.notices) text += line + "\n";
    return text;
  }

  Logger logger;
  promises::Behaviour behaviour;
  promises::Journal journal;
};

TEST_F(PluginCaptures, WhatIsQueuedOnTheStreamIsRepeated) {
  run([](const promises::Enqueue& e) { return copy(e) == cudaSuccess ? 0 : 1; });
  EXPECT_LE(journal.count("enqueue"), 4) << "a replay calls nothing";
  EXPECT_TRUE(logger.notices.empty()) << told();
}

struct Forbidden {
  const char* what;
  cudaError_t (*call)();
};
// A synchronous copy is not among them: on an H200 it breaks no capture of a stream that the legacy one does not wait
// for.
constexpr Forbidden kForbidden[] = {
    {"an allocation",
     [] {
       void* memory = nullptr;
       const cudaError_t made = cudaMalloc(&memory, 16);
       if (memory) cudaFree(memory);
       return made;
     }},
    {"a wait", [] { return cudaDeviceSynchronize(); }},
};

TEST_F(PluginCaptures, WhatNoRecordingRepeatsIsDoneInEachRun) {
  for (const Forbidden& forbidden : kForbidden) {
    journal.clear();
    logger.notices.clear();
    run([&](const promises::Enqueue& e) {
      if (copy(e) != cudaSuccess) return 1;
      return forbidden.call() == cudaSuccess ? 0 : 2;
    });
    EXPECT_GE(journal.count("enqueue"), kRuns) << forbidden.what;
    EXPECT_EQ(logger.notices.size(), 1u) << forbidden.what << told();
    EXPECT_NE(told().find("plugin 'Captured' version '1': enqueue did what no recording repeats"), std::string::npos)
        << told();
  }
}

TEST_F(PluginCaptures, SoIsWorkThatTheStreamDoesNotGet) {
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  run([&](const promises::Enqueue& e) {
    return cudaMemcpyAsync(e.outputs[0], e.inputs[0], kBytes, cudaMemcpyDeviceToDevice, other) == cudaSuccess ? 0 : 1;
  });
  EXPECT_GE(journal.count("enqueue"), kRuns);
  EXPECT_EQ(logger.notices.size(), 1u) << told();
  EXPECT_NE(told().find("enqueue queued nothing on its stream"), std::string::npos) << told();
  cudaStreamDestroy(other);
}

}  // namespace
}  // namespace kiln::fake_cuda
