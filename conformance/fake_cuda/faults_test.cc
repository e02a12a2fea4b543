// Kernels that go wrong while a build times them: one that cannot be launched is skipped, one that traps or never ends
// takes its device away, and the build says whose it was. Each test has a device of its own; the others work on.
#include <algorithm>
#include <chrono>
#include <set>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

// The beginning of every matrix product's kernel name, in any family.
constexpr const char* kProducts = "gemm";

class FakeCudaFaults : public FakeCudaProgram {
 protected:
  void SetUp() override {
    FakeCudaProgram::SetUp();
    if (!IsSkipped()) control().set_devices(4, 9, 0);
  }
  void TearDown() override { cudaSetDevice(0); }
  bool said(const std::string& text) const {
    return std::ranges::any_of(logger.others, [&](const std::string& line) { return line.contains(text); });
  }
  /// Expects builds and runs on a device to succeed once kernels behave.
  void expect_works(int device) {
    control().misbehave("", Fault::kAtLaunch, 0);
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    Logger other;
    const auto plan = build(other);
    ASSERT_TRUE(plan) << other.all();
    EXPECT_TRUE(run(other, *plan)) << other.all();
    EXPECT_TRUE(other.errors.empty()) << other.all();
  }
};

TEST_F(FakeCudaFaults, ATacticThatCannotBeLaunchedIsSkippedAndNamed) {
  // Kernels of one family misbehave; the others stand in.
  control().misbehave("gemm_rows", Fault::kAtLaunch, cuda::kOutOfLaunchResources);
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  ASSERT_GT(control().num_misbehaved(), 0);
  EXPECT_TRUE(said("skipped gemm (rows "));
  EXPECT_TRUE(said("launching kernel 'gemm_rows' of "));
  EXPECT_TRUE(said("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_TRUE(run(logger, *plan)) << logger.all();  // nothing of that family is in it
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(control().live_bytes(), 0);
}

/// Says that a candidate is skipped when nothing of Kiln is locked: the program's logger may build, too.
TEST_F(FakeCudaFaults, ALoggerMayBuildWhenToldOfASkippedTactic) {
  struct BuildingLogger final : nv::ILogger {
    Logger inner;
    int builds = 0;
    void log(Severity severity, const char* text) noexcept override {
      inner.log(severity, text);
      if (builds == 0 && std::string(text).contains("  skipped ")) builds += build(inner) ? 1 : -1;
    }
  } outer;
  control().fail("cuGraphLaunch", 1, cuda::kInvalidValue);  // in a turn, when candidates are loaded
  EXPECT_TRUE(build(outer)) << outer.inner.all();
  EXPECT_EQ(outer.builds, 1) << outer.inner.all();
}

TEST_F(FakeCudaFaults, WhereNoTacticCanBeLaunchedTheHostRunsTheLayer) {
  control().misbehave(kProducts, Fault::kAtLaunch, cuda::kInvalidValue);
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  EXPECT_TRUE(said("no tactic takes MatrixMultiply 'product'; it runs by its reference, which is slow"));
  control().reset();
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
}

TEST_F(FakeCudaFaults, ATacticThatTrapsEndsTheBuildByName) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  control().misbehave(kProducts, Fault::kTrap, cuda::kIllegalAddress);
  EXPECT_FALSE(build(logger));
  ASSERT_FALSE(logger.errors.empty());
  const std::string told = logger.errors.back();
  for (const char* part : {"layer 'product + activated', while tactic 'gemm' (", ") was timed: ", "kernel 'gemm_",
                           "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "this process can use CUDA device 1 no more"})
    EXPECT_TRUE(told.contains(part)) << part << " in: " << told;
  EXPECT_EQ(control().num_misbehaved(), 1);  // nothing was tried after it
  logger.errors.clear();
  EXPECT_FALSE(build(logger));
  EXPECT_TRUE(logger.all().contains("this process can use CUDA device 1 no more")) << logger.all();
  expect_works(0);
}

TEST_F(FakeCudaFaults, ATacticThatNeverEndsEndsTheBuildByName) {
  expect_works(2);
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  const auto plan = build(logger);  // with an engine there, to be destroyed later
  ASSERT_TRUE(plan) << logger.all();
  std::unique_ptr<nv::IRuntime> runtime(nv::createInferRuntime(logger));
  std::unique_ptr<nv::ICudaEngine> engine(runtime->deserializeCudaEngine(plan->data(), plan->size()));
  ASSERT_TRUE(engine) << logger.all();
  std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  ASSERT_TRUE(context) << logger.all();
  control().misbehave(kProducts, Fault::kEndless, 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(build(logger));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  ASSERT_FALSE(logger.errors.empty());
  const std::string told = logger.errors.back();
  for (const char* part : {"layer 'product + activated', while tactic 'gemm' (", ") was timed: ", "kernel 'gemm_",
                           "' did not end within 5 s", "this process can use CUDA device 2 no more"})
    EXPECT_TRUE(told.contains(part)) << part << " in: " << told;
  EXPECT_EQ(control().num_misbehaved(), 1);
  logger.errors.clear();
  EXPECT_FALSE(build(logger));  // at once
  EXPECT_TRUE(logger.all().contains("this process can use CUDA device 2 no more, since kernel 'gemm_")) << logger.all();
  logger.errors.clear();
  EXPECT_FALSE(std::unique_ptr<nv::IExecutionContext>(engine->createExecutionContext()));
  EXPECT_FALSE(run(logger, *plan));
  EXPECT_TRUE(logger.errors.front().contains("no more, since kernel 'gemm_")) << logger.all();
  context.reset(), engine.reset(), runtime.reset();  // nothing waits for what never ends
  expect_works(0);
}

/// Faults with the program's memory, which is not given back where giving back would wait.
TEST_F(FakeCudaFaults, AProgramsAllocatorIsNotAskedToWait) {
  struct Allocator final : nv::IGpuAllocator {
    void* allocate(uint64_t size, uint64_t, nv::AllocatorFlags) noexcept override {
      void* memory = nullptr;
      return cudaMalloc(&memory, size) == cudaSuccess ? memory : nullptr;
    }
    bool deallocate(void* memory) noexcept override { return cudaFree(memory) == cudaSuccess; }
  } allocator;
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
  control().misbehave(kProducts, Fault::kEndless, 0);
  EXPECT_FALSE(build(logger, &allocator));
  EXPECT_TRUE(logger.all().contains("' did not end within 5 s")) << logger.all();
}

}  // namespace
}  // namespace kiln::fake_cuda
