/// Shared by the stand-in's tests: a program with a small network, which keeps what it is told.
#pragma once

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

namespace kiln::fake_cuda {

namespace nv = nvinfer1;

struct Logger final : nv::ILogger {
  std::vector<std::string> errors, others, notices;  ///< notices are those of others that users see
  void log(Severity severity, const char* text) noexcept override {
    (severity <= Severity::kERROR ? errors : others).emplace_back(text);
    if (severity == Severity::kWARNING || severity == Severity::kINFO) notices.emplace_back(text);
  }
  std::string all() const {
    std::string text;
    for (const auto& line : errors) text += line + "\n";
    return text;
  }
};

inline const Control& control() {
  static const Control& found = *[] {
    void* library = dlopen(std::getenv("KILN_CUDA_DRIVER"), RTLD_NOW);
    return reinterpret_cast<const Control* (*)()>(dlsym(library, "kiln_fake_cuda"))();
  }();
  return found;
}

/// Runs tests of this program in another process, in an environment ("A=b C=d").
inline int run_again(const std::string& environment, const std::string& filter) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return std::system((environment + " '" + self + "' --gtest_filter='" + filter + "' > /dev/null").c_str());
}

/// A folder that goes with the test.
struct Folder {
  std::string path = testing::TempDir() + "kiln-test-XXXXXX";
  Folder() { EXPECT_NE(mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// y = relu(x w + b) for x f32[8, 64], whose layers have kernels of Kiln's own.
inline std::unique_ptr<nv::IHostMemory> build(nv::ILogger& logger, nv::IGpuAllocator* allocator = nullptr) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  if (!builder) return nullptr;
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  if (!network || !config) return nullptr;
  builder->setGpuAllocator(allocator);
  static const std::vector<float> weights(64 * 32, 0.5f);
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  const nv::Weights values{nv::DataType::kFLOAT, weights.data(), static_cast<int64_t>(weights.size())};
  nv::ITensor* w = network->addConstant(nv::Dims2(64, 32), values)->getOutput(0);
  nv::IMatrixMultiplyLayer* product =
      network->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *w, nv::MatrixOperation::kNONE);
  nv::IActivationLayer* activated = network->addActivation(*product->getOutput(0), nv::ActivationType::kRELU);
  product->setName("product"), activated->setName("activated");
  nv::ITensor* y = activated->getOutput(0);
  y->setName("y");
  network->markOutput(*y);
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

/// A plan of x f32[8, 64] to y, of no more elements, with all that a program needs to run it. Null members, and a word
/// in the logger, where something could not be had.
struct Session {
  std::unique_ptr<nv::IRuntime> runtime;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;  ///< with the addresses of x and y
  void *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;

  Session(Logger& logger, const nv::IHostMemory& plan) : runtime(nv::createInferRuntime(logger)) {
    if (runtime) engine.reset(runtime->deserializeCudaEngine(plan.data(), plan.size()));
    if (engine) context.reset(engine->createExecutionContext());
    if (!context) return;
    if (cudaMalloc(&x, 8 * 64 * 4) != cudaSuccess || cudaMalloc(&y, 8 * 64 * 4) != cudaSuccess ||
        cudaStreamCreate(&stream) != cudaSuccess) {
      logger.errors.emplace_back("the program has no memory or stream");
      context.reset();
    } else if (!context->setTensorAddress("x", x) || !context->setTensorAddress("y", y)) {
      context.reset();
    }
  }
  /// The context waits for its runs, which need the rest.
  ~Session() {
    context.reset(), engine.reset(), runtime.reset();
    if (stream) cudaStreamDestroy(stream);
    cudaFree(x), cudaFree(y);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  explicit operator bool() const { return context != nullptr; }
};

/// Loads the plan and enqueues four runs. Success.
inline bool run(Logger& logger, const nv::IHostMemory& plan) {
  const Session session(logger, plan);
  bool good = static_cast<bool>(session);
  for (int i = 0; i < 4 && good; ++i) good = session.context->enqueueV3(session.stream);
  return good && cudaStreamSynchronize(session.stream) == cudaSuccess;
}

inline std::string want_of_nvrtc_in(const Logger& logger) {
  for (const std::string& line : logger.others)
    if (line.find("NVRTC, which compiles kernels, was not found") != line.npos) return line;
  return "";
}

/// The warning of a build where kernels cannot be compiled, so that the host runs the layers; empty where they can.
inline const std::string& want_of_nvrtc() {
  static const std::string& notice = *[] {
    Logger logger;
    build(logger);
    return new std::string(want_of_nvrtc_in(logger));
  }();
  return notice;
}

class FakeCudaProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER does not name the stand-in";
    if (!want_of_nvrtc().empty()) GTEST_SKIP() << want_of_nvrtc();
    control().reset();
    live_before_ = control().live_bytes();
  }
  /// What the test has allocated and not freed. The library keeps a page for waits from the first test that waits on.
  int64_t live_bytes() const { return control().live_bytes() - live_before_; }
  Logger logger;

 private:
  int64_t live_before_ = 0;
};

/// Tests on a GPU, or on what stands in for it.
class CudaProgram : public testing::Test {
 protected:
  void SetUp() override {
    int version = 0, count = 0;
    if (const cudaError_t found = cudaGetDeviceCount(&count)) GTEST_SKIP() << cudaGetErrorString(found);
    if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) GTEST_SKIP() << "the device is the CPU";
  }
  Logger logger;
};

/// Tests on a real GPU.
class GpuProgram : public CudaProgram {
 protected:
  void SetUp() override {
    if (std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER is set";
    CudaProgram::SetUp();
  }
};

}  // namespace kiln::fake_cuda
