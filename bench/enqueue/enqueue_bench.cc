// One small Relu: enqueueV3 and cudaStreamSynchronize, and what else a program calls between runs.
#include <NvInfer.h>
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

namespace nv = nvinfer1;

class Logger final : public nv::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) std::fprintf(stderr, "%s\n", text);
  }
};

/// x f32[-1, 4] -> relu -> y, loaded, with its addresses and one stream.
struct Relu {
  Relu() {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* const x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, 4));
    nv::ITensor* const y = network->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
    y->setName("y");
    network->markOutput(*y);
    nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(1, 4));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(1, 4));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(64, 4));
    config->addOptimizationProfile(profile);
    engine.reset(builder->buildEngineWithConfig(*network, *config));
    context.reset(engine->createExecutionContext());
    context->setInputShape("x", nv::Dims2(1, 4));
    context->setTensorAddress("x", in.data());
    context->setTensorAddress("y", out.data());
    cudaStreamCreate(&stream);
  }
  ~Relu() { cudaStreamDestroy(stream); }
  bool run() { return context->enqueueV3(stream) && cudaStreamSynchronize(stream) == cudaSuccess; }

  Logger logger;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  std::vector<float> in = std::vector<float>(256, -1), out = std::vector<float>(256);
  cudaStream_t stream = nullptr;
};

void enqueue_and_synchronize(benchmark::State& state) {
  Relu relu;
  for (auto _ : state)
    if (!relu.run()) state.SkipWithError("the run failed");
}
BENCHMARK(enqueue_and_synchronize);

/// As programs do that name everything anew for each run.
void with_addresses(benchmark::State& state) {
  Relu relu;
  for (auto _ : state) {
    relu.context->setTensorAddress("x", relu.in.data());
    relu.context->setTensorAddress("y", relu.out.data());
    if (!relu.run()) state.SkipWithError("the run failed");
  }
}
BENCHMARK(with_addresses);

/// Another shape at every run: shapes are inferred and the step is bound again.
void with_another_shape(benchmark::State& state) {
  Relu relu;
  int64_t rows = 1;
  for (auto _ : state) {
    relu.context->setInputShape("x", nv::Dims2(rows = 3 - rows, 4));
    if (!relu.run()) state.SkipWithError("the run failed");
  }
}
BENCHMARK(with_another_shape);

}  // namespace
