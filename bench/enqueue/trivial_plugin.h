/// A plugin that does next to nothing, so that a run's time is what calling it costs.
#pragma once

#include <NvInfer.h>

namespace kiln::bench {

namespace nv = nvinfer1;

/// Gives its output's first element its input's. The elements behind it stay what they are.
class TrivialPlugin final : public nv::IPluginV3,
                            public nv::IPluginV3OneCore,
                            public nv::IPluginV3OneBuild,
                            public nv::IPluginV3OneRuntime {
 public:
  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kBUILD) return static_cast<nv::IPluginV3OneBuild*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3OneRuntime*>(this);
    return static_cast<nv::IPluginV3OneCore*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new TrivialPlugin; }
  const char* getPluginName() const noexcept override { return "Trivial"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept override {
    return out[0] = in[0], 0;
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out, int32_t,
                          nv::IExprBuilder&) noexcept override {
    return out[0] = in[0], 0;
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    return tensors[position].desc.format == nv::TensorFormat::kLINEAR;
  }
  int32_t setTactic(int32_t) noexcept override { return 0; }
  int32_t onShapeChange(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc*, const nv::PluginTensorDesc*, const void* const* in, void* const* out,
                  void*, cudaStream_t) noexcept override {
    *static_cast<float*>(out[0]) = *static_cast<const float*>(in[0]);
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }
};

class TrivialCreator : public nv::IPluginCreatorV3One {
 public:
  TrivialCreator() { getPluginRegistry()->registerCreator(*this, ""); }
  ~TrivialCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection*, nv::TensorRTPhase) noexcept override {
    return new TrivialPlugin;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return "Trivial"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  const nv::PluginFieldCollection none_{};
};

}  // namespace kiln::bench
