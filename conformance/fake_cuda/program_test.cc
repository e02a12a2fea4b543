/// What a program sees on a machine with a GPU, as far as the driver's stand-in can show it: engines are built, saved,
/// loaded and run through the public API, kernels that do nothing are launched, and every failure of the driver comes
/// back as an error that leaves nothing behind.
#include <NvInfer.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/device/testing/fake_cuda.h"

namespace {

namespace nv = nvinfer1;
using kiln::fake_cuda::Control;

struct Logger final : nv::ILogger {
  std::vector<std::string> errors, others;
  void log(Severity severity, const char* text) noexcept override {
    (severity <= Severity::kERROR ? errors : others).emplace_back(text);
  }
  std::string all() const {
    std::string text;
    for (const auto& line : errors) text += line + "\n";
    return text;
  }
};

const Control& control() {
  static const Control& found = *[] {
    void* library = dlopen(std::getenv("KILN_CUDA_DRIVER"), RTLD_NOW);
    return reinterpret_cast<const Control* (*)()>(dlsym(library, "kiln_fake_cuda"))();
  }();
  return found;
}

/// y = relu(x w + b) for x f32[8, 64], whose layers have kernels of Kiln's own.
std::unique_ptr<nv::IHostMemory> build(Logger& logger) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  if (!builder) return nullptr;
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  if (!network || !config) return nullptr;
  static const std::vector<float> weights(64 * 32, 0.5f);
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  const nv::Weights values{nv::DataType::kFLOAT, weights.data(), static_cast<int64_t>(weights.size())};
  nv::ITensor* w = network->addConstant(nv::Dims2(64, 32), values)->getOutput(0);
  nv::ITensor* product =
      network->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *w, nv::MatrixOperation::kNONE)->getOutput(0);
  nv::ITensor* y = network->addActivation(*product, nv::ActivationType::kRELU)->getOutput(0);
  y->setName("y");
  network->markOutput(*y);
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

/// Loads the plan and enqueues four runs. Success.
bool run(Logger& logger, const nv::IHostMemory& plan) {
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  if (!runtime) return false;
  std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan.data(), plan.size()));
  if (!engine) return false;
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  if (!context) return false;
  void *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  bool good = cudaMalloc(&x, 8 * 64 * 4) == cudaSuccess && cudaMalloc(&y, 8 * 32 * 4) == cudaSuccess &&
              cudaStreamCreate(&stream) == cudaSuccess;
  if (!good) logger.errors.emplace_back("the program has no memory or stream");
  good = good && context->setTensorAddress("x", x) && context->setTensorAddress("y", y);
  for (int i = 0; i < 4 && good; ++i) good = context->enqueueV3(stream);
  good = good && cudaStreamSynchronize(stream) == cudaSuccess;
  if (stream) cudaStreamDestroy(stream);
  cudaFree(x), cudaFree(y);
  return good;
}

/// What a build says where kernels cannot be compiled, and so the host runs the layers; empty where they can.
const std::string& want_of_nvrtc() {
  static const std::string& notice = *[] {
    Logger logger;
    build(logger);
    for (const std::string& line : logger.others)
      if (line.find("NVRTC, which compiles kernels, was not found") != line.npos) return new std::string(line);
    return new std::string;
  }();
  return notice;
}

class FakeCudaProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER does not name the stand-in";
    if (!want_of_nvrtc().empty()) GTEST_SKIP() << want_of_nvrtc();
    control().reset();
  }
  Logger logger;
};

TEST_F(FakeCudaProgram, BuildsAndRuns) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  const int64_t before = control().num_calls("cuLaunchKernelEx") + control().num_calls("cuGraphLaunch");
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
  EXPECT_GE(control().num_calls("cuLaunchKernelEx") + control().num_calls("cuGraphLaunch"), before + 4);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(control().live_bytes(), 0);
}

/// Every call of `function` fails in turn, in the build and in the run: the API says so, and nothing is left.
void fail_in_turn(const char* function, Logger& logger) {
  const auto whole = build(logger);
  ASSERT_TRUE(whole) << logger.all();
  for (const bool builds : {true, false}) {
    int failures = 0;
    for (int64_t nth = 1;; ++nth) {
      logger.errors.clear();
      control().reset();
      control().fail(function, nth, kiln::cuda::kOutOfDeviceMemory);
      const bool good = builds ? build(logger) != nullptr : run(logger, *whole);
      const int64_t calls = control().num_calls(function);
      EXPECT_EQ(control().live_bytes(), 0) << function << ' ' << nth;
      if (!good) {
        ++failures;
        EXPECT_FALSE(logger.errors.empty()) << function << ' ' << nth;
      }
      if (calls < nth) {  // the failure never came
        EXPECT_TRUE(good) << logger.all();
        break;
      }
      ASSERT_LT(nth, 2000);
    }
    EXPECT_TRUE(builds || failures > 0) << function;  // a build goes on without a tactic that fails
  }
}

TEST_F(FakeCudaProgram, SurvivesWantOfMemory) { fail_in_turn("cuMemAlloc_v2", logger); }
TEST_F(FakeCudaProgram, SurvivesModulesThatDoNotLoad) { fail_in_turn("cuModuleLoadData", logger); }
TEST_F(FakeCudaProgram, SurvivesStreamsThatCannotBe) { fail_in_turn("cuStreamCreateWithPriority", logger); }

TEST_F(FakeCudaProgram, SurvivesLaunchesThatFail) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  control().fail("cuLaunchKernelEx", 1, kiln::cuda::kOutOfLaunchResources);
  EXPECT_FALSE(run(logger, *plan));
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_NE(logger.errors[0].find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), std::string::npos) << logger.errors[0];
  EXPECT_TRUE(run(logger, *plan));
}

TEST_F(FakeCudaProgram, RefusesPlansOfOtherArchitectures) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  control().fail("cuModuleLoadData", 1, kiln::cuda::kNoBinaryForGpu);
  EXPECT_FALSE(run(logger, *plan));
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_NE(logger.errors[0].find("build the engine on this device"), std::string::npos) << logger.errors[0];
}

TEST_F(FakeCudaProgram, RunsOnTheCurrentDevice) {
  control().set_devices(2, 9, 0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_GE(control().num_calls("cuDevicePrimaryCtxRetain"), 2);  // the runtime's and the engine's
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

/// On a real GPU: values, on the program's stream, in its graph, on the thread's own stream.
TEST(GpuProgram, ComputesWhatItShould) {
  int version = 0, count = 0;
  if (std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER is set";
  if (const cudaError_t found = cudaGetDeviceCount(&count)) GTEST_SKIP() << cudaGetErrorString(found);
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) GTEST_SKIP() << "the device is the CPU";
  Logger logger;
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine) << logger.all();
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context) << logger.all();
  void *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaMalloc(&x, 8 * 64 * 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&y, 8 * 32 * 4), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_TRUE(context->setTensorAddress("x", x) && context->setTensorAddress("y", y));
  const auto check = [&](const char* what, cudaStream_t on, auto enqueue) {
    static float value = 0;
    ++value;
    const std::vector<float> in(8 * 64, value);
    std::vector<float> out(8 * 32);
    ASSERT_EQ(cudaMemcpyAsync(x, in.data(), in.size() * 4, cudaMemcpyHostToDevice, on), cudaSuccess);
    ASSERT_TRUE(enqueue()) << what << ": " << logger.all();
    ASSERT_EQ(cudaMemcpyAsync(out.data(), y, out.size() * 4, cudaMemcpyDeviceToHost, on), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(on), cudaSuccess) << what;
    for (const float element : out) ASSERT_EQ(element, 32 * value) << what;
  };
  for (int i = 0; i < 5; ++i) check("enqueue", stream, [&] { return context->enqueueV3(stream); });  // then replays
  check("another stream", cudaStreamPerThread, [&] { return context->enqueueV3(cudaStreamPerThread); });
  check("the default stream", nullptr, [&] { return context->enqueueV3(nullptr); });
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(context->enqueueV3(stream)) << logger.all();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) check("a graph", stream, [&] { return cudaGraphLaunch(exec, stream) == cudaSuccess; });
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  void* bindings[] = {x, y};
  check("executeV2", stream,
        [&] { return cudaStreamSynchronize(stream) == cudaSuccess && context->executeV2(bindings); });
  context.reset();
  cudaStreamDestroy(stream), cudaFree(x), cudaFree(y);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

/// The device is the CPU where the driver cannot be used, and whoever asks for CUDA is told why. By the environment.
TEST(FakeCudaAbsence, IsSaidOnce) {
  const char* expected = std::getenv("KILN_TEST_NOTICE");
  if (!expected) GTEST_SKIP() << "KILN_TEST_NOTICE is not set";
  Logger logger;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<nv::IHostMemory> plan = build(logger);
    EXPECT_EQ(plan == nullptr, std::getenv("KILN_DEVICE") != nullptr) << logger.all();
  }
  const bool asked = std::getenv("KILN_DEVICE") != nullptr;
  int said = 0;
  for (const std::string& line : asked ? logger.errors : logger.others) said += line.find(expected) != line.npos;
  EXPECT_TRUE(asked ? said >= 2 : said == 1) << said << " times";
}

}  // namespace
