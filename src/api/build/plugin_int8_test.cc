// Plugins of INT8 by dynamic ranges: they compute in levels, and are told what a level is worth.
#include <NvInfer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/build/testing/workbench.h"
#include "api/run/testing/logged_plugins_v2.h"

namespace kiln::api {
namespace {

using testing::PluginLog;
using testing::Running;
using testing::Shared;
using testing::Workbench;
namespace nv = nvinfer1;
using Floats = std::vector<float>;

constexpr const char* kName = "TestDouble";

/// y = 2 x, in FP32 or in INT8; x and y have one type.
template <class Interface>
class DoubleOf : public testing::LoggedV2Ext<Interface> {
 public:
  DoubleOf(PluginLog& log, float factor) : testing::LoggedV2Ext<Interface>(log, kName, factor) {}

 protected:
  static bool takes(int32_t position, const nv::PluginTensorDesc* tensors) {
    const nv::PluginTensorDesc& tensor = tensors[position];
    const bool is_known = tensor.type == nv::DataType::kINT8 || tensor.type == nv::DataType::kFLOAT;
    return is_known && tensor.format == nv::TensorFormat::kLINEAR && tensor.type == tensors[0].type;
  }
  static int32_t run(const nv::PluginTensorDesc& x, const nv::PluginTensorDesc& y, int64_t count, const void* in,
                     void* out) {
    for (int64_t i = 0; i < count; ++i)
      if (x.type == nv::DataType::kINT8)
        static_cast<int8_t*>(out)[i] = static_cast<int8_t>(std::clamp<float>(
            std::nearbyint(2 * x.scale * static_cast<float>(static_cast<const int8_t*>(in)[i]) / y.scale), -128, 127));
      else
        static_cast<float*>(out)[i] = 2 * static_cast<const float*>(in)[i];
    return 0;
  }
};

class DoubleDynamic final : public DoubleOf<nv::IPluginV2DynamicExt> {
 public:
  using DoubleOf::DoubleOf;
  nv::IPluginV2DynamicExt* clone() const noexcept override { return new DoubleDynamic(*this); }
  nv::DimsExprs getOutputDimensions(int32_t, const nv::DimsExprs* in, int32_t, nv::IExprBuilder&) noexcept override {
    return in[0];
  }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    return takes(position, tensors);
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                       int32_t) noexcept override {}
  size_t getWorkspaceSize(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc* x, const nv::PluginTensorDesc* y, const void* const* in, void* const* out,
                  void*, cudaStream_t) noexcept override {
    return run(*x, *y, x->dims.d[0] * x->dims.d[1], in[0], out[0]);
  }
};

class DoubleStatic final : public DoubleOf<nv::IPluginV2IOExt> {
 public:
  using DoubleOf::DoubleOf;
  nv::IPluginV2IOExt* clone() const noexcept override { return new DoubleStatic(*this); }
  nv::Dims getOutputDimensions(int32_t, const nv::Dims* in, int32_t) noexcept override { return in[0]; }
  size_t getWorkspaceSize(int32_t) const noexcept override { return 0; }
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept override { return false; }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept override { return false; }
  void configurePlugin(const nv::PluginTensorDesc* in, int32_t, const nv::PluginTensorDesc* out,
                       int32_t) noexcept override {
    x_ = *in, y_ = *out;
  }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                 int32_t) const noexcept override {
    return takes(position, tensors);
  }
  size_t getSerializationSize() const noexcept override { return sizeof(x_) + sizeof(y_); }
  void serialize(void* buffer) const noexcept override {
    auto* const descs = static_cast<nv::PluginTensorDesc*>(buffer);
    descs[0] = x_, descs[1] = y_;
  }
  void read(const void* data) {
    const auto* const descs = static_cast<const nv::PluginTensorDesc*>(data);
    x_ = descs[0], y_ = descs[1];
  }
  int32_t enqueue(int32_t batch, const void* const* in, void* const* out, void*, cudaStream_t) noexcept override {
    return run(x_, y_, batch * x_.dims.d[0], in[0], out[0]);
  }

 private:
  nv::PluginTensorDesc x_{}, y_{};
};

template <class Plugin>
class Creator final : public nv::IPluginCreator {
 public:
  explicit Creator(PluginLog& log) : log_(log) { getPluginRegistry()->registerCreator(*this, ""); }
  ~Creator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV2* createPlugin(const char*, const nv::PluginFieldCollection*) noexcept override { return nullptr; }
  nv::IPluginV2* deserializePlugin(const char*, const void* data, size_t) noexcept override {
    auto* const made = new Plugin(log_, 2);
    if constexpr (std::is_same_v<Plugin, DoubleStatic>) made->read(data);
    return made;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return kName; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  PluginLog& log_;
  const nv::PluginFieldCollection names_{};
};

/// A network of the plugin alone, x[2, 3], with kINT8.
template <class Plugin>
class PluginInt8 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::is_on_gpu()) GTEST_SKIP() << "these plugins have host code alone; KILN_DEVICE=cpu runs them";
    Plugin plugin(log, 2);
    x = w.input("x", {2, 3});
    layer = w->addPluginV2(&x, 1, plugin);
    ASSERT_TRUE(layer) << w.take_error();
    y = layer->getOutput(0);
    w.mark(y);
    w.config->setFlag(nv::BuilderFlag::kINT8);
  }
  Floats run() {
    Running running(w);
    EXPECT_TRUE(running.context) << running.error;
    if (!running.context) return {};
    Shared<float> in{0.6F, -1.2F, 0.2F, 10, 100, -0.26F}, out = Shared<float>(6, 0);
    running.feed("x", in), running.feed("y", out);
    EXPECT_TRUE(running.run()) << running.last_error();
    return {out.begin(), out.end()};
  }
  PluginLog log;
  Creator<Plugin> creator{log};
  Workbench w;
  nv::ITensor *x = nullptr, *y = nullptr;
  nv::ILayer* layer = nullptr;
};
using Interfaces = ::testing::Types<DoubleDynamic, DoubleStatic>;
TYPED_TEST_SUITE(PluginInt8, Interfaces, );

const Floats kFloats{1.2F, -2.4F, 0.4F, 20, 200, -0.52F};

TYPED_TEST(PluginInt8, ComputesInLevelsOfItsScales) {
  this->x->setDynamicRange(-63.5F, 63.5F);  // levels of 0.5
  this->y->setDynamicRange(-127, 127);
  EXPECT_EQ(this->run(), (Floats{1, -2, 0, 20, 127, -1}));
}
/// Its x and y have one type.
TYPED_TEST(PluginInt8, StaysInFloatWhereATensorHasNoRange) {
  this->x->setDynamicRange(-63.5F, 63.5F);
  EXPECT_EQ(this->run(), kFloats);
}
TYPED_TEST(PluginInt8, StaysInFloatWhereItsLayerIs) {
  this->x->setDynamicRange(-63.5F, 63.5F);
  this->y->setDynamicRange(-127, 127);
  this->layer->setPrecision(nv::DataType::kFLOAT);
  EXPECT_EQ(this->run(), kFloats);
}

}  // namespace
}  // namespace kiln::api
