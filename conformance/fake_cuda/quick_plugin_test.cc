// Quick plugins that run by their own code, on a GPU or on the driver that stands in for one.
#include <impl/NvInferPythonPlugin.h>

#include <algorithm>
#include <cstring>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

using Floats = std::vector<float>;

struct QuickLog {
  std::vector<int64_t> strides;  ///< of the outermost axis of input 0, by enqueue
  std::vector<int32_t> tactics;  ///< that setTactic got
  int alive = 0, num_runs = 0;
};

/// Copies x on the stream that it is given.
class QuickCopy final : public nv::IPluginV3,
                        public nv::IPluginV3QuickCore,
                        public nv::IPluginV3QuickBuild,
                        public nv::IPluginV3QuickRuntime {
 public:
  explicit QuickCopy(QuickLog& log) : log_(log) { ++log.alive; }
  QuickCopy(const QuickCopy& other) : log_(other.log_) { ++log_.alive; }
  ~QuickCopy() override { --log_.alive; }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kCORE) return static_cast<nv::IPluginV3QuickCore*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3QuickRuntime*>(this);
    return static_cast<nv::IPluginV3QuickBuild*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new QuickCopy(*this); }
  const char* getPluginName() const noexcept override { return "QuickCopy"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, const int32_t*,
                             int32_t) const noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    out[0] = in[0];
    return 0;
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t) noexcept override {
    return 1;
  }
  int32_t getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc*, int32_t, int32_t,
                                         nv::PluginTensorDesc* supported, int32_t) noexcept override {
    for (int i = 0; i < 2; ++i)
      supported[i].type = nv::DataType::kFLOAT, supported[i].format = nv::PluginFormat::kLINEAR;
    return 0;
  }
  int32_t getNbTactics() noexcept override { return 1; }
  int32_t getValidTactics(int32_t* tactics, int32_t) noexcept override { return tactics[0] = 6, 0; }
  int32_t setTactic(int32_t tactic) noexcept override { return log_.tactics.push_back(tactic), 0; }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc*, const void* const* inputs,
                  void* const* outputs, const nv::Dims* strides, const nv::Dims*, int32_t, int32_t,
                  cudaStream_t stream) noexcept override {
    ++log_.num_runs;
    log_.strides.push_back(strides[0].d[0]);
    const auto bytes = static_cast<size_t>(in[0].dims.d[0] * in[0].dims.d[1]) * sizeof(float);
    return cudaMemcpyAsync(outputs[0], inputs[0], bytes, cudaMemcpyDeviceToDevice, stream) != cudaSuccess;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return &none_; }

 private:
  QuickLog& log_;
  const nv::PluginFieldCollection none_{};
};

class QuickCopyCreator final : public nv::IPluginCreatorV3Quick {
 public:
  explicit QuickCopyCreator(QuickLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, "quick"); }
  ~QuickCopyCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const char*, const nv::PluginFieldCollection*, nv::TensorRTPhase,
                              nv::QuickPluginCreationRequest) noexcept override {
    return new QuickCopy(log_);
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return "QuickCopy"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return "quick"; }

 private:
  QuickLog& log_;
  const nv::PluginFieldCollection none_{};
};

TEST(QuickOnDevice, RunInAllShapesAndAreRecorded) {
  int devices = 0;
  if (!std::getenv("KILN_DEVICE") || std::string(std::getenv("KILN_DEVICE")) != "cuda" ||
      cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    GTEST_SKIP() << "KILN_DEVICE is not 'cuda', or there is no GPU";
  if (std::getenv("KILN_CUDA_DRIVER")) control().reset();
  Logger logger;
  QuickLog log;
  {
    const QuickCopyCreator creator(log);
    std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    nv::IOptimizationProfile* profile = builder->createOptimizationProfile();
    profile->setDimensions("x", nv::OptProfileSelector::kMIN, nv::Dims2(1, 64));
    profile->setDimensions("x", nv::OptProfileSelector::kOPT, nv::Dims2(4, 64));
    profile->setDimensions("x", nv::OptProfileSelector::kMAX, nv::Dims2(8, 64));
    config->addOptimizationProfile(profile);
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims2(-1, 64));
    nv::IPluginV3Layer* layer = nullptr;
    {
      QuickCopy plugin(log);
      layer = network->addPluginV3(&x, 1, nullptr, 0, plugin);
    }
    ASSERT_TRUE(layer) << logger.all();
    layer->getOutput(0)->setName("y");
    network->markOutput(*layer->getOutput(0));
    const std::unique_ptr<nv::IHostMemory> plan(builder->buildSerializedNetwork(*network, *config));
    ASSERT_TRUE(plan) << logger.all();
    log.tactics.clear();
    const Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
    EXPECT_EQ(log.tactics, std::vector<int32_t>{6});
    logger.notices.clear();
    for (const int64_t rows : {8, 3, 8}) {
      const auto count = static_cast<size_t>(rows * 64);
      Floats given(count), got(count, -1);
      for (size_t i = 0; i < count; ++i) given[i] = static_cast<float>(i) + static_cast<float>(rows);
      log.num_runs = 0;
      ASSERT_TRUE(session.context->setInputShape("x", nv::Dims2(rows, 64)));
      ASSERT_EQ(cudaMemcpy(session.x, given.data(), count * 4, cudaMemcpyHostToDevice), cudaSuccess);
      ASSERT_EQ(cudaMemset(session.y, 0, count * 4), cudaSuccess);
      for (int i = 0; i < 16; ++i) ASSERT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
      ASSERT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
      ASSERT_EQ(cudaMemcpy(got.data(), session.y, count * 4, cudaMemcpyDeviceToHost), cudaSuccess);
      EXPECT_EQ(got, given) << rows;
      EXPECT_GE(log.num_runs, 1) << "it is told new shapes";
      EXPECT_LE(log.num_runs, 4) << "a replay calls nothing";
    }
    EXPECT_TRUE(std::ranges::all_of(log.strides, [](int64_t stride) { return stride == 64; }));
    EXPECT_TRUE(logger.notices.empty()) << logger.notices[0];
  }
  EXPECT_EQ(log.alive, 0);
}

}  // namespace
}  // namespace kiln::fake_cuda
