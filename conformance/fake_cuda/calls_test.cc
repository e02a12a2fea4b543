/// Counts a run's calls of the driver, for a launch and for a replay. Runs whose addresses or shapes change still
/// compute what they should: kernels here add 1, so that a chain of them shows a wrong address.
#include <array>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

constexpr int kLayers = 6, kMostRows = 8, kSets = 12;
// Calls of a run on one stream beside its launches or its replay, with the contexts that are asked for in front of
// these: is the stream captured, which one is it, and a mark for the next run. Each of context, wait and mark asks
// whose thread it is.
constexpr int kCallsBeside = 6;

/// y = x + kLayers of x f32[1..8, 8, 8], as the kernels below have it.
class Calls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("KILN_CUDA_DRIVER")) GTEST_SKIP() << "KILN_CUDA_DRIVER does not name the stand-in";
    control().reset();
    control().define_kernel("softmax", &add_one, 2);
    const std::string why_not = build();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_TRUE(context) << logger.all();
    for (float*& data : memory) ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 4 * 64 * kMostRows), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  }
  void TearDown() override {
    context.reset(), engine.reset();
    for (float* data : memory) cudaFree(data);
    if (stream) cudaStreamDestroy(stream);
    if (!std::getenv("KILN_CUDA_DRIVER")) return;
    EXPECT_EQ(control().live_bytes(), 0);
  }

  static void add_one(const cuda::LaunchConfig&, void** arguments) {
    const auto x = *static_cast<const float**>(arguments[0]);
    *(*static_cast<float**>(arguments[1])) = *x + 1;
  }

  std::string build() {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims3(-1, 8, 8));
    for (int i = 0; i < kLayers; ++i) {
      nv::ISoftMaxLayer* const layer = network->addSoftMax(*x);
      layer->setAxes(1U << (i % 2));
      x = layer->getOutput(0);
    }
    x->setName("y");
    network->markOutput(*x);
    nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims3(1, 8, 8));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims3(kMostRows, 8, 8));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims3(kMostRows, 8, 8));
    config->addOptimizationProfile(profile);
    engine.reset(builder->buildEngineWithConfig(*network, *config));
    context.reset(engine ? engine->createExecutionContext() : nullptr);
    if (context) context->setInputShape("x", nv::Dims3(kMostRows, 8, 8));
    return want_of_nvrtc_in(logger);
  }

  /// One run from `in` to `out`, of the sets of memory.
  void run(int in, int out) {
    const float value = static_cast<float>(++num_runs);
    *memory[in] = value, *memory[out] = -1;
    ASSERT_TRUE(context->setTensorAddress("x", memory[in]) && context->setTensorAddress("y", memory[out]));
    calls_before = calls_now();
    ASSERT_TRUE(context->enqueueV3(stream)) << logger.all();
    calls_after = calls_now();
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(*memory[out], value + kLayers) << "run " << num_runs;
  }
  void set_rows(int rows) { ASSERT_TRUE(context->setInputShape("x", nv::Dims3(rows, 8, 8))) << logger.all(); }

  static constexpr const char* kCalls[] = {nullptr, "cuLaunchKernelEx", "cuGraphLaunch",
                                           "cuGraphExecKernelNodeSetParams_v2", "cuStreamBeginCapture_v2"};
  using Count = std::array<int64_t, std::size(kCalls)>;
  static Count calls_now() {
    Count count{};
    for (size_t i = 0; i < count.size(); ++i) count[i] = control().num_calls(kCalls[i]);
    return count;
  }
  /// Calls of the last run.
  int64_t all() const { return calls_after[0] - calls_before[0]; }
  int64_t launches() const { return calls_after[1] - calls_before[1]; }
  int64_t replays() const { return calls_after[2] - calls_before[2]; }
  int64_t replaced() const { return calls_after[3] - calls_before[3]; }
  int64_t recordings() const { return calls_after[4] - calls_before[4]; }

  Logger logger;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  std::array<float*, kSets + 1> memory{};
  cudaStream_t stream = nullptr;
  int num_runs = 0;
  Count calls_before{}, calls_after{};
};

TEST_F(Calls, OfALaunch) {
  run(0, 1);  // which makes events
  set_rows(1);
  run(0, 1);
  EXPECT_EQ(launches(), kLayers);
  EXPECT_EQ(replays(), 0);
  EXPECT_EQ(all() - 2 * launches(), kCallsBeside);
}

TEST_F(Calls, OfAReplay) {
  for (int i = 0; i < 3; ++i) run(0, 1);
  for (int i = 0; i < 5; ++i) {
    run(0, 1);
    EXPECT_EQ(replays(), 1);
    EXPECT_EQ(launches() + replaced(), 0);
    EXPECT_EQ(all() - 2 * replays(), kCallsBeside);
  }
}

TEST_F(Calls, OfSeveralSetsOfAddresses) {
  for (int i = 0; i < 3 * 3; ++i) run(i % 3, 3 + i % 3);
  for (int i = 0; i < 3 * 3; ++i) {
    run(i % 3, 3 + i % 3);
    EXPECT_EQ(replays(), 1);
    EXPECT_EQ(launches() + replaced() + recordings(), 0);
  }
}

/// One recording is given the addresses of each run; only the first and the last layer have any.
TEST_F(Calls, OfAddressesThatAlwaysChange) {
  int recorded = 0;
  for (int i = 0; i < 5 * kSets; ++i) {
    run(i % kSets, i % (kSets - 1) + (i % (kSets - 1) >= i % kSets ? 1 : 0));
    recorded += static_cast<int>(recordings());
    if (recorded == 0 || recordings() > 0) continue;
    EXPECT_EQ(launches(), 0) << i;
    EXPECT_EQ(replays(), 1) << i;
    EXPECT_LE(replaced(), 2) << i;
  }
  EXPECT_EQ(recorded, 1);
}

/// Where the driver refuses, the run is launched as it would be without a recording.
TEST_F(Calls, WithoutReplacement) {
  for (int i = 0; i < kSets; ++i) run(i, (i + 1) % kSets);
  ASSERT_EQ(replays(), 1);
  control().fail("cuGraphExecKernelNodeSetParams_v2", 2, cuda::kInvalidValue);
  for (int i = 0; i < 2 * kSets; ++i) run(i % kSets, (i + 2) % kSets);
  EXPECT_EQ(launches(), kLayers);
  EXPECT_EQ(replays() + recordings(), 0);
}

TEST_F(Calls, OfShapesThatComeAgain) {
  const auto run_at = [&](int rows, int in) {
    set_rows(rows);
    run(in, kSets);
  };
  for (int i = 0; i < 3 * 4; ++i) run_at(1 + i % 4, i % 2);
  int recorded = 0;
  for (int i = 0; i < 10 * 4; ++i) {
    run_at(1 + i % 4, i % 2);
    recorded += i >= 3 * 4 ? static_cast<int>(launches()) : 0;
  }
  EXPECT_EQ(recorded, 0);
  const int64_t objects = control().live_objects();
  for (int i = 0; i < 10 * 6; ++i) run_at(1 + i % 6, i % 2);  // more than are kept
  EXPECT_LE(control().live_objects(), objects + 2);           // and one that goes from shape to shape
}

/// One recording goes from shape to shape.
TEST_F(Calls, OfShapesThatAlwaysChange) {
  int recorded = 0;
  for (int i = 0; i < 5 * kMostRows; ++i) {
    set_rows(1 + i % kMostRows);
    run(i % kSets, (i + 1) % kSets);
    recorded += static_cast<int>(recordings());
    if (recorded == 0 || recordings() > 0) continue;
    EXPECT_EQ(launches(), 0) << i;
    EXPECT_EQ(replays(), 1) << i;
    EXPECT_EQ(replaced(), kLayers) << i;
  }
  EXPECT_EQ(recorded, 1);
  run(0, 1), run(0, 1);
  EXPECT_EQ(replays(), 1);
  EXPECT_EQ(launches() + replaced(), 0);
}

/// Where the driver refuses that, each shape's first run is launched, and no more recordings are made for them.
TEST_F(Calls, OfShapesThatAlwaysChangeWithoutReplacement) {
  for (int i = 0; i < kMostRows; ++i) set_rows(1 + i % kMostRows), run(0, 1);
  ASSERT_EQ(replays(), 1);
  int recorded = 0;
  for (int i = 0; i < 5 * kMostRows; ++i) {
    control().fail("cuGraphExecKernelNodeSetParams_v2", 2, cuda::kInvalidValue);
    set_rows(1 + i % kMostRows), run(0, 1);
    recorded += static_cast<int>(recordings());
  }
  EXPECT_LE(recorded, 4);
  EXPECT_EQ(launches(), kLayers);
}

/// Memory that is kept for recordings has a bound, however many sets of addresses and shapes there are.
TEST_F(Calls, KeepsAFewRecordings) {
  int64_t most = 0;
  for (int i = 0; i < 400; ++i) {
    if (i % 50 == 0) set_rows(1 + i / 50 % 5);
    run(i / 5 % kSets, kSets);
    if (i == 200) most = control().live_objects();
  }
  EXPECT_LE(control().live_objects(), most + 8);
}

/// A program's capture gets launches, also where a recording is at hand.
TEST_F(Calls, InACapture) {
  for (int i = 0; i < 4; ++i) run(0, 1);
  ASSERT_EQ(replays(), 1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  const Count before = calls_now();
  ASSERT_TRUE(context->enqueueV3(stream)) << logger.all();
  EXPECT_EQ(calls_now()[1] - before[1], kLayers);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  *memory[0] = 50;
  set_rows(3);  // what was captured stays
  for (int i = 0; i < 9; ++i) run(2, 3);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(*memory[1], 50 + kLayers);
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
}

/// y = softmax(relu(x w1)) w2 of x f32[8..32, 256], with memory for kSets inputs and outputs.
struct OnGpu {
  static constexpr int kColumns = 256, kRows = 32;
  explicit OnGpu(Logger& logger, bool libraries) {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    if (!libraries) config->setTacticSources(0);
    std::mt19937 random(1);
    std::vector<float> weights(kColumns * kColumns);
    for (float& weight : weights) weight = static_cast<float>(random() % 100) / 1000 - 0.05f;
    const nv::Weights values{nv::DataType::kFLOAT, weights.data(), static_cast<int64_t>(weights.size())};
    const auto product = [&](nv::ITensor& x) {
      nv::ITensor& w = *network->addConstant(nv::Dims2(kColumns, kColumns), values)->getOutput(0);
      return network->addMatrixMultiply(x, nv::MatrixOperation::kNONE, w, nv::MatrixOperation::kNONE)->getOutput(0);
    };
    nv::ITensor* x = product(*network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, kColumns)));
    x = network->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
    nv::ISoftMaxLayer* const softmax = network->addSoftMax(*x);
    softmax->setAxes(2);
    nv::ITensor* const y = product(*softmax->getOutput(0));
    y->setName("y");
    network->markOutput(*y);
    nv::IOptimizationProfile* const profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(8, kColumns));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(8, kColumns));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(kRows, kColumns));
    config->addOptimizationProfile(profile);
    engine.reset(builder->buildEngineWithConfig(*network, *config));
    if (engine) context.reset(engine->createExecutionContext());
    cudaStreamCreate(&stream);
    std::vector<float> data(kColumns * kRows);
    for (int i = 0; i < kSets; ++i) {
      for (float& value : data) value = static_cast<float>(random() % 2000) / 100 - 10;
      cudaMalloc(reinterpret_cast<void**>(&inputs[i]), data.size() * 4);
      cudaMalloc(reinterpret_cast<void**>(&outputs[i]), data.size() * 4);
      cudaMemcpy(inputs[i], data.data(), data.size() * 4, cudaMemcpyHostToDevice);
    }
  }
  ~OnGpu() {
    context.reset(), engine.reset();
    for (float* data : inputs) cudaFree(data);
    for (float* data : outputs) cudaFree(data);
    cudaStreamDestroy(stream);
  }
  bool enqueue(nv::IExecutionContext& on, int in, int out, int rows) {
    return on.setInputShape("x", nv::Dims2(rows, kColumns)) && on.setTensorAddress("x", inputs[in]) &&
           on.setTensorAddress("y", outputs[out]) && on.enqueueV3(stream);
  }
  std::vector<float> result(int out, int rows) const {
    std::vector<float> data(static_cast<size_t>(rows * kColumns));
    EXPECT_EQ(cudaMemcpy(data.data(), outputs[out], data.size() * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    return data;
  }
  /// Results of a context that never ran, and so launches.
  const std::vector<float>& expected(int in, int rows) {
    std::vector<float>& known = expected_[{in, rows}];
    if (!known.empty()) return known;
    const std::unique_ptr<nv::IExecutionContext> fresh(engine->createExecutionContext());
    float* const scratch = std::exchange(outputs[0], nullptr);  // whose result may not be read yet
    cudaMalloc(reinterpret_cast<void**>(&outputs[0]), 4 * kColumns * kRows);
    EXPECT_TRUE(enqueue(*fresh, in, 0, rows));
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    known = result(0, rows);
    cudaFree(std::exchange(outputs[0], scratch));
    return known;
  }

  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  cudaStream_t stream = nullptr;
  std::array<float*, kSets> inputs{}, outputs{};

 private:
  std::map<std::pair<int, int>, std::vector<float>> expected_;
};

/// Runs on a real GPU, where others are still under way when the next one's addresses are put into the same recording.
TEST_F(GpuProgram, TakesOtherAddressesAndShapes) {
  for (const bool libraries : {false, true}) {
    SCOPED_TRACE(libraries ? "with NVIDIA's libraries" : "without");
    OnGpu gpu(logger, libraries);
    ASSERT_TRUE(gpu.engine) << logger.all();
    std::mt19937 random(7);
    for (int burst = 0; burst < 60; ++burst) {
      struct Run {
        int in, out, rows;
      };
      std::vector<Run> runs;
      for (int out = 0; out < kSets; ++out) {
        const auto chosen = static_cast<int>(random() % 25);  // few shapes that come again, then many
        const int rows = burst < 20 ? 8 : burst < 40 ? 8 << chosen % 3 : 8 + chosen;
        runs.push_back({static_cast<int>(random() % kSets), out, rows});
      }
      for (const Run& run : runs) ASSERT_TRUE(gpu.enqueue(*gpu.context, run.in, run.out, run.rows)) << logger.all();
      ASSERT_EQ(cudaStreamSynchronize(gpu.stream), cudaSuccess);
      for (const Run& run : runs) ASSERT_EQ(gpu.result(run.out, run.rows), gpu.expected(run.in, run.rows)) << burst;
    }
    EXPECT_TRUE(logger.errors.empty()) << logger.all();
  }
}

}  // namespace
}  // namespace kiln::fake_cuda
