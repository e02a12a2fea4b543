/// Loops and branches that the device steers: they are parts of recordings, and of a program's graphs.
#include <algorithm>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

/// y = x, halved as long as its largest element exceeds 1, some hundred times at most (the stand-in's kernels write no
/// condition), and then, where a sum exceeds 100, its negative.
std::unique_ptr<nv::IHostMemory> build_bodies(Logger& logger) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  if (!builder) return nullptr;
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  static const float one = 1, half = 0.5f, hundred = 100;
  const auto constant = [&](const nv::Dims& dims, const float& value) {
    return network->addConstant(dims, {nv::DataType::kFLOAT, &value, 1})->getOutput(0);
  };
  const auto exceeds = [&](nv::ITensor* x, nv::ReduceOperation of, const float& limit) {
    nv::ITensor* number = network->addReduce(*x, of, 3, false)->getOutput(0);
    return network->addElementWise(*number, *constant({0, {}}, limit), nv::ElementWiseOperation::kGREATER)
        ->getOutput(0);
  };
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(8, 64));
  nv::ILoop* loop = network->addLoop();
  nv::IRecurrenceLayer* value = loop->addRecurrence(*x);
  nv::ITensor* now = value->getOutput(0);
  loop->addTripLimit(*exceeds(now, nv::ReduceOperation::kMAX, one), nv::TripLimit::kWHILE);
  static const int32_t most = 500;
  loop->addTripLimit(*network->addConstant({0, {}}, {nv::DataType::kINT32, &most, 1})->getOutput(0),
                     nv::TripLimit::kCOUNT);
  value->setInput(
      1,
      *network->addElementWise(*now, *constant(nv::Dims2(1, 1), half), nv::ElementWiseOperation::kPROD)->getOutput(0));
  nv::ITensor* small = loop->addLoopOutput(*now, nv::LoopOutput::kLAST_VALUE)->getOutput(0);
  nv::IIfConditional* branch = network->addIfConditional();
  branch->setCondition(*exceeds(small, nv::ReduceOperation::kSUM, hundred));
  nv::ITensor* inside = branch->addInput(*small)->getOutput(0);
  nv::ITensor* negative = network->addUnary(*inside, nv::UnaryOperation::kNEG)->getOutput(0);
  nv::ITensor* y = branch->addOutput(*negative, *inside)->getOutput(0);
  y->setName("y");
  network->markOutput(*y);
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

TEST_F(FakeCudaProgram, RecordsLoopsAndBranches) {
  const auto plan = build_bodies(logger);
  ASSERT_TRUE(plan) << logger.all();
  EXPECT_EQ(control().num_calls("cuGraphAddNode"), 0);
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
  EXPECT_EQ(control().num_calls("cuGraphAddNode"), 2);
  EXPECT_GE(control().num_calls("cuGraphLaunch"), 2);
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
  EXPECT_EQ(live_bytes(), 0);
  EXPECT_LE(control().live_objects(), 1);  // the module that sets conditions stays loaded
}

/// Where a recording cannot be made, the host steers.
TEST_F(FakeCudaProgram, RunsLoopsAndBranchesWithoutRecordings) {
  const auto plan = build_bodies(logger);
  ASSERT_TRUE(plan) << logger.all();
  for (const char* call : {"cuGraphConditionalHandleCreate", "cuGraphAddNode", "cuStreamBeginCaptureToGraph"}) {
    control().reset();
    control().fail(call, 1, cuda::kNotSupported);
    EXPECT_TRUE(run(logger, *plan)) << call << ": " << logger.all();
    EXPECT_EQ(control().num_calls("cuGraphLaunch"), 0) << call;
    EXPECT_EQ(control().live_objects(), 0) << call;
    const auto is_told = [](const std::string& line) {
      return line.contains("runs are launched step by step, which takes longer, since they cannot be recorded: ");
    };
    EXPECT_EQ(std::ranges::count_if(logger.notices, is_told), 1) << call;
    logger.notices.clear();
  }
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

TEST_F(GpuProgram, RunsLoopsAndBranchesInOneGraph) {
  const auto plan = build_bodies(logger);
  ASSERT_TRUE(plan) << logger.all();
  Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  const auto expect = [&](float value, float expected, auto enqueue) {
    std::vector<float> x(8 * 64, value), y(8 * 64);
    ASSERT_EQ(cudaMemcpy(session.x, x.data(), x.size() * 4, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_TRUE(enqueue()) << logger.all();
    ASSERT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(y.data(), session.y, y.size() * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(y, std::vector<float>(y.size(), expected)) << value;
  };
  const auto expect_all = [&](auto enqueue) {
    expect(8, -1, enqueue);
    expect(0.125f, 0.125f, enqueue);
    expect(3e30f, -0x1.2eec2ep-1f, enqueue);  // some hundred iterations
    expect(1, -1, enqueue);
  };
  const auto enqueue = [&] { return session.context->enqueueV3(session.stream); };
  expect_all(enqueue);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(session.stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_TRUE(enqueue()) << logger.all();
  ASSERT_EQ(cudaStreamEndCapture(session.stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  expect_all([&] { return cudaGraphLaunch(exec, session.stream) == cudaSuccess; });
  cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace kiln::fake_cuda
