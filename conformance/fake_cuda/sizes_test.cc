/// Sizes that data decides: each wait is for all that can be known by then, and what comes again is replayed.
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
