#include <NvInfer.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace nv = nvinfer1;
using nv::ProfilingVerbosity;

class Quiet final : public nv::ILogger {
  void log(Severity severity, const char* message) noexcept override {
    if (severity <= Severity::kERROR) ADD_FAILURE() << message;
  }
};

/// Two softmaxes, in an engine that tells everything.
class Nvtx : public ::testing::Test {
 protected:
  Nvtx() : runtime(nv::createInferRuntime(logger)) {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    network->setName("small");
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims{2, {2, 2}});
    nv::ISoftMaxLayer* first = network->addSoftMax(*x);
    nv::ISoftMaxLayer* second = network->addSoftMax(*first->getOutput(0));
    first->setAxes(1U << 0);
    second->setAxes(1U << 1);
    first->setName("first");
    second->setName("second");
    second->getOutput(0)->setName("y");
    network->markOutput(*second->getOutput(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    config->setProfilingVerbosity(ProfilingVerbosity::kDETAILED);
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    engine.reset(runtime->deserializeCudaEngine(plan->data(), plan->size()));
    context.reset(engine->createExecutionContext());
    context->setTensorAddress("x", values.data());
    context->setTensorAddress("y", results.data());
  }
  bool run() { return context->enqueueV3(nullptr) && cudaStreamSynchronize(nullptr) == cudaSuccess; }

  Quiet logger;
  std::vector<float> values{1, 2, 3, 4}, results{0, 0, 0, 0};
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
};

TEST_F(Nvtx, AToolIsToldOfRunsAndSteps) {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (!path || std::string(path) != KILN_NVTX_TOOL) GTEST_SKIP() << "CTest names the tool in NVTX_INJECTION64_PATH";
  void* library = ::dlopen(path, RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto take_ranges = reinterpret_cast<void (*)(char*, size_t)>(::dlsym(library, "take_ranges"));
  ASSERT_NE(take_ranges, nullptr);
  const auto ranges_at = [&](ProfilingVerbosity verbosity) {
    char text[4096];
    EXPECT_TRUE(context->setNvtxVerbosity(verbosity));
    EXPECT_TRUE(run());
    take_ranges(text, sizeof text);
    return std::string(text);
  };
  EXPECT_EQ(context->getNvtxVerbosity(), ProfilingVerbosity::kDETAILED);
  EXPECT_EQ(ranges_at(ProfilingVerbosity::kNONE), "");
  EXPECT_EQ(ranges_at(ProfilingVerbosity::kLAYER_NAMES_ONLY), "enqueue small\nfirst\nsecond\n");
  const std::string all = ranges_at(ProfilingVerbosity::kDETAILED);
  EXPECT_EQ(all.find("enqueue small\nfirst ["), 0U) << all;
  EXPECT_NE(all.find("]\nsecond ["), std::string::npos) << all;
}

TEST_F(Nvtx, RunsGoOnWithoutATool) {
  EXPECT_TRUE(run());
  EXPECT_NEAR(results[0] + results[1], 1, 1e-6);
}

}  // namespace
