// What a program pays for a run beside the work in it: enqueueV3, cudaStreamSynchronize, and what else it calls between
// runs, on the device that KILN_DEVICE names.
#include <NvInfer.h>
#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "trivial_plugin.h"

namespace {

namespace nv = nvinfer1;

class Logger final : public nv::ILogger {
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) std::fprintf(stderr, "%s\n", text);
  }
};

/// Memory of the device.
struct Buffer {
  explicit Buffer(size_t size_bytes) { cudaMalloc(&data, size_bytes); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data = nullptr;
};

/// x f32[-1, columns] -> y, loaded, with its addresses and one stream.
class Network {
 public:
  static constexpr int kMostRows = 64;
  bool enqueue() { return context->enqueueV3(stream); }
  bool synchronize() { return cudaStreamSynchronize(stream) == cudaSuccess; }
  bool run() { return enqueue() && synchronize(); }
  ~Network() { cudaStreamDestroy(stream); }

  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  Buffer in, out;
  cudaStream_t stream = nullptr;
  nv::Dims shape;

 protected:
  /// `grow` adds layers behind x and gives back the last one's result.
  template <class Grow>
  Network(int columns, int rows, Grow grow)
      : in(size_t{4} * kMostRows * static_cast<size_t>(columns)),
        out(size_t{4} * kMostRows * static_cast<size_t>(columns)) {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger_));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* const x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, columns));
    nv::ITensor* const y = grow(*network, x);
    y->setName("y");
    network->markOutput(*y);
    nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(1, columns));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(rows, columns));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(kMostRows, columns));
    config->addOptimizationProfile(profile);
    engine.reset(builder->buildEngineWithConfig(*network, *config));
    context.reset(engine->createExecutionContext());
    shape = nv::Dims2(rows, columns);
    context->setInputShape("x", shape);
    context->setTensorAddress("x", in.data);
    context->setTensorAddress("y", out.data);
    cudaMemset(in.data, 0, size_t{4} * kMostRows * static_cast<size_t>(columns));
    cudaStreamCreate(&stream);
  }

 private:
  Logger logger_;
};

struct Relu : Network {
  Relu()
      : Network(4, 1, [](nv::INetworkDefinition& network, nv::ITensor* x) {
          return network.addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
        }) {}
};

/// Layers that nothing fuses: each softmax runs along the axis that the one before did not.
struct Chain : Network {
  static constexpr int kLayers = 24;
  Chain()
      : Network(64, kMostRows, [](nv::INetworkDefinition& network, nv::ITensor* x) {
          for (int i = 0; i < kLayers; ++i) {
            nv::ISoftMaxLayer* const layer = network.addSoftMax(*x);
            layer->setAxes(1U << (i % 2));
            x = layer->getOutput(0);
          }
          return x;
        }) {}
};

/// As many steps of four elements, on a host, where plugins compute on it.
constexpr int kSmallSteps = 24;
struct SmallSteps : Network {
  SmallSteps()
      : Network(4, 1, [](nv::INetworkDefinition& network, nv::ITensor* x) {
          for (int i = 0; i < kSmallSteps; ++i) {
            nv::ISoftMaxLayer* const layer = network.addSoftMax(*x);
            layer->setAxes(1U << (i % 2));
            x = layer->getOutput(0);
          }
          return x;
        }) {}
};
struct PluginSteps : kiln::bench::TrivialCreator, Network {
  PluginSteps()
      : Network(4, 1, [](nv::INetworkDefinition& network, nv::ITensor* x) {
          for (int i = 0; i < kSmallSteps; ++i) {
            kiln::bench::TrivialPlugin plugin;
            x = network.addPluginV3(&x, 1, nullptr, 0, plugin)->getOutput(0);
          }
          return x;
        }) {}
};

/// The difference of the two, by kSmallSteps, is what a plugin costs beyond a step of Kiln's.
template <class Of>
void run_steps(benchmark::State& state) {
  Of network;
  for (auto _ : state)
    if (!network.run()) state.SkipWithError("the run failed");
  state.counters["steps"] = network.engine->getNbLayers();
}
BENCHMARK(run_steps<SmallSteps>);
BENCHMARK(run_steps<PluginSteps>);

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
    relu.context->setTensorAddress("x", relu.in.data);
    relu.context->setTensorAddress("y", relu.out.data);
    if (!relu.run()) state.SkipWithError("the run failed");
  }
}
BENCHMARK(with_addresses);

/// Another shape at every run: shapes are inferred, and one of two sets of steps is taken that stay bound.
void with_another_shape(benchmark::State& state) {
  Relu relu;
  int64_t rows = 1;
  for (auto _ : state) {
    relu.context->setInputShape("x", nv::Dims2(rows = 3 - rows, 4));
    if (!relu.run()) state.SkipWithError("the run failed");
  }
}
BENCHMARK(with_another_shape);

/// Sets of memory for a network's input and output.
class Buffers {
 public:
  static constexpr size_t kSets = 32;
  Buffers() {
    for (auto& buffer : buffers_) buffer = std::make_unique<Buffer>(size_t{4} * 64 * Network::kMostRows);
  }
  void give(Network& network, size_t set) const {
    network.context->setTensorAddress("x", buffers_[2 * set]->data);
    network.context->setTensorAddress("y", buffers_[2 * set + 1]->data);
  }

 private:
  std::array<std::unique_ptr<Buffer>, 2 * kSets> buffers_;
};

/// Host time of enqueueV3 alone, which each run is waited for behind. What a machine's other work adds to a few runs
/// moves the mean: the median is told beside it.
class EnqueueTimes {
 public:
  explicit EnqueueTimes(benchmark::State& state) : state_(state) {}
  ~EnqueueTimes() {
    if (times_us_.empty()) return;
    const auto middle = times_us_.begin() + std::ssize(times_us_) / 2;
    std::ranges::nth_element(times_us_, middle);
    state_.counters["median_us"] = *middle;
  }
  void run(Network& network) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const bool queued = network.enqueue();
    const std::chrono::duration<double> taken = Clock::now() - start;
    state_.SetIterationTime(taken.count());
    times_us_.push_back(taken.count() * 1e6);
    if (!queued || !network.synchronize()) state_.SkipWithError("the run failed");
  }

 private:
  benchmark::State& state_;
  std::vector<double> times_us_;
};

/// A network of one step or of 24, with `sets` sets of addresses in turns: with few of them a GPU replays a recording
/// of each, with many one recording is given the addresses of each run.
template <class Of>
void enqueue_alone(benchmark::State& state) {
  constexpr size_t kRunsBefore = 16;  // the first ones launch step by step, then record
  Of network;
  const auto sets = static_cast<size_t>(state.range(0));
  const Buffers buffers;
  size_t at = 0;
  for (; at < kRunsBefore; ++at) {
    buffers.give(network, at % sets);
    if (!network.run()) state.SkipWithError("the run failed");
  }
  EnqueueTimes times(state);
  for (auto _ : state) {
    if (sets > 1) buffers.give(network, at++ % sets);
    times.run(network);
  }
}
BENCHMARK(enqueue_alone<Relu>)->ArgName("sets")->Arg(1)->UseManualTime()->Iterations(2000);
BENCHMARK(enqueue_alone<Relu>)->ArgName("sets")->Arg(32)->UseManualTime()->Iterations(2000);
BENCHMARK(enqueue_alone<Chain>)->ArgName("sets")->Arg(1)->Arg(32)->UseManualTime()->Iterations(2000);

/// The first run at a shape, which prepares the steps and launches them one by one, or the second, which a GPU records.
template <class Of, int kRun>
void enqueue_at_new_shapes(benchmark::State& state) {
  constexpr int kShapes = 8;  // more than a context keeps
  Of network;
  EnqueueTimes times(state);
  int at = 0;
  for (auto _ : state) {
    const auto rows = static_cast<int>(Network::kMostRows - at++ % kShapes);
    network.context->setInputShape("x", nv::Dims2(rows, network.shape.d[1]));
    for (int i = 1; i < kRun; ++i)
      if (!network.run()) state.SkipWithError("the run failed");
    times.run(network);
  }
}
BENCHMARK(enqueue_at_new_shapes<Relu, 1>)->UseManualTime()->Iterations(800);
BENCHMARK(enqueue_at_new_shapes<Chain, 1>)->UseManualTime()->Iterations(800);
BENCHMARK(enqueue_at_new_shapes<Chain, 2>)->UseManualTime()->Iterations(800);

}  // namespace
