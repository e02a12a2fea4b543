/// Tests of a program on a machine with a GPU, as far as the driver's stand-in can show it: engines are built, saved,
/// loaded and run through the public API, kernels that do nothing are launched, and every failure of the driver comes
/// back as an error that leaves nothing behind.
#include "program.h"

#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>
#include <utility>

namespace kiln::fake_cuda {
namespace {

TEST_F(FakeCudaProgram, BuildsAndRuns) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  const int64_t before = control().num_calls("cuLaunchKernelEx") + control().num_calls("cuGraphLaunch");
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
  EXPECT_GE(control().num_calls("cuLaunchKernelEx") + control().num_calls("cuGraphLaunch"), before + 4);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(live_bytes(), 0);
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
      control().fail(function, nth, cuda::kOutOfDeviceMemory);
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
  control().fail("cuLaunchKernelEx", 1, cuda::kOutOfLaunchResources);
  EXPECT_FALSE(run(logger, *plan));
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_NE(logger.errors[0].find("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), std::string::npos) << logger.errors[0];
  EXPECT_TRUE(run(logger, *plan));
}

TEST_F(FakeCudaProgram, RefusesPlansOfOtherArchitectures) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  control().fail("cuModuleLoadData", 1, cuda::kNoBinaryForGpu);
  EXPECT_FALSE(run(logger, *plan));
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_NE(logger.errors[0].find("build the engine on this device"), std::string::npos) << logger.errors[0];
  // A device that would load the kernels, as 8.6 does those for 8.0.
  logger.errors.clear();
  control().set_devices(8, 8, 6);
  ASSERT_EQ(cudaSetDevice(7), cudaSuccess);
  EXPECT_FALSE(run(logger, *plan));
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_EQ(
      logger.errors[0],
      "IRuntime::deserializeCudaEngine: plan: built for compute capability 9.0, this device has 8.6; rebuild it here");
}

TEST_F(FakeCudaProgram, TakesFormatsWithBlocksOfChannels) {
  using enum nv::TensorFormat;
  for (const nv::TensorFormat format : {kHWC8, kCHW4, kCHW32, kHWC}) {
    std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims4(1, 11, 2, 3));
    nv::ITensor* y = network->addActivation(*x, nv::ActivationType::kRELU)->getOutput(0);
    y->setName("y");
    network->markOutput(*y);
    for (nv::ITensor* tensor : {x, y}) tensor->setAllowedFormats(1U << static_cast<uint32_t>(format));
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    ASSERT_TRUE(plan) << logger.all();
    const Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
    EXPECT_EQ(session.engine->getTensorFormat("x"), format);
    EXPECT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
  }
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
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

/// Engines on two devices, of networks that are built once for each, run in turns by one thread.
TEST_F(FakeCudaProgram, RunsOnSeveralDevices) {
  control().set_devices(2, 9, 0);
  struct Place final : nv::IGpuAllocator {
    void* allocate(uint64_t size, uint64_t, nv::AllocatorFlags) noexcept override {
      int device = -1;
      cudaGetDevice(&device);
      devices.insert(device);
      void* memory = nullptr;
      return cudaMalloc(&memory, size) == cudaSuccess ? memory : nullptr;
    }
    bool deallocate(void* memory) noexcept override {
      int device = -1;
      cudaGetDevice(&device);
      devices.insert(device);
      return cudaFree(memory) == cudaSuccess;
    }
    std::set<int> devices;
  } places[2];
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  std::unique_ptr<nv::IRuntime> runtimes[2];
  std::unique_ptr<nv::ICudaEngine> engines[2];
  for (int device : {0, 1}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    runtimes[device].reset(nv::createInferRuntime(logger));
    runtimes[device]->setGpuAllocator(&places[device]);
    engines[device].reset(runtimes[device]->deserializeCudaEngine(plan->data(), plan->size()));
    ASSERT_TRUE(engines[device]) << logger.all();
  }
  for (int current : {1, 0}) {  // an engine stays where it was loaded
    ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
    for (int device : {0, 1}) {
      std::unique_ptr<nv::IExecutionContext> context(engines[device]->createExecutionContext());
      ASSERT_TRUE(context) << logger.all();
      void *x = nullptr, *y = nullptr;
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
      ASSERT_EQ(cudaMalloc(&x, 8 * 64 * 4), cudaSuccess);
      ASSERT_EQ(cudaMalloc(&y, 8 * 32 * 4), cudaSuccess);
      ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
      ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
      ASSERT_TRUE(context->setTensorAddress("x", x) && context->setTensorAddress("y", y));
      for (int i = 0; i < 4; ++i) EXPECT_TRUE(context->enqueueV3(stream)) << logger.all();
      int after = -1;
      EXPECT_EQ(cudaGetDevice(&after), cudaSuccess);
      EXPECT_EQ(after, current);
      context.reset();
      cudaStreamDestroy(stream), cudaFree(x), cudaFree(y);
    }
  }
  for (int device : {0, 1}) engines[device].reset();
  for (int device : {0, 1}) EXPECT_EQ(places[device].devices, std::set<int>{device});
  EXPECT_EQ(live_bytes(), 0);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(FakeCudaProgram, RunsOnDefaultStreams) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  auto session = std::make_unique<Session>(logger, *plan);
  ASSERT_TRUE(*session) << logger.all();
  nv::IExecutionContext& context = *session->context;
  for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread})
    for (int i = 0; i < 4; ++i) {  // launched, then replayed
      EXPECT_TRUE(context.enqueueV3(stream)) << logger.all();
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    }
  std::thread([&] { EXPECT_TRUE(context.enqueueV3(cudaStreamPerThread)) << logger.all(); }).join();
  EXPECT_FALSE(context.enqueueV3(reinterpret_cast<cudaStream_t>(uintptr_t{0x1234})));
  EXPECT_TRUE(context.enqueueV3(nullptr)) << logger.all();
  session.reset();
  EXPECT_EQ(live_bytes(), 0);
}

/// Runs in a process on the CPU, which RefusesPlansOfTheCpu starts.
TEST(CpuPlan, IsWritten) {
  const char* path = std::getenv("KILN_TEST_WRITE_PLAN");
  if (!path) GTEST_SKIP() << "KILN_TEST_WRITE_PLAN is not set";
  Logger logger;
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(plan->data()), static_cast<int64_t>(plan->size()));
}

TEST_F(FakeCudaProgram, RefusesPlansOfTheCpu) {
  const std::string path = ::testing::TempDir() + "kiln_cpu_" + std::to_string(getpid()) + ".plan";
  ASSERT_EQ(run_again("KILN_DEVICE=cpu KILN_TEST_WRITE_PLAN='" + path + "'", "CpuPlan.*"), 0);
  std::ifstream file(path, std::ios::binary);
  const std::string plan((std::istreambuf_iterator<char>(file)), {});
  std::filesystem::remove(path);
  ASSERT_GT(plan.size(), 1000u);
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  EXPECT_FALSE(runtime->deserializeCudaEngine(plan.data(), plan.size()));
  ASSERT_FALSE(logger.errors.empty());
  EXPECT_NE(logger.errors[0].find("built for device 'cpu', this is 'cuda'; rebuild it here, or run it with "
                                  "KILN_DEVICE=cpu"),
            std::string::npos)
      << logger.errors[0];
}

/// Gives the CUDA runtime's memory, in the order of the stream it is told, and refuses the nth time (0: never).
class Allocator final : public nv::IGpuAsyncAllocator {
 public:
  void* allocateAsync(uint64_t size, uint64_t alignment, nv::AllocatorFlags, cudaStream_t stream) noexcept override {
    EXPECT_EQ(alignment, 256u);
    EXPECT_GT(size, 0u);
    if (++asked == refuses) return nullptr;
    void* memory = nullptr;
    if (cudaMallocAsync(&memory, size, stream) != cudaSuccess) return nullptr;
    held += 1;
    bytes += size;
    return memory;
  }
  bool deallocateAsync(void* memory, cudaStream_t stream) noexcept override {
    held -= 1;
    return cudaFreeAsync(memory, stream) == cudaSuccess;
  }
  int asked = 0, refuses = 0, held = 0;
  uint64_t bytes = 0;
};

TEST_F(FakeCudaProgram, TakesWeightsAndActivationsFromTheProgram) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  Allocator allocator;
  {
    std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
    runtime->setGpuAllocator(&allocator);
    const int64_t own = control().num_calls("cuMemAlloc_v2");
    std::unique_ptr<nv::ICudaEngine> first(runtime->deserializeCudaEngine(plan->data(), plan->size()));
    ASSERT_TRUE(first) << logger.all();
    EXPECT_GE(allocator.bytes, 64 * 32 * 4u);  // its weights
    const int weights = allocator.held;
    std::unique_ptr<nv::ICudaEngine> second(runtime->deserializeCudaEngine(plan->data(), plan->size()));
    EXPECT_EQ(allocator.held, weights);  // equal ones are shared
    std::unique_ptr<nv::IExecutionContext> context(second->createExecutionContext());
    ASSERT_TRUE(context) << logger.all();
    EXPECT_EQ(control().num_calls("cuMemAlloc_v2"), own);
    first.reset();
    EXPECT_GE(allocator.held, weights);  // the second has them
    second.reset();
    context.reset();
    EXPECT_EQ(allocator.held, 0);
  }
  EXPECT_EQ(live_bytes(), 0);
}

/// Loads, makes a context and runs, with every answer of the allocator null in turn.
TEST_F(FakeCudaProgram, SurvivesAllocatorsThatRefuse) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  int failures = 0;
  for (int nth = 1;; ++nth) {
    Allocator allocator;
    allocator.refuses = nth;
    logger.errors.clear();
    bool good = false;
    {
      std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
      runtime->setGpuAllocator(&allocator);
      std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
      std::unique_ptr<nv::IExecutionContext> context(engine ? engine->createExecutionContext() : nullptr);
      good = context != nullptr;
    }
    EXPECT_EQ(allocator.held, 0) << nth;
    EXPECT_EQ(live_bytes(), 0) << nth;
    if (allocator.asked < nth) {
      EXPECT_TRUE(good) << logger.all();
      break;
    }
    ++failures;
    EXPECT_FALSE(good) << nth;
    ASSERT_FALSE(logger.errors.empty()) << nth;
    EXPECT_NE(logger.errors[0].find("the program's GPU allocator did not give "), std::string::npos)
        << logger.errors[0];
    ASSERT_LT(nth, 100);
  }
  EXPECT_GE(failures, 1);
}

TEST_F(FakeCudaProgram, BuildsInTheProgramsMemory) {
  Allocator allocator;
  ASSERT_TRUE(build(logger, &allocator)) << logger.all();
  EXPECT_GT(allocator.asked, 0);
  EXPECT_EQ(allocator.held, 0);
  EXPECT_EQ(live_bytes(), 0);
}

TEST_F(FakeCudaProgram, RecordsTheEventOfConsumedInputs) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  auto session = std::make_unique<Session>(logger, *plan);
  ASSERT_TRUE(*session) << logger.all();
  nv::IExecutionContext& context = *session->context;
  const cudaStream_t stream = session->stream;
  cudaEvent_t start = nullptr, consumed = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&consumed), cudaSuccess);
  ASSERT_TRUE(context.setInputConsumedEvent(consumed)) << logger.all();
  EXPECT_EQ(context.getInputConsumedEvent(), consumed);
  float ms = -1, last = 0;
  const auto recorded = [&] {
    EXPECT_EQ(cudaEventElapsedTime(&ms, start, consumed), cudaSuccess);
    return std::exchange(last, ms) < ms;
  };
  ASSERT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  for (int i = 0; i < 5; ++i) {  // the later ones are replays
    ASSERT_TRUE(context.enqueueV3(stream)) << logger.all();
    EXPECT_TRUE(recorded()) << i;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(context.enqueueV3(stream)) << logger.all();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_FALSE(recorded());
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_TRUE(recorded()) << i;
  }
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  session.reset();
  cudaEventDestroy(start), cudaEventDestroy(consumed);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(live_bytes(), 0);
}

struct Profiler final : nv::IProfiler {
  std::vector<std::string> layers;
  void reportLayerTime(char const* name, float ms) noexcept override {
    layers.emplace_back(name);
    EXPECT_GE(ms, 0);
  }
};

/// Launched one by one, and as a graph's nodes, whose events are recorded anew whenever it runs.
void time_runs_and_graphs_of_them(Logger& logger) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  Profiler profiler;
  Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  nv::IExecutionContext& context = *session.context;
  const auto layers = static_cast<size_t>(session.engine->getNbLayers());
  const auto reported = [&] {
    profiler.layers.clear();
    return context.reportToProfiler() && profiler.layers.size() == layers;
  };
  context.setProfiler(&profiler);
  context.setEnqueueEmitsProfile(false);
  EXPECT_FALSE(reported());  // nothing was enqueued
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context.enqueueV3(session.stream)) << logger.all();
    EXPECT_TRUE(reported()) << logger.all();  // without a wait of the program's
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(session.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(context.enqueueV3(session.stream)) << logger.all();
  EXPECT_FALSE(reported());
  ASSERT_EQ(cudaStreamEndCapture(session.stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_FALSE(reported());  // it has not run, and the runs before it were told
  logger.errors.clear();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaGraphLaunch(exec, session.stream), cudaSuccess);
    EXPECT_TRUE(reported()) << logger.all();
  }
  ASSERT_TRUE(context.enqueueV3(session.stream));
  EXPECT_TRUE(reported()) << logger.all();
  context.setProfiler(nullptr);
  ASSERT_TRUE(context.enqueueV3(session.stream));
  context.setProfiler(&profiler);
  EXPECT_FALSE(reported());  // the latest run was not timed
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
}
TEST_F(FakeCudaProgram, TimesRunsAndGraphsOfThem) { time_runs_and_graphs_of_them(logger); }
TEST_F(GpuProgram, TimesRunsAndGraphsOfThem) { time_runs_and_graphs_of_them(logger); }

/// Each capture is on a stream of its own, which is gone when its graph runs on another. However many there are, the
/// driver's objects stay as many as after the first.
void time_graphs_whose_streams_are_gone(Logger& logger, int64_t (*live_objects)()) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  Profiler profiler;
  Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  nv::IExecutionContext& context = *session.context;
  context.setProfiler(&profiler);
  context.setEnqueueEmitsProfile(false);
  int64_t after_first = 0;
  for (int i = 0; i < 5; ++i) {
    cudaStream_t captured = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamCreate(&captured), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), cudaSuccess);
    ASSERT_TRUE(context.enqueueV3(captured)) << logger.all();
    ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(captured), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, session.stream), cudaSuccess);
    profiler.layers.clear();
    EXPECT_TRUE(context.reportToProfiler()) << logger.all();  // which waits for the run
    EXPECT_EQ(profiler.layers.size(), static_cast<size_t>(session.engine->getNbLayers()));
    ASSERT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    if (i == 0) after_first = live_objects();
    EXPECT_EQ(live_objects(), after_first) << i;
  }
}
TEST_F(FakeCudaProgram, TimesGraphsWhoseStreamsAreGone) {
  time_graphs_whose_streams_are_gone(logger, control().live_objects);
}
TEST_F(GpuProgram, TimesGraphsWhoseStreamsAreGone) {
  time_graphs_whose_streams_are_gone(
      logger, +[]() -> int64_t { return 0; });
}

/// picked = data[indices] of 5 rows, in the program's memory, and the shape of the indices. The event of consumed
/// inputs tells when indices may change.
TEST_F(GpuProgram, TellsOfAnIndexThatIsOutside) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  nv::ITensor* data = network->addInput("data", nv::DataType::kFLOAT, nv::Dims2(5, 3));
  nv::ITensor* indices = network->addInput("indices", nv::DataType::kINT32, nv::Dims{1, {4}});
  nv::ITensor* picked = network->addGather(*data, *indices, 0)->getOutput(0);
  nv::ITensor* shape = network->addShape(*picked)->getOutput(0);
  picked->setName("picked"), shape->setName("shape");
  network->markOutput(*picked);
  ASSERT_TRUE(network->markOutputForShapes(*shape)) << logger.all();
  const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  ASSERT_TRUE(plan) << logger.all();
  Allocator allocator;
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  runtime->setGpuAllocator(&allocator);
  std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine) << logger.all();
  EXPECT_EQ(engine->getTensorLocation("shape"), nv::TensorLocation::kHOST);
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context) << logger.all();
  void *x = nullptr, *i = nullptr, *y = nullptr;
  int64_t extents[2] = {};
  cudaStream_t stream = nullptr;
  cudaEvent_t consumed = nullptr;
  ASSERT_EQ(cudaMalloc(&x, 60), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&i, 16), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&y, 48), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&consumed), cudaSuccess);
  ASSERT_TRUE(context->setInputConsumedEvent(consumed));
  ASSERT_TRUE(context->setTensorAddress("data", x) && context->setTensorAddress("indices", i) &&
              context->setTensorAddress("picked", y) && context->setTensorAddress("shape", extents));
  std::vector<float> rows(15);
  for (size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<float>(k + 1);
  ASSERT_EQ(cudaMemcpy(x, rows.data(), 60, cudaMemcpyHostToDevice), cudaSuccess);
  const auto run = [&](std::vector<int> at) {
    EXPECT_EQ(cudaMemcpy(i, at.data(), 16, cudaMemcpyHostToDevice), cudaSuccess);
    if (!context->enqueueV3(stream)) return false;
    EXPECT_EQ(cudaEventSynchronize(consumed), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    std::vector<float> out(12);
    EXPECT_EQ(cudaMemcpy(out.data(), y, 48, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t k = 0; k < out.size(); ++k) {
      const int row = at[k / 3] < 0 ? at[k / 3] + 5 : at[k / 3];
      EXPECT_EQ(out[k], row >= 0 && row < 5 ? rows[static_cast<size_t>(row) * 3 + k % 3] : 0) << k;
    }
    return true;
  };
  for (int again = 0; again < 5; ++again) EXPECT_TRUE(run({0, -1, 4, -5})) << logger.all();
  EXPECT_EQ(extents[0], 4);
  EXPECT_EQ(extents[1], 3);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  for (const int outside : {5, -6}) {
    EXPECT_TRUE(run({1, outside, 2, 3}));
    EXPECT_FALSE(run({1, 1, 1, 1}));
    ASSERT_FALSE(logger.errors.empty());
    EXPECT_NE(logger.errors.back().find("index " + std::to_string(outside) + " is outside the data"), std::string::npos)
        << logger.errors.back();
    EXPECT_TRUE(run({4, 3, 2, 1}));
  }
  EXPECT_EQ(logger.errors.size(), 2u) << logger.all();
  context.reset(), engine.reset();
  EXPECT_EQ(allocator.held, 0);
  cudaEventDestroy(consumed), cudaStreamDestroy(stream), cudaFree(x), cudaFree(i), cudaFree(y);
}

/// y = the sum of four chains over x f32[8, 64], on as many auxiliary streams as allowed.
std::unique_ptr<nv::IHostMemory> build_branches(Logger& logger, int32_t streams) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  config->setMaxAuxStreams(streams);
  config->clearFlag(nv::BuilderFlag::kTF32);
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  static std::vector<std::vector<float>> weights;
  weights.clear();
  nv::ITensor* sum = nullptr;
  for (int branch = 0; branch < 4; ++branch) {
    nv::ITensor* at = x;
    for (int depth = 0; depth < 3; ++depth) {
      std::vector<float>& w = weights.emplace_back(64 * 64);
      for (size_t i = 0; i < w.size(); ++i)
        w[i] = static_cast<float>((i * 7 + static_cast<size_t>(branch * 3 + depth) * 5) % 13) / 64 - 0.1f;
      const nv::Weights values{nv::DataType::kFLOAT, w.data(), static_cast<int64_t>(w.size())};
      nv::ITensor* b = network->addConstant(nv::Dims2(64, 64), values)->getOutput(0);
      at = network->addMatrixMultiply(*at, nv::MatrixOperation::kNONE, *b, nv::MatrixOperation::kNONE)->getOutput(0);
      nv::ISoftMaxLayer* soft = network->addSoftMax(*at);
      soft->setAxes(2);
      at = soft->getOutput(0);
    }
    sum = sum ? network->addElementWise(*sum, *at, nv::ElementWiseOperation::kSUM)->getOutput(0) : at;
  }
  sum->setName("y");
  network->markOutput(*sum);
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

TEST_F(FakeCudaProgram, CapturesBranches) {
  const auto plan = build_branches(logger, 3);
  ASSERT_TRUE(plan) << logger.all();
  const Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  ASSERT_GT(session.engine->getNbAuxStreams(), 0);  // by the stand-in's times, which are always the same
  nv::IExecutionContext& context = *session.context;
  const cudaStream_t stream = session.stream;
  cudaGraph_t graph = nullptr;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(context.enqueueV3(stream)) << logger.all();
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_TRUE(context.enqueueV3(stream)) << logger.all();
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}

TEST_F(GpuProgram, BranchesSideBySideComputeTheSame) {
  std::vector<float> in(8 * 64), elsewhere;
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) / 4 - 2;
  for (const int32_t streams : {0, 3}) {
    std::vector<float> expected;
    const auto plan = build_branches(logger, streams);
    ASSERT_TRUE(plan) << logger.all();
    auto session = std::make_unique<Session>(logger, *plan);
    ASSERT_TRUE(*session) << logger.all();
    EXPECT_EQ(session->engine->getNbAuxStreams() > 0, streams > 0);
    nv::IExecutionContext& context = *session->context;
    void *const x = session->x, *const y = session->y;
    const cudaStream_t stream = session->stream;
    cudaStream_t given = nullptr;
    ASSERT_EQ(cudaStreamCreate(&given), cudaSuccess);
    context.setAuxStreams(&given, 1);
    ASSERT_EQ(cudaMemcpy(x, in.data(), in.size() * 4, cudaMemcpyHostToDevice), cudaSuccess);
    const auto check = [&](auto run) {
      std::vector<float> out(8 * 64);
      ASSERT_EQ(cudaMemsetAsync(y, 0, out.size() * 4, stream), cudaSuccess);
      ASSERT_TRUE(run()) << logger.all();
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(out.data(), y, out.size() * 4, cudaMemcpyDeviceToHost), cudaSuccess);
      if (expected.empty()) expected = out;
      EXPECT_EQ(out, expected);
    };
    for (int i = 0; i < 20; ++i) check([&] { return context.enqueueV3(stream); });
    for (size_t i = 0; i < elsewhere.size(); ++i)  // whose build may have taken other tactics
      ASSERT_NEAR(expected[i], elsewhere[i], 1e-6) << i;
    elsewhere = expected;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    ASSERT_TRUE(context.enqueueV3(stream)) << logger.all();
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 20; ++i) check([&] { return cudaGraphLaunch(exec, stream) == cudaSuccess; });
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    session.reset();
    cudaStreamDestroy(given);
  }
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

/// Values, on the program's stream, in its graph, on the thread's own stream.
TEST_F(GpuProgram, ComputesWhatItShould) {
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  const Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  nv::IExecutionContext& context = *session.context;
  void *const x = session.x, *const y = session.y;
  const cudaStream_t stream = session.stream;
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
  for (int i = 0; i < 5; ++i) check("enqueue", stream, [&] { return context.enqueueV3(stream); });  // then replays
  check("another stream", cudaStreamPerThread, [&] { return context.enqueueV3(cudaStreamPerThread); });
  check("the default stream", nullptr, [&] { return context.enqueueV3(nullptr); });
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(context.enqueueV3(stream)) << logger.all();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) check("a graph", stream, [&] { return cudaGraphLaunch(exec, stream) == cudaSuccess; });
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  void* bindings[] = {x, y};
  check("executeV2", stream,
        [&] { return cudaStreamSynchronize(stream) == cudaSuccess && context.executeV2(bindings); });
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

}  // namespace
}  // namespace kiln::fake_cuda
