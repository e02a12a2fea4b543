#include "plugin/v2_plugin.h"

#include <gtest/gtest.h>

#include "plugin/failure_scope.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;

struct Calls {
  int attached = 0, detached = 0, alive = 0;
  std::string failure = "";  ///< of enqueue or clone, which tell it
};

class Counted final : public nv::IPluginV2DynamicExt {
 public:
  explicit Counted(Calls& calls) : calls_(calls) { ++calls_.alive; }
  ~Counted() override { --calls_.alive; }
  const char* getPluginType() const noexcept override { return "Counted"; }
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
  nv::IPluginV2DynamicExt* clone() const noexcept override { return fails("clone") ? nullptr : new Counted(calls_); }
  nv::DimsExprs getOutputDimensions(int32_t, const nv::DimsExprs* in, int32_t, nv::IExprBuilder&) noexcept override {
    return in[0];
  }
  bool supportsFormatCombination(int32_t, const nv::PluginTensorDesc*, int32_t, int32_t) noexcept override {
    return true;
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                       int32_t) noexcept override {}
  size_t getWorkspaceSize(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc*, const nv::PluginTensorDesc*, const void* const*, void* const*, void*,
                  cudaStream_t) noexcept override {
    return fails("enqueue") ? 1 : 0;
  }
  void attachToContext(cudnnContext*, cublasContext*, nv::IGpuAllocator*) noexcept override { ++calls_.attached; }
  void detachFromContext() noexcept override { ++calls_.detached; }

 private:
  bool fails(const char* call) const {
    if (!calls_.failure.starts_with(call)) return false;
    EXPECT_TRUE(FailureScope::tell("Counted version 1", calls_.failure.c_str()));
    return true;
  }
  Calls& calls_;
};

TEST(V2Plugin, FailuresHaveTheWordsOfThePlugin) {
  Calls calls;
  const auto plugin =
      adopt_v2(new Counted(calls), nv::TensorRTPhase::kRUNTIME, Services{}, std::make_shared<const std::string>());
  ASSERT_TRUE(plugin);
  calls.failure = "enqueue: no luck";
  const auto instance = (*plugin)->attach(0);
  ASSERT_TRUE(instance);
  const Status run = (*instance)->enqueue({});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "plugin 'Counted' version '1': enqueue: no luck");
  calls.failure = "clone: no memory";
  const auto failed = (*plugin)->attach(0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "plugin 'Counted' version '1': clone: no memory");
}

/// An IPluginV2 and no more.
class Plain final : public nv::IPluginV2 {
 public:
  const char* getPluginType() const noexcept override { return "Plain"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  int32_t getNbOutputs() const noexcept override { return 1; }
  nv::Dims getOutputDimensions(int32_t, const nv::Dims*, int32_t) noexcept override { return {1, {4}}; }
  bool supportsFormat(nv::DataType, nv::PluginFormat) const noexcept override { return true; }
  void configureWithFormat(const nv::Dims*, int32_t, const nv::Dims*, int32_t, nv::DataType, nv::PluginFormat,
                           int32_t) noexcept override {}
  int32_t initialize() noexcept override { return 0; }
  void terminate() noexcept override {}
  size_t getWorkspaceSize(int32_t) const noexcept override { return 0; }
  int32_t enqueue(int32_t, const void* const*, void* const*, void*, cudaStream_t) noexcept override { return 0; }
  size_t getSerializationSize() const noexcept override { return 0; }
  void serialize(void*) const noexcept override {}
  void destroy() noexcept override { delete this; }
  nv::IPluginV2* clone() const noexcept override { return new Plain; }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }
};

/// A plan does not keep the interface of version 2 that a plugin had: another one may have had no inputs.
TEST(V2Plugin, OfNoInputsIsNoPlainOne) {
  const auto plugin =
      adopt_v2(new Plain, nv::TensorRTPhase::kRUNTIME, Services{}, std::make_shared<const std::string>());
  ASSERT_TRUE(plugin);
  const auto instance = (*plugin)->attach(0);
  ASSERT_TRUE(instance);
  const std::vector<PluginTensor> outputs{{.dtype = DType::kF32, .format = Format::linear(), .extents = {1, 4}}};
  const Status told = (*instance)->change_shapes({}, outputs);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, Code::kCorrupt);
  EXPECT_EQ(told.error().message,
            "plugin 'Plain' version '1': the plan has no inputs; only those tell the type of an IPluginV2");
}

/// Detaching may free what attaching made, so that a copy which was never attached is not detached.
TEST(V2Plugin, IsDetachedAsOftenAsItIsAttached) {
  Calls calls;
  {
    const auto plugin =
        adopt_v2(new Counted(calls), nv::TensorRTPhase::kRUNTIME, Services{}, std::make_shared<const std::string>());
    ASSERT_TRUE(plugin);
    give_handles(**plugin, []() -> Result<std::unique_ptr<LibraryHandles>> {
      return error(Code::kDevice, "no handle could be made");
    });
    const auto failed = (*plugin)->attach(0);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("attachToContext: no handle could be made"), std::string::npos);
    EXPECT_EQ(calls.detached, 0);
    give_handles(**plugin, nullptr);
    ASSERT_TRUE((*plugin)->attach(0));
    EXPECT_EQ(calls.attached, 1);
    EXPECT_EQ(calls.detached, 1);
  }
  EXPECT_EQ(calls.alive, 0);
}

}  // namespace
}  // namespace kiln::plugin
