// A missing library is said once, with what it costs, and networks are built where they can be. The environment of a
// test hides one thing from its whole process; CMakeLists.txt has them all.
#include "program.h"

namespace kiln::fake_cuda {
namespace {

/// The program's network or, where cuDNN is asked for, one that it could help: y = relu(conv(x)).
std::unique_ptr<nv::IHostMemory> build_or_convolution(Logger& logger) {
  if (!std::getenv("KILN_TEST_SOURCES")) return build(logger);
  std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
  std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
  std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
  EXPECT_TRUE(config->setTacticSources(config->getTacticSources() | 1u << static_cast<int>(nv::TacticSource::kCUDNN)));
  static const std::vector<float> weights(8 * 8 * 9, 0.5f);
  nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims4(1, 8, 8, 8));
  const nv::Weights values{nv::DataType::kFLOAT, weights.data(), static_cast<int64_t>(weights.size())};
  nv::ITensor* y = network->addConvolutionNd(*x, 8, nv::DimsHW(3, 3), values, {})->getOutput(0);
  network->markOutput(*network->addActivation(*y, nv::ActivationType::kRELU)->getOutput(0));
  return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
}

/// The device is the CPU where the driver cannot be used, and whoever asks for CUDA is told why. By the environment.
TEST(FakeCudaAbsence, IsSaidOnce) {
  const char* expected = std::getenv("KILN_TEST_NOTICE");
  if (!expected) GTEST_SKIP() << "KILN_TEST_NOTICE is not set";
  Logger logger;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<nv::IHostMemory> plan = build_or_convolution(logger);
    EXPECT_EQ(plan == nullptr, std::getenv("KILN_DEVICE") != nullptr) << logger.all();
  }
  const bool asked = std::getenv("KILN_DEVICE") != nullptr;
  int said = 0;
  for (const std::string& line : asked ? logger.errors : logger.notices) said += line.find(expected) != line.npos;
  const std::string why_not = want_of_nvrtc_in(logger);
  if (std::getenv("KILN_TEST_COMPILES") && !why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_TRUE(asked ? said >= 2 : said == 1) << said << " times";
}

/// Runs in a process without NVRTC, which BuildsWithoutNvrtc starts.
TEST(WithoutNvrtc, Builds) {
  const char* kernels = std::getenv("KILN_TEST_KERNELS");
  if (!kernels) GTEST_SKIP() << "KILN_TEST_KERNELS is not set";
  Logger logger;
  const auto plan = build(logger);
  ASSERT_TRUE(plan) << logger.all();
  EXPECT_FALSE(want_of_nvrtc_in(logger).empty());
  bool on_host = false;
  for (const std::string& line : logger.notices) on_host |= line.contains("it runs by its reference, which is slow");
  EXPECT_EQ(on_host, std::string(kernels) == "cold");
  EXPECT_TRUE(run(logger, *plan)) << logger.all();
  EXPECT_TRUE(logger.errors.empty()) << logger.all();
}

/// Where the kernels were compiled before nothing but the compiler is missing; where not, the host runs their layers.
TEST_F(FakeCudaProgram, BuildsWithoutNvrtc) {
  ASSERT_TRUE(build(logger)) << logger.all();
  EXPECT_EQ(run_again("KILN_NVRTC=/no/nvrtc KILN_TEST_KERNELS=warm", "WithoutNvrtc.*"), 0);
  const Folder folder;
  EXPECT_EQ(
      run_again("KILN_NVRTC=/no/nvrtc KILN_TEST_KERNELS=cold KILN_CACHE_DIR='" + folder.path + "'", "WithoutNvrtc.*"),
      0);
}

}  // namespace
}  // namespace kiln::fake_cuda
