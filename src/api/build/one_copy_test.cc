/// How many copies of a network's weights a build and an engine have at once. Memory is that of this process by the
/// system's count; weights are large beside all else.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <list>
#include <numeric>
#include <regex>
#include <sstream>

#include "api/build/testing/workbench.h"

namespace kiln::api::testing {
namespace {

constexpr int kNumLayers = 8;
constexpr int64_t kSize = 1024;
constexpr double kWeightBytes = 4.0 * kNumLayers * kSize * kSize;

/// The most memory that was resident since the last call, and from now on that of now.
double peak_bytes() {
  std::stringstream status;
  status << std::ifstream("/proc/self/status").rdbuf();
  std::smatch found;
  const std::string text = status.str();
  std::ofstream("/proc/self/clear_refs") << 5;
  return std::regex_search(text, found, std::regex("VmHWM:\\s+(\\d+)")) ? 1024.0 * std::stod(found[1]) : 0;
}

std::vector<float> numbers(int64_t count, int seed) {
  std::vector<float> result(static_cast<size_t>(count));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>((i * 7919 + static_cast<size_t>(seed) * 31) % 2003) / 20030 - 0.05f;
  return result;
}

class Nowhere final : public nv::IStreamWriter {
  int64_t write(void const*, int64_t size_bytes) override { return size_bytes; }
};

class Text final : public nv::IStreamWriter {
 public:
  int64_t write(void const* bytes, int64_t size_bytes) override {
    text.append(static_cast<const char*>(bytes), static_cast<size_t>(size_bytes));
    return size_bytes;
  }
  std::string text;
};

class TextReader final : public nv::IStreamReaderV2 {
 public:
  explicit TextReader(const std::string& text) : left_(text) {}
  int64_t read(void* to, int64_t size_bytes, cudaStream_t) noexcept override {
    const size_t count = std::min(left_.size(), static_cast<size_t>(size_bytes));
    std::memcpy(to, left_.data(), count);
    left_.remove_prefix(count);
    return static_cast<int64_t>(count);
  }
  bool seek(int64_t, nv::SeekPosition) noexcept override { return false; }

 private:
  std::string_view left_;
};

using EnginePtr = std::unique_ptr<nv::ICudaEngine>;

class OneCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_on_gpu()) GTEST_SKIP() << "a GPU's weights are not in the process's memory, which this measures";
  }
  EnginePtr load(const std::string& plan) {
    TextReader reader(plan);
    return EnginePtr(runtime->deserializeCudaEngine(reader));
  }
  nv::ITensor* constant(std::initializer_list<int64_t> extents) {
    const int64_t count = std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies());
    values.push_back(numbers(count, static_cast<int>(values.size())));
    return w->addConstant(dims(extents), weights(values.back()))->getOutput(0);
  }
  nv::ITensor* product(nv::ITensor* x, nv::ITensor* b, nv::MatrixOperation op = nv::MatrixOperation::kNONE) {
    return w->addMatrixMultiply(*x, nv::MatrixOperation::kNONE, *b, op)->getOutput(0);
  }
  nv::ITensor* convolution(nv::ITensor* x, int64_t channels, int64_t out, int64_t kernel, int64_t groups = 1) {
    values.push_back(numbers(channels / groups * out * kernel * kernel, static_cast<int>(values.size())));
    auto* layer = w->addConvolutionNd(*x, out, dims({kernel, kernel}), weights(values.back()), no_weights());
    layer->setPaddingNd(dims({kernel / 2, kernel / 2}));
    layer->setNbGroups(groups);
    return layer->getOutput(0);
  }

  Workbench w;
  std::list<std::vector<float>> values;
  std::unique_ptr<nv::IRuntime> runtime{nv::createInferRuntime(w.logger)};
};

TEST_F(OneCopy, OfABuildAndOfAnEngine) {
  nv::ITensor* x = w.input("x", {32, kSize});
  for (int i = 0; i < kNumLayers; ++i)
    x = w->addActivation(*product(x, constant({kSize, kSize})), nv::ActivationType::kTANH)->getOutput(0);
  w.mark(x);
  peak_bytes();
  const double before_build = peak_bytes();
  Nowhere nowhere;
  ASSERT_TRUE(w.builder->buildSerializedNetworkToStream(*w.network, *w.config, nowhere)) << w.take_error();
  EXPECT_LT(peak_bytes() - before_build, 0.75 * kWeightBytes);  // a few layers are packed at a time

  Text plan;
  ASSERT_TRUE(w.builder->buildSerializedNetworkToStream(*w.network, *w.config, plan)) << w.take_error();
  ASSERT_GT(static_cast<double>(plan.text.size()), kWeightBytes);
  peak_bytes();
  const double before_load = peak_bytes();
  const EnginePtr engine = load(plan.text);
  ASSERT_NE(engine, nullptr) << w.take_error();
  EXPECT_LT(peak_bytes() - before_load, 1.4 * kWeightBytes);
  EXPECT_GE(static_cast<double>(engine->getEngineStat(nv::EngineStat::kTOTAL_WEIGHTS_SIZE)), kWeightBytes);
}

TEST_F(OneCopy, GivesThePlanBackBitForBit) {
  nv::ITensor* image = w.input("image", {-1, 32, 16, 16});
  w.mark(convolution(convolution(image, 32, 48, 1), 48, 16, 5, 2), "y");
  w.mark(convolution(convolution(image, 32, 64, 3), 64, 64, 3, 64), "z");
  nv::ITensor* rows = w.input("rows", {-1, 65});
  nv::ITensor* const shared = constant({65, 65});  // an odd width; read in two orders, and an output too
  nv::ITensor* const turned = product(rows, shared, nv::MatrixOperation::kTRANSPOSE);
  w.mark(product(turned, shared), "p");
  w.mark(product(rows, constant({130, 65}), nv::MatrixOperation::kTRANSPOSE), "q");
  w.mark(w->addIdentity(*shared)->getOutput(0), "shared");
  for (const int64_t most : {2, 9}) {
    nv::IOptimizationProfile* const profile = w.builder->createOptimizationProfile();
    for (const auto which :
         {nv::OptProfileSelector::kMIN, nv::OptProfileSelector::kOPT, nv::OptProfileSelector::kMAX}) {
      const int64_t batch = which == nv::OptProfileSelector::kMIN ? 1 : most;
      profile->setDimensions("image", which, dims({batch, 32, 16, 16}));
      profile->setDimensions("rows", which, dims({batch, 65}));
    }
    w.config->addOptimizationProfile(profile);
  }
  Text plan;
  ASSERT_TRUE(w.builder->buildSerializedNetworkToStream(*w.network, *w.config, plan)) << w.take_error();
  const EnginePtr engine = load(plan.text);
  ASSERT_NE(engine, nullptr) << w.take_error();
  const std::unique_ptr<nv::IHostMemory> again(engine->serialize());
  ASSERT_NE(again, nullptr) << w.take_error();
  ASSERT_EQ(again->size(), plan.text.size());
  EXPECT_EQ(std::memcmp(again->data(), plan.text.data(), plan.text.size()), 0);
}

}  // namespace
}  // namespace kiln::api::testing
