// Plugins in recordings: what a recording cannot repeat is found when it is made, told once, and launched in each run.
#include <algorithm>
#include <functional>

#include "api/base/private_entry.h"
#include "program.h"
#include "promises/recorded.h"

namespace kiln::fake_cuda {
namespace {

constexpr int kRuns = 16;

cudaError_t copy_on(cudaStream_t stream, const promises::Enqueue& e) {
  const auto bytes = static_cast<size_t>(promises::volume(e.in[0].dims)) * sizeof(float);
  return cudaMemcpyAsync(e.outputs[0], e.inputs[0], bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t copy(const promises::Enqueue& e) { return copy_on(e.stream, e); }

/// What libnvinfer says of the enqueue that this thread is in.
KilnEnqueueKind enqueue_kind() {
  KilnPrivateEntry table{};
  table.size = sizeof table;
  table.version = kKilnEntryVersion;
  return kiln_private_entry(&table) == kKilnOk ? table.enqueue_kind() : KilnEnqueueKind{-1};
}

class PluginCaptures : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (!std::getenv("KILN_DEVICE") || std::string(std::getenv("KILN_DEVICE")) != "cuda" ||
        cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "KILN_DEVICE is not 'cuda', or there is no GPU";
  }
  /// A plugin between two layers that have kernels, in kRuns runs. Counts its calls of enqueue. `num_rows` of the input
  /// are those of one run after the other.
  void run(std::function<int32_t(const promises::Enqueue&)> enqueue, const std::vector<int64_t>& num_rows = {8}) {
    behaviour.name = "Captured";
    behaviour.run = std::move(enqueue);
    const promises::RecordedCreator creator(behaviour, journal);
    std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, 64));
    nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(0, 64));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(8, 64));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(8, 64));
    config->addOptimizationProfile(profile);
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
    session.context->setProfiler(profiler);
    if (captures) {
      cudaGraph_t graph = nullptr;
      ASSERT_TRUE(session.context->setInputShape("x", nv::Dims2(8, 64))) << logger.all();
      ASSERT_EQ(cudaStreamBeginCapture(session.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
      EXPECT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
      ASSERT_EQ(cudaStreamEndCapture(session.stream, &graph), cudaSuccess);
      cudaGraphDestroy(graph);
      return;
    }
    for (size_t i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(session.context->setInputShape("x", nv::Dims2(num_rows[i % num_rows.size()], 64))) << logger.all();
      ASSERT_TRUE(session.context->enqueueV3(session.stream)) << i << logger.all();
    }
    EXPECT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
    EXPECT_TRUE(logger.errors.empty()) << logger.all();
  }
  std::string told() const {
    std::string text;
    for (const std::string& line : logger.notices) text += line + "\n";
    return text;
  }

  bool captures = false;              ///< the program captures one run in a graph of its own, and does no other
  nv::IProfiler* profiler = nullptr;  ///< of the context
  Logger logger;
  promises::Behaviour behaviour;
  promises::Journal journal;
};

TEST_F(PluginCaptures, WhatIsQueuedOnTheStreamIsRepeated) {
  run([](const promises::Enqueue& e) { return copy(e) == cudaSuccess ? 0 : 1; });
  EXPECT_LE(journal.count("enqueue"), 4) << "a replay calls nothing";
  EXPECT_TRUE(logger.notices.empty()) << told();
}

TEST_F(PluginCaptures, ARunIsToldFromARecordingAndFromACaptureOfTheProgram) {
  std::vector<KilnEnqueueKind> kinds;
  const auto notes = [&](const promises::Enqueue& e) {
    kinds.push_back(enqueue_kind());
    return copy(e) == cudaSuccess ? 0 : 1;
  };
  run(notes);
  EXPECT_EQ(kinds, std::vector({kKilnRun, kKilnRecording}));
  EXPECT_EQ(enqueue_kind(), kKilnRun);
  kinds.clear();
  captures = true;
  run(notes);
  EXPECT_EQ(kinds, std::vector({kKilnCapture}));
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
    EXPECT_EQ(journal.count("enqueue"), kRuns + 1) << forbidden.what << ": each run, and one try to record it";
    EXPECT_EQ(logger.notices.size(), 1u) << forbidden.what << told();
    EXPECT_NE(told().find("plugin 'Captured' version '1': enqueue did what no recording repeats"), std::string::npos)
        << told();
  }
}

TEST_F(PluginCaptures, WhatCannotBeRecordedIsTriedOnceForAllShapes) {
  run(
      [](const promises::Enqueue& e) {
        if (copy(e) != cudaSuccess) return 1;
        return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
      },
      {8, 8, 8, 4, 4, 4, 2, 2});
  EXPECT_EQ(journal.count("enqueue"), kRuns + 1);
  EXPECT_EQ(logger.notices.size(), 1u) << told();
}

TEST_F(PluginCaptures, APluginThatFailsOnAStreamThatIsCapturedIsCalledInEachRun) {
  int num_refused = 0;
  run([&](const promises::Enqueue& e) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(e.stream, &status) != cudaSuccess) return 1;
    if (status != cudaStreamCaptureStatusNone) return ++num_refused, 3;
    return copy(e) == cudaSuccess ? 0 : 2;
  });
  EXPECT_EQ(num_refused, 1);
  EXPECT_EQ(journal.count("enqueue"), kRuns + 1);
  EXPECT_EQ(logger.notices.size(), 1u) << told();
  EXPECT_NE(told().find("plugin 'Captured' version '1': enqueue returned 3"), std::string::npos) << told();
}

TEST_F(PluginCaptures, RunsOfAContextWithAProfilerAreNotRecorded) {
  struct Times final : nv::IProfiler {
    void reportLayerTime(const char*, float) noexcept override {}
  } times;
  profiler = &times;
  run([](const promises::Enqueue& e) { return copy(e) == cudaSuccess ? 0 : 1; });
  EXPECT_EQ(journal.count("enqueue"), kRuns);
}

TEST_F(PluginCaptures, NothingOnTheStreamIsEnoughWhereNothingIsWritten) {
  const auto copies = [](const promises::Enqueue& e) {
    return promises::volume(e.in[0].dims) == 0 || copy(e) == cudaSuccess ? 0 : 1;
  };
  run(copies, {0});
  EXPECT_GE(journal.count("enqueue"), 1);
  EXPECT_LE(journal.count("enqueue"), 4) << "a replay calls nothing";
  EXPECT_TRUE(logger.notices.empty()) << told();
}

TEST_F(PluginCaptures, SoIsWorkThatTheStreamDoesNotGet) {
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  run([&](const promises::Enqueue& e) { return copy_on(other, e) == cudaSuccess ? 0 : 1; });
  EXPECT_EQ(journal.count("enqueue"), kRuns + 1);
  EXPECT_EQ(logger.notices.size(), 1u) << told();
  EXPECT_NE(told().find("enqueue queued nothing on its stream"), std::string::npos) << told();
  cudaStreamDestroy(other);
}

}  // namespace
}  // namespace kiln::fake_cuda
