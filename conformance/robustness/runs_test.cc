// Contexts used wrongly: shapes outside the profile, addresses that are missing, errors after the enqueue, allocators
// and listeners of the program that fail.
#include <gtest/gtest.h>

#include <set>

#include "device_numbers.h"
#include "program.h"

namespace robustness {
namespace {

using nv::OptProfileSelector;

class Runs : public ::testing::Test {
 protected:
  void SetUp() override {
    p.make_relu();
    engine.reset(p.builder->buildEngineWithConfig(*p.network, *p.config));
    ASSERT_NE(engine, nullptr);
    context.reset(engine->createExecutionContext());
    ASSERT_NE(context, nullptr);
  }
  /// The last errors hold these words.
  void expect_said(std::initializer_list<const char*> words) {
    const std::string said = p.logger.take_errors();
    for (const char* word : words) EXPECT_NE(said.find(word), std::string::npos) << "'" << word << "' in: " << said;
  }
  Program p;
  std::unique_ptr<nv::ICudaEngine> engine;
  std::unique_ptr<nv::IExecutionContext> context;
  Managed<float> x = Managed<float>(32), y = Managed<float>(32);
};

TEST_F(Runs, ShapesOutsideTheProfile) {
  EXPECT_FALSE(context->setInputShape("x", dims({9, 4})));
  expect_said({"IExecutionContext::setInputShape", "'x'", "extent 9 of axis 0", "maximum 8"});
  EXPECT_FALSE(context->setInputShape("x", dims({0, 4})));
  expect_said({"minimum 1"});
  EXPECT_FALSE(context->setInputShape("x", dims({2, 5})));
  expect_said({"axis 1"});
  EXPECT_FALSE(context->setInputShape("x", dims({2})));
  expect_said({"rank 1"});
  EXPECT_FALSE(context->setInputShape("x", dims({2, 4, 1})));
  EXPECT_FALSE(context->setInputShape("x", dims({-1, 4})));
  EXPECT_FALSE(context->setInputShape("y", dims({2, 4})));
  expect_said({"'y' is an output"});
  EXPECT_FALSE(context->setInputShape("nobody", dims({2, 4})));
  expect_said({"'nobody'", "inputs: 'x'"});
  nv::Dims wrong = dims({2, 4});
  for (const int32_t rank : {-1, 9, INT32_MAX}) {
    wrong.nbDims = rank;
    EXPECT_FALSE(context->setInputShape("x", wrong));
    expect_said({"nbDims is"});
  }
  EXPECT_TRUE(relu_works(*context, nullptr));
}

TEST_F(Runs, MissingShapesAndAddresses) {
  EXPECT_FALSE(context->enqueueV3(nullptr));
  expect_said({"IExecutionContext::enqueueV3", "'x' is not set"});
  EXPECT_TRUE(context->setInputShape("x", dims({2, 4})));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  expect_said({"input 'x' has no address"});
  EXPECT_TRUE(context->setTensorAddress("x", x.data()));
  EXPECT_FALSE(context->enqueueV3(nullptr));
  expect_said({"output 'y' has no address"});
  EXPECT_TRUE(context->setTensorAddress("y", y.data()));
  EXPECT_TRUE(context->enqueueV3(nullptr));
  EXPECT_TRUE(relu_works(*context, nullptr));
}

TEST_F(Runs, ProfilesThatAreNone) {
  for (const int32_t index : {-1, 1, INT32_MAX}) {
    EXPECT_FALSE(context->setOptimizationProfileAsync(index, nullptr));
    expect_said({"optimization profile", "outside [0, 1)"});
    EXPECT_EQ(engine->getProfileShape("x", index, OptProfileSelector::kMAX).nbDims, -1);
    EXPECT_EQ(engine->getDeviceMemorySizeForProfileV2(index), 0);
  }
  EXPECT_EQ(engine->getProfileShape("x", 0, static_cast<OptProfileSelector>(3)).nbDims, -1);
  EXPECT_EQ(engine->getProfileShape("y", 0, OptProfileSelector::kMAX).nbDims, -1);
  EXPECT_EQ(engine->getIOTensorName(-1), nullptr);
  EXPECT_EQ(engine->getIOTensorName(2), nullptr);
  EXPECT_EQ(engine->createExecutionContext(static_cast<nv::ExecutionContextAllocationStrategy>(9)), nullptr);
  EXPECT_TRUE(relu_works(*context, nullptr));
}

TEST_F(Runs, BadProfilesAreToldWhenBuilding) {
  Program q;
  q.make_relu();
  const auto add = [&](nv::Dims min, nv::Dims opt, nv::Dims max) {
    nv::IOptimizationProfile& profile = *q.builder->createOptimizationProfile();
    return profile.setDimensions("x", OptProfileSelector::kMIN, min) &&
           profile.setDimensions("x", OptProfileSelector::kOPT, opt) &&
           profile.setDimensions("x", OptProfileSelector::kMAX, max) && q.config->addOptimizationProfile(&profile) >= 0;
  };
  EXPECT_FALSE(add(dims({4, 4}), dims({2, 4}), dims({8, 4})));
  EXPECT_FALSE(add(dims({1, 4}), dims({2, 4}), dims({2})));
  EXPECT_FALSE(add(dims({-1, 4}), dims({2, 4}), dims({8, 4})));
  EXPECT_NE(q.build(), nullptr) << q.logger.take_errors();
  EXPECT_TRUE(add(dims({1, 5}), dims({2, 5}), dims({8, 5})));  // in order, but not this network's
  q.logger.take_errors();
  EXPECT_EQ(q.build(), nullptr);
  const std::string said = q.logger.take_errors();
  EXPECT_NE(said.find("'x'"), std::string::npos) << said;
}

/// y = x[i], whose indices are known at the run only.
TEST(RunErrors, AfterTheEnqueueReturned) {
  Program p;
  Recorder recorder;
  nv::ITensor& x = *p.input("x", {3});
  nv::ITensor& i = *p.input("i", {2}, nv::DataType::kINT32);
  p.mark(p->addGather(x, i, 0)->getOutput(0));
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  ASSERT_NE(engine, nullptr) << p.logger.take_errors();
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  context->setErrorRecorder(&recorder);
  Managed<float> data{10, 20, 30}, out(2);
  Managed<int32_t> at{1, 99};
  context->setTensorAddress("x", data.data());
  context->setTensorAddress("i", at.data());
  context->setTensorAddress("y", out.data());
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  EXPECT_TRUE(context->enqueueV3(stream));
  // The run on a host fails. On a GPU it ends, and the next call of the context says what happened.
  EXPECT_EQ(cudaStreamSynchronize(stream) == cudaSuccess, is_on_gpu());
  EXPECT_TRUE(!is_on_gpu() || !context->enqueueV3(stream));
  const std::string said = p.logger.take_errors();
  const char* const told = is_on_gpu() ? "index 99 is outside the data" : "index 99 is outside [-3, 3) of its axis";
  EXPECT_NE(said.find(told), std::string::npos) << said;
  EXPECT_EQ(recorder.texts.size(), 1U);
  cudaStreamDestroy(stream);
  cudaGetLastError();
  cudaStreamCreate(&stream);
  at = {2, 0};
  EXPECT_TRUE(context->enqueueV3(stream)) << p.logger.take_errors();
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(out, (Managed<float>{30, 10}));
  cudaStreamDestroy(stream);
  EXPECT_TRUE(process_is_fine());
}

struct Allocator final : nv::IGpuAllocator {
  void* allocate(uint64_t size, uint64_t alignment, nv::AllocatorFlags) noexcept override {
    if (exhausted) return nullptr;
    void* memory = nullptr;  // cudaMalloc's is aligned to 256 bytes
    if (alignment > 256 || cudaMalloc(&memory, size) != cudaSuccess) return nullptr;
    live.insert(memory);
    return memory;
  }
  bool deallocate(void* memory) noexcept override {
    const bool ours = live.erase(memory) == 1;
    cudaFree(memory);
    return ours;
  }
  bool exhausted = false;
  std::set<void*> live;
};

TEST(RunErrors, AllocatorsOfThePrograms) {
  Allocator allocator;
  {
    Program p;
    nv::ITensor& x = *p.input("x", {64, 64});
    nv::ITensor& s = *p->addSoftMax(x)->getOutput(0);
    p.mark(p->addMatrixMultiply(s, nv::MatrixOperation::kNONE, s, nv::MatrixOperation::kTRANSPOSE)->getOutput(0));
    const auto plan = p.build();
    ASSERT_NE(plan, nullptr) << p.logger.take_errors();
    const std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(p.logger));
    runtime->setGpuAllocator(&allocator);
    const auto engine = load(*runtime, *plan);
    {
      const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
      ASSERT_NE(context, nullptr) << p.logger.take_errors();
      EXPECT_FALSE(allocator.live.empty());
    }
    EXPECT_TRUE(allocator.live.empty());
    allocator.exhausted = true;
    EXPECT_EQ(engine->createExecutionContext(), nullptr);
    EXPECT_NE(p.logger.take_errors().find("the program's GPU allocator did not give"), std::string::npos);
    allocator.exhausted = false;
    const std::unique_ptr<nv::IExecutionContext> again(engine->createExecutionContext());
    EXPECT_NE(again, nullptr);
  }
  EXPECT_TRUE(allocator.live.empty());
}

struct Output final : nv::IOutputAllocator {
  void* reallocateOutput(const char*, void*, uint64_t, uint64_t) noexcept override { return nullptr; }
  void notifyShape(const char*, const nv::Dims&) noexcept override {}
};

TEST_F(Runs, OutputAllocatorsThatFail) {
  Output none;
  EXPECT_TRUE(context->setOutputAllocator("y", &none));
  EXPECT_FALSE(context->setOutputAllocator("x", &none));
  context->setInputShape("x", dims({2, 4}));
  context->setTensorAddress("x", x.data());
  EXPECT_FALSE(context->enqueueV3(nullptr));
  EXPECT_NE(p.logger.take_errors().find("its allocator did not give"), std::string::npos);
  EXPECT_TRUE(context->setOutputAllocator("y", nullptr));
  EXPECT_TRUE(relu_works(*context, nullptr));
}

struct Monitor final : nv::IProgressMonitor {
  void phaseStart(const char* phase, const char*, int32_t steps) noexcept override {
    EXPECT_NE(phase, nullptr);
    EXPECT_GE(steps, 0);
    ++open;
  }
  bool stepComplete(const char*, int32_t) noexcept override { return ++steps_done < stop_after; }
  void phaseFinish(const char*) noexcept override { --open; }
  int open = 0, steps_done = 0, stop_after = INT32_MAX;
};

TEST(RunErrors, BuildsStoppedByTheirMonitor) {
  Program p;
  p.make_relu();
  Monitor monitor;
  p.config->setProgressMonitor(&monitor);
  EXPECT_NE(p.build(), nullptr);
  EXPECT_EQ(monitor.open, 0);
  EXPECT_GT(monitor.steps_done, 0);
  monitor = Monitor{};
  monitor.stop_after = 1;
  EXPECT_EQ(p.build(), nullptr);
  EXPECT_EQ(monitor.open, 0);
  EXPECT_NE(p.logger.take_errors(), "");
  p.config->setProgressMonitor(nullptr);
  EXPECT_NE(p.build(), nullptr);
}

TEST(RunErrors, SeveritiesFitTheirMessages) {
  Program p;
  p.make_relu();
  EXPECT_NE(p.build(), nullptr);
  EXPECT_EQ(p.logger.num_of(nv::ILogger::Severity::kERROR), 0) << p.logger.take_errors();
  EXPECT_EQ(p.logger.num_of(nv::ILogger::Severity::kINTERNAL_ERROR), 0);
  EXPECT_GT(p.logger.num_of(nv::ILogger::Severity::kVERBOSE), 0);
  EXPECT_EQ(p->addActivation(*p->getInput(0), static_cast<nv::ActivationType>(-1)), nullptr);
  EXPECT_EQ(p.logger.num_of(nv::ILogger::Severity::kERROR), 1);
  EXPECT_EQ(p.logger.num_of(nv::ILogger::Severity::kINTERNAL_ERROR), 0);
}

}  // namespace
}  // namespace robustness
