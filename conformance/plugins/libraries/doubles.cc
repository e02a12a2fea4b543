// A plugin that runs: it doubles floats, on the CPU.
#include "creators.h"

namespace {

namespace nv = nvinfer1;

class Doubles final : public nv::IPluginV3,
                      public nv::IPluginV3OneCore,
                      public nv::IPluginV3OneBuild,
                      public nv::IPluginV3OneRuntime {
 public:
  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    if (type == nv::PluginCapabilityType::kBUILD) return static_cast<nv::IPluginV3OneBuild*>(this);
    if (type == nv::PluginCapabilityType::kRUNTIME) return static_cast<nv::IPluginV3OneRuntime*>(this);
    return static_cast<nv::IPluginV3OneCore*>(this);
  }
  nv::IPluginV3* clone() noexcept override { return new Doubles; }
  char const* getPluginName() const noexcept override { return "Doubles"; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return ""; }

  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* outputs, int32_t, nv::DataType const* inputs,
                             int32_t) const noexcept override {
    outputs[0] = inputs[0];
    return 0;
  }
  int32_t getOutputShapes(nv::DimsExprs const* inputs, int32_t, nv::DimsExprs const*, int32_t, nv::DimsExprs* outputs,
                          int32_t, nv::IExprBuilder&) noexcept override {
    outputs[0] = inputs[0];
    return 0;
  }
  bool supportsFormatCombination(int32_t at, nv::DynamicPluginTensorDesc const* tensors, int32_t,
                                 int32_t) noexcept override {
    return tensors[at].desc.type == nv::DataType::kFLOAT && tensors[at].desc.format == nv::PluginFormat::kLINEAR;
  }
  int32_t configurePlugin(nv::DynamicPluginTensorDesc const*, int32_t, nv::DynamicPluginTensorDesc const*,
                          int32_t) noexcept override {
    return 0;
  }

  int32_t onShapeChange(nv::PluginTensorDesc const*, int32_t, nv::PluginTensorDesc const*, int32_t) noexcept override {
    return 0;
  }
  int32_t enqueue(nv::PluginTensorDesc const* inputs, nv::PluginTensorDesc const*, void const* const* in,
                  void* const* out, void*, cudaStream_t) noexcept override {
    int64_t count = 1;
    for (int32_t i = 0; i < inputs[0].dims.nbDims; ++i) count *= inputs[0].dims.d[i];
    for (int64_t i = 0; i < count; ++i) static_cast<float*>(out[0])[i] = 2 * static_cast<const float*>(in[0])[i];
    return 0;
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  nv::PluginFieldCollection const* getFieldsToSerialize() noexcept override { return &none_; }

 private:
  nv::PluginFieldCollection none_{};
};

class DoublesCreator final : public nv::IPluginCreatorV3One {
 public:
  nv::IPluginV3* createPlugin(char const*, nv::PluginFieldCollection const*, nv::TensorRTPhase) noexcept override {
    return new Doubles;
  }
  nv::PluginFieldCollection const* getFieldNames() noexcept override { return &none_; }
  char const* getPluginName() const noexcept override { return "Doubles"; }
  char const* getPluginVersion() const noexcept override { return "1"; }
  char const* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::PluginFieldCollection none_{};
};

}  // namespace

LIBRARY_ENTRY nvinfer1::IPluginCreatorInterface* const* getCreators(int32_t& count) {
  static DoublesCreator creator;
  static nvinfer1::IPluginCreatorInterface* const creators[] = {&creator};
  count = 1;
  return creators;
}
