/// Sizes that data decides: each wait is for all that can be known by then, and what comes again is replayed.
#include <numeric>

#include "backend/cuda/kernels/scan/arguments.h"
#include "program.h"

namespace kiln::fake_cuda {
namespace {

/// y, of 8 x 64 numbers at most, is the negative of the elements of x that are above 1, behind those above 2, and so on
/// up to `limits`.
std::unique_ptr<nv::IHostMemory> build_selections(Logger& logger, int limits) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  if (!builder) return nullptr;
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  static const float numbers[] = {1, 2, 3, 4};
  std::vector<nv::ITensor*> selected;
  for (int i = 0; i < limits; ++i) {
    nv::ITensor* limit = network->addConstant(nv::Dims2(1, 1), {nv::DataType::kFLOAT, &numbers[i], 1})->getOutput(0);
    nv::ITensor* above = network->addElementWise(*x, *limit, nv::ElementWiseOperation::kGREATER)->getOutput(0);
    nv::IShuffleLayer* places = network->addShuffle(*network->addNonZero(*above)->getOutput(0));
    places->setFirstTranspose({1, 0});
    nv::IGatherLayer* gather = network->addGatherV2(*x, *places->getOutput(0), nv::GatherMode::kND);
    nv::ITensor* one = network->addUnary(*gather->getOutput(0), nv::UnaryOperation::kNEG)->getOutput(0);
    selected.push_back(one);
  }
  nv::ITensor* y = network->addConcatenation(selected.data(), limits)->getOutput(0);
  y->setName("y");
  network->markOutput(*y);
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

struct Calls {
  int64_t waits = control().num_calls("cuStreamSynchronize"), kernels = control().num_calls("cuLaunchKernelEx"),
          graphs = control().num_calls("cuGraphLaunch");
};

/// NonZero's kernels tell the numbers that a test chooses, one behind the other.
class FakeCudaSizes : public FakeCudaProgram {
 protected:
  static constexpr size_t kLimits = 4;
  using Counts = std::array<int64_t, kLimits>;

  void SetUp() override {
    FakeCudaProgram::SetUp();
    if (IsSkipped()) return;
    plan = build_selections(logger, kLimits);
    ASSERT_TRUE(plan) << logger.all();
    control().define_struct_kernel("non_zero_write", &tell, sizeof(cuda::NonZeroArgument));
  }
  void TearDown() override {
    if (!IsSkipped()) control().define_struct_kernel("non_zero_write", nullptr, 0);
  }
  static void tell(const cuda::LaunchConfig&, void** arguments) {
    *static_cast<const cuda::NonZeroArgument*>(arguments[0])->found = counts[num_told++ % kLimits];
  }
  /// What y is told to be of elements.
  struct Output final : nv::IOutputAllocator {
    explicit Output(void* y) : memory(y) {}
    void* reallocateOutputAsync(char const*, void*, uint64_t, uint64_t, cudaStream_t) noexcept override {
      return memory;
    }
    void notifyShape(char const*, nv::Dims const& dims) noexcept override { elements = dims.d[0]; }
    void* const memory;
    int64_t elements = -1;
  };
  static bool enqueue(Session& session, const Counts& chosen) {
    counts = chosen, num_told = 0;
    return session.context->enqueueV3(session.stream);
  }
  void expect_run(Session& session, Output& y, const Counts& chosen) {
    EXPECT_TRUE(enqueue(session, chosen)) << logger.all();
    EXPECT_EQ(y.elements, std::accumulate(chosen.begin(), chosen.end(), int64_t{0}));
    EXPECT_EQ(num_told, kLimits);
  }

  std::unique_ptr<nv::IHostMemory> plan;
  static inline Counts counts{};
  static inline size_t num_told = 0;
};

TEST_F(FakeCudaSizes, ChangeFromRunToRunAndBack) {
  Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  Output y(session.y);
  session.context->setOutputAllocator("y", &y);
  const Counts few{1, 2, 3, 4}, none{0, 0, 0, 0}, many{100, 50, 0, 7}, all{512, 0, 0, 0};
  for (const Counts& chosen : {few, many, few, none, many, all, few}) expect_run(session, y, chosen);
  for (const Counts& chosen : {few, many, few, all}) {
    for (int i = 0; i < 4; ++i) expect_run(session, y, chosen);
    const Calls before;
    expect_run(session, y, chosen);
    const Calls after;
    EXPECT_EQ(after.kernels, before.kernels);
    EXPECT_EQ(after.graphs - before.graphs, 2);
  }
  const int64_t objects = control().live_objects();
  for (int64_t i = 0; i < 300; ++i) expect_run(session, y, {i % 7, i % 3, i % 100, 1});
  EXPECT_LE(control().live_objects(), objects) << "recordings go when the sizes do that they are of";
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

TEST_F(FakeCudaSizes, OutsideTheirBoundsAreTold) {
  Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  Output y(session.y);
  session.context->setOutputAllocator("y", &y);
  for (const int64_t wrong : {513, -1})
    for (int i = 0; i < 3; ++i) {  // launched or replayed
      logger.errors.clear();
      EXPECT_FALSE(enqueue(session, {1, 2, wrong, 4}));
      ASSERT_EQ(logger.errors.size(), 1u) << logger.all();
      EXPECT_TRUE(logger.errors[0].contains(" decided " + std::to_string(wrong) + " for '")) << logger.all();
      EXPECT_TRUE(logger.errors[0].contains("which lies in [0, 512]")) << logger.all();
      expect_run(session, y, {1, 2, 3, 4});
    }
}

/// In strict mode the stand-in ends a process whose graph uses memory that is gone.
TEST_F(FakeCudaSizes, GraphsMustNotUseMemoryThatIsGone) {
  const char* mode = std::getenv("KILN_FAKE_CUDA");
  if (!mode || std::string(mode) != "strict") GTEST_SKIP() << "KILN_FAKE_CUDA is not 'strict'";
  const auto product = build(logger);
  ASSERT_TRUE(product) << logger.all();
  Session session(logger, *product);
  ASSERT_TRUE(session) << logger.all();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(session.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
  ASSERT_EQ(cudaStreamEndCapture(session.stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, session.stream), cudaSuccess);
  cudaFree(std::exchange(session.x, nullptr));
  EXPECT_DEATH(cudaGraphLaunch(exec, session.stream), "kernel [a-z_0-9]+ runs with memory that was freed");
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
}

TEST_F(FakeCudaProgram, WaitsOnceForSizesOfOneKind) {
  for (const int limits : {1, 4}) {
    const auto plan = build_selections(logger, limits);
    ASSERT_TRUE(plan) << logger.all();
    Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
    const auto enqueue = [&] {
      const Calls before;
      EXPECT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
      const Calls after;
      return std::array<int64_t, 3>{after.waits - before.waits, after.kernels - before.kernels,
                                    after.graphs - before.graphs};
    };
    const auto first = enqueue();
    EXPECT_EQ(first[0], 1) << limits;
    EXPECT_GE(first[1], 3 * limits) << limits;
    enqueue(), enqueue();
    const auto later = enqueue();
    EXPECT_EQ(later[0], 1) << limits;
    EXPECT_GE(later[2], 1) << limits << ": the part in front of the wait is replayed";
    EXPECT_LT(later[1], first[1]) << limits;
    EXPECT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
  }
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

}  // namespace
}  // namespace kiln::fake_cuda
