// What a plugin that calls the driver itself finds: a context is current on the thread, as it is with TensorRT, whose
// builders and runtimes are made by way of the CUDA runtime. A plugin whose constructor loads a module needs one.
#include <set>
#include <thread>

#include "program.h"
#include "promises/recorded.h"

namespace kiln::fake_cuda {
namespace {

/// The context that is current on this thread, by the driver.
void* current_context() {
  static const auto ask =
      reinterpret_cast<int (*)(void**)>(dlsym(dlopen(std::getenv("KILN_CUDA_DRIVER"), RTLD_NOW), "cuCtxGetCurrent"));
  void* context = nullptr;
  return ask(&context) == 0 ? context : nullptr;
}

class PluginContexts : public ::testing::Test {
 protected:
  PluginContexts() {
    behaviour.name = "Contexts";
    journal.heard = [this](const std::string& call) {
      if (!current_context()) without.insert(call.substr(0, call.find(' ')));
    };
  }
  std::unique_ptr<nv::IHostMemory> build_plan() {
    std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
    const nv::PluginFieldCollection none{};
    const std::unique_ptr<nv::IPluginV3> plugin(
        static_cast<nv::IPluginCreatorV3One*>(getPluginRegistry()->getCreator("Contexts", "1", ""))
            ->createPlugin("layer", &none, nv::TensorRTPhase::kBUILD));
    nv::ITensor* y = network->addPluginV3(&x, 1, nullptr, 0, *plugin)->getOutput(0);
    y->setName("y");
    network->markOutput(*y);
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
  }
  /// On a thread that has had no context.
  static void elsewhere(const std::function<void()>& work) { std::thread(work).join(); }

  Logger logger;
  promises::Behaviour behaviour;
  promises::Journal journal;
  std::set<std::string> without;  ///< calls that found no context
};

TEST_F(PluginContexts, AreCurrentBehindABuilderAndARuntime) {
  elsewhere([&] {
    EXPECT_FALSE(current_context());
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    EXPECT_TRUE(current_context());
  });
  elsewhere([&] {
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
    EXPECT_TRUE(current_context());
  });
}

TEST_F(PluginContexts, StayThoseOfTheProgram) {
  control().set_devices(2, 9, 0);
  elsewhere([&] {
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    void* const before = current_context();
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
    EXPECT_EQ(current_context(), before);
  });
}

TEST_F(PluginContexts, AreCurrentInEachCallOfAPlugin) {
  const promises::RecordedCreator creator(behaviour, journal);
  std::unique_ptr<nv::IHostMemory> plan;
  elsewhere([&] { plan = build_plan(); });
  ASSERT_TRUE(plan) << logger.all();
  EXPECT_GT(journal.count("createPlugin"), 0);
  const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  journal.clear();
  elsewhere([&] { engine.reset(runtime->deserializeCudaEngine(plan->data(), plan->size())); });
  ASSERT_TRUE(engine) << logger.all();
  EXPECT_GT(journal.count("createPlugin"), 0);
  elsewhere([&] { context.reset(engine->createExecutionContext()); });
  ASSERT_TRUE(context) << logger.all();
  void *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&x, 8 * 64 * 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&y, 8 * 64 * 4), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_TRUE(context->setTensorAddress("x", x));
  ASSERT_TRUE(context->setTensorAddress("y", y));
  elsewhere([&] { EXPECT_TRUE(context->enqueueV3(stream)) << logger.all(); });
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_GT(journal.count("enqueue"), 0);
  for (const std::string& call : without) ADD_FAILURE() << call << " found no context";
  context.reset();
  cudaStreamDestroy(stream);
  cudaFree(x), cudaFree(y);
}

}  // namespace
}  // namespace kiln::fake_cuda
