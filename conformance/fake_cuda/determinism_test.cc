// The same network, versions and times give the same plan, byte for byte: in a builder of the same process, and in
// another process that compiles its kernels anew. On whichever device the environment chooses.
#include <fstream>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

using Text = std::string;  // of bytes

struct Built {
  Text plan, times;
};

nv::Weights weights(size_t count) {
  static std::vector<std::unique_ptr<std::vector<float>>>& all = *new std::vector<std::unique_ptr<std::vector<float>>>;
  auto& made = all.emplace_back(std::make_unique<std::vector<float>>(count));
  for (size_t i = 0; i < count; ++i) (*made)[i] = static_cast<float>((i * 7919 + count) % 101) / 505 - 0.1f;
  return {nv::DataType::kFLOAT, made->data(), static_cast<int64_t>(count)};
}

/// A residual block, a pool, a product and a softmax, with a branch beside them: formats, splits and fusions to choose.
nv::ITensor* define(nv::INetworkDefinition& network) {
  nv::ITensor* x = network.addInput("x", nv::DataType::kFLOAT, nv::Dims4(2, 16, 16, 16));
  const auto conv = [&](nv::ITensor& in, int32_t channels, int32_t size) {
    nv::IConvolutionLayer* layer =
        network.addConvolutionNd(in, channels, nv::DimsHW(size, size),
                                 weights(static_cast<size_t>(channels) * 16 * static_cast<size_t>(size * size)),
                                 weights(static_cast<size_t>(channels)));
    layer->setPaddingNd(nv::DimsHW(size / 2, size / 2));
    return network.addActivation(*layer->getOutput(0), nv::ActivationType::kRELU)->getOutput(0);
  };
  nv::ITensor* narrow = conv(*x, 16, 1);
  nv::ITensor* wide = conv(*narrow, 16, 3);
  nv::ITensor* sum = network.addElementWise(*wide, *x, nv::ElementWiseOperation::kSUM)->getOutput(0);
  nv::ITensor* branch = network.addUnary(*sum, nv::UnaryOperation::kEXP)->getOutput(0);
  branch->setName("branch"), network.markOutput(*branch);
  nv::IPoolingLayer* pool = network.addPoolingNd(*sum, nv::PoolingType::kAVERAGE, nv::DimsHW(4, 4));
  pool->setStrideNd(nv::DimsHW(4, 4));
  nv::IShuffleLayer* rows = network.addShuffle(*pool->getOutput(0));
  rows->setReshapeDimensions(nv::Dims2(2, 256));
  nv::ITensor* w = network.addConstant(nv::Dims2(256, 64), weights(256 * 64))->getOutput(0);
  nv::ITensor* product =
      network.addMatrixMultiply(*rows->getOutput(0), nv::MatrixOperation::kNONE, *w, nv::MatrixOperation::kNONE)
          ->getOutput(0);
  nv::ISoftMaxLayer* shares = network.addSoftMax(*product);
  shares->setAxes(2);
  return shares->getOutput(0);
}

/// Builds with the times of `times`, or, if empty, with times of its own; the result has what it measured.
Built build_with(Logger& logger, const Text& times) {
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  config->setFlag(nv::BuilderFlag::kFP16);
  if (!times.empty()) config->setFlag(nv::BuilderFlag::kERROR_ON_TIMING_CACHE_MISS);
  std::unique_ptr<nv::ITimingCache> cache(config->createTimingCache(times.data(), times.size()));
  EXPECT_TRUE(cache && config->setTimingCache(*cache, false)) << logger.all();
  nv::ITensor* y = define(*network);
  y->setName("y"), network->markOutput(*y);
  std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
  if (!plan) return {};
  const std::unique_ptr<nv::IHostMemory> known(config->getTimingCache()->serialize());
  return {Text(static_cast<const char*>(plan->data()), plan->size()),
          Text(static_cast<const char*>(known->data()), known->size())};
}

Text read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const Text& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// The other process.
TEST(Determinism, AnotherProcess) {
  const char* folder = std::getenv("KILN_TEST_PLAN_FOLDER");
  if (!folder) GTEST_SKIP() << "KILN_TEST_PLAN_FOLDER is not set";
  Logger logger;
  const Built built = build_with(logger, read(folder + std::string("/times")));
  ASSERT_FALSE(built.plan.empty()) << logger.all();
  write(folder + std::string("/plan"), built.plan);
}

void check_determinism() {
  Logger logger;
  const Built first = build_with(logger, {});
  ASSERT_FALSE(first.plan.empty()) << logger.all();
  if (const std::string notice = want_of_nvrtc_in(logger); !notice.empty()) GTEST_SKIP() << notice;
  const Built again = build_with(logger, first.times);
  ASSERT_FALSE(again.plan.empty()) << logger.all();
  EXPECT_EQ(first.times, again.times);
  EXPECT_TRUE(first.plan == again.plan) << "another builder makes another plan";
  const Folder folder;
  write(folder.path + "/times", first.times);
  const std::string environment = "KILN_CACHE_DIR='" + folder.path + "' KILN_TEST_PLAN_FOLDER='" + folder.path + "'";
  EXPECT_EQ(run_again(environment, "Determinism.AnotherProcess"), 0);
  const Text other = read(folder.path + "/plan");
  EXPECT_TRUE(first.plan == other) << "another process makes another plan";
}

TEST(Determinism, TheSameTimesGiveTheSamePlan) { check_determinism(); }
TEST_F(GpuProgram, TheSameTimesGiveTheSamePlan) { check_determinism(); }

}  // namespace
}  // namespace kiln::fake_cuda
