// Handles of cuDNN and cuBLAS that attachToContext gives: on a GPU, with NVIDIA's libraries, or on the driver that
// stands in for one, with libraries that stand in for them.
#include <algorithm>

#include "program.h"

namespace kiln::fake_cuda {
namespace {

struct Seen {
  std::vector<cudnnContext*> cudnn;  ///< by attachToContext
  std::vector<cublasContext*> cublas;
  int attached = 0, failures = 0;
};

/// A function of a library that is loaded, by name; null: it is not.
template <class Function>
Function* function_of(std::initializer_list<const char*> libraries, const char* variable, const char* name) {
  std::vector<const char*> all(libraries);
  if (const char* path = std::getenv(variable)) all.insert(all.begin(), path);
  for (const char* library : all)
    if (void* const loaded = dlopen(library, RTLD_NOW | RTLD_NOLOAD))
      return reinterpret_cast<Function*>(dlsym(loaded, name));
  return nullptr;
}
template <class Function>
Function* cublas(const char* name) {
  return function_of<Function>({"libcublas.so.13", "libcublas.so.12"}, "KILN_CUBLAS", name);
}

/// y = 3 x by cuBLAS, where it has a handle of it; else a copy of x.
class Triple final : public nv::IPluginV2DynamicExt {
 public:
  explicit Triple(Seen& seen) : seen_(seen) {}
  const char* getPluginType() const noexcept override { return "TripleByCublas"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t initialize() noexcept override { return 0; }
  void terminate() noexcept override {}
  size_t getSerializationSize() const noexcept override { return 0; }
  void serialize(void*) const noexcept override {}
  void destroy() noexcept override { delete this; }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }
  nv::DataType getOutputDataType(int32_t, const nv::DataType* in, int32_t) const noexcept override { return in[0]; }
  nv::IPluginV2DynamicExt* clone() const noexcept override { return new Triple(seen_); }
  nv::DimsExprs getOutputDimensions(int32_t, const nv::DimsExprs* in, int32_t, nv::IExprBuilder&) noexcept override {
    return in[0];
  }
  bool supportsFormatCombination(int32_t i, const nv::PluginTensorDesc* tensors, int32_t, int32_t) noexcept override {
    return tensors[i].type == nv::DataType::kFLOAT && tensors[i].format == nv::TensorFormat::kLINEAR;
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                       int32_t) noexcept override {}
  size_t getWorkspaceSize(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  void attachToContext(cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator*) noexcept override {
    seen_.cudnn.push_back(cudnn), seen_.cublas.push_back(cublas);
    handle_ = cublas, dnn_ = cudnn;
    ++seen_.attached;
  }
  void detachFromContext() noexcept override { --seen_.attached; }
  int32_t enqueue(const nv::PluginTensorDesc* x, const nv::PluginTensorDesc*, const void* const* in, void* const* out,
                  void*, cudaStream_t stream) noexcept override {
    const auto count = static_cast<int>(x->dims.d[0]);
    bool good =
        cudaMemcpyAsync(out[0], in[0], static_cast<size_t>(count) * 4, cudaMemcpyDeviceToDevice, stream) == cudaSuccess;
    if (dnn_) {
      auto* const set_stream = function_of<int(void*, void*)>({"libcudnn.so.9"}, "KILN_CUDNN", "cudnnSetStream");
      good = good && set_stream && set_stream(dnn_, stream) == 0;
    }
    if (handle_) {
      static constexpr float kThree = 3;
      auto* const set_stream = cublas<int(void*, void*)>("cublasSetStream_v2");
      auto* const scale = cublas<int(void*, int, const float*, float*, int)>("cublasSscal_v2");
      good = good && set_stream && scale && set_stream(handle_, stream) == 0 &&
             scale(handle_, count, &kThree, static_cast<float*>(out[0]), 1) == 0;
    }
    if (!good) ++seen_.failures;
    return good ? 0 : 1;
  }

 private:
  Seen& seen_;
  cublasContext* handle_ = nullptr;
  cudnnContext* dnn_ = nullptr;
};

class TripleCreator final : public nv::IPluginCreator {
 public:
  explicit TripleCreator(Seen& seen) : seen_(seen) { getPluginRegistry()->registerCreator(*this, ""); }
  ~TripleCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  const char* getPluginName() const noexcept override { return "TripleByCublas"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  nv::IPluginV2* createPlugin(const char*, const nv::PluginFieldCollection*) noexcept override {
    return new Triple(seen_);
  }
  nv::IPluginV2* deserializePlugin(const char*, const void*, size_t) noexcept override { return new Triple(seen_); }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  Seen& seen_;
  const nv::PluginFieldCollection fields_{0, nullptr};
};

constexpr int kCount = 6;

class PluginHandles : public CudaProgram {
 protected:
  static bool computes() { return !std::getenv("KILN_CUDA_DRIVER"); }

  enum class Sources : bool { kDefault, kBoth };
  std::unique_ptr<nv::IHostMemory> build(Sources sources) {
    const std::unique_ptr<nv::IBuilder> builder(nv::createInferBuilder(logger));
    const std::unique_ptr<nv::INetworkDefinition> network(builder->createNetworkV2(0));
    const std::unique_ptr<nv::IBuilderConfig> config(builder->createBuilderConfig());
    if (sources == Sources::kBoth)
      config->setTacticSources(config->getTacticSources() | 1U << static_cast<uint32_t>(nv::TacticSource::kCUBLAS) |
                               1U << static_cast<uint32_t>(nv::TacticSource::kCUDNN));
    nv::ITensor* x = network->addInput("x", nv::DataType::kFLOAT, nv::Dims{1, {kCount}});
    Triple plugin(seen);
    nv::ITensor* const y = network->addPluginV2(&x, 1, plugin)->getOutput(0);
    y->setName("y");
    network->markOutput(*y);
    return std::unique_ptr<nv::IHostMemory>(builder->buildSerializedNetwork(*network, *config));
  }
  bool said(const char* words) const {
    return std::ranges::any_of(logger.notices, [&](const std::string& line) { return line.find(words) != line.npos; });
  }

  Seen seen;
  TripleCreator creator{seen};
};

TEST_F(PluginHandles, AreThoseOfTheTacticSources) {
  const auto plan = build(Sources::kBoth);
  ASSERT_TRUE(plan) << logger.all();
  const bool has_cublas = !said("cuBLAS was not found"), has_cudnn = !said("cuDNN 9 was not found");
  std::vector<float> numbers = {1, 2, 3, 4, 5, 6}, got(kCount);
  {
    const Session session(logger, *plan);
    ASSERT_TRUE(session) << logger.all();
    const std::unique_ptr<nv::IExecutionContext> other(session.engine->createExecutionContext());
    ASSERT_TRUE(other) << logger.all();
    ASSERT_EQ(seen.cublas.size(), 2U);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(seen.cublas[static_cast<size_t>(i)] != nullptr, has_cublas);
      EXPECT_EQ(seen.cudnn[static_cast<size_t>(i)] != nullptr, has_cudnn);
    }
    if (has_cublas) {
      EXPECT_NE(seen.cublas[0], seen.cublas[1]) << "a handle is one context's: it has a stream";
    }
    ASSERT_EQ(cudaMemcpy(session.x, numbers.data(), kCount * 4, cudaMemcpyHostToDevice), cudaSuccess);
    for (int run = 0; run < 4; ++run) ASSERT_TRUE(session.context->enqueueV3(session.stream)) << logger.all();
    ASSERT_EQ(cudaStreamSynchronize(session.stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(got.data(), session.y, kCount * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  }
  EXPECT_EQ(seen.failures, 0);
  EXPECT_EQ(seen.attached, 0);
  if (computes()) {
    for (float& number : numbers) number *= has_cublas ? 3.0F : 1.0F;
    EXPECT_EQ(got, numbers);
  } else if (auto* const alive = cublas<int()>("kiln_fake_cublas_handles")) {
    EXPECT_EQ(alive(), 0) << "handles go with their contexts";
  }
}

TEST_F(PluginHandles, AreNullByDefault) {
  const auto plan = build(Sources::kDefault);
  ASSERT_TRUE(plan) << logger.all();
  const Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  EXPECT_EQ(seen.cublas, std::vector<cublasContext*>{nullptr});
  EXPECT_EQ(seen.cudnn, std::vector<cudnnContext*>{nullptr});
  EXPECT_TRUE(said("null as the cuBLAS handle of attachToContext: TacticSource::kCUBLAS is not among"));
  EXPECT_TRUE(said("null as the cuDNN handle of attachToContext: TacticSource::kCUDNN is not among"));
}

/// In an environment without cuBLAS.
TEST_F(PluginHandles, OfAMissingLibraryAreNull) {
  const char* const path = std::getenv("KILN_CUBLAS");
  if (!path || std::filesystem::exists(path)) GTEST_SKIP() << "KILN_CUBLAS names no missing file";
  const auto plan = build(Sources::kBoth);
  ASSERT_TRUE(plan) << logger.all();
  const Session session(logger, *plan);
  ASSERT_TRUE(session) << logger.all();
  EXPECT_EQ(seen.cublas, std::vector<cublasContext*>{nullptr});
  EXPECT_TRUE(said("null as the cuBLAS handle of attachToContext: cuBLAS was not found (/no/cublas"));
}

}  // namespace
}  // namespace kiln::fake_cuda
