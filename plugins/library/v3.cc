// Standard plugins as IPluginV3.
#include "library/create.h"
#include "library/creators.h"
#include "library/objects.h"

namespace kiln::plugins {
namespace {

class PluginV3 final : public nv::IPluginV3,
                       public nv::IPluginV3OneCore,
                       public nv::IPluginV3OneBuild,
                       public nv::IPluginV3OneRuntime {
 public:
  PluginV3(std::shared_ptr<const Plugin> plugin, std::string plugin_namespace)
      : plugin_(std::move(plugin)), namespace_(std::move(plugin_namespace)), views_(plugin_->fields.views()) {
    serialized_ = {static_cast<int32_t>(views_.size()), views_.data()};
  }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    switch (type) {
      case nv::PluginCapabilityType::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
      case nv::PluginCapabilityType::kBUILD: return static_cast<nv::IPluginV3OneBuild*>(this);
      case nv::PluginCapabilityType::kRUNTIME: return static_cast<nv::IPluginV3OneRuntime*>(this);
    }
    return nullptr;
  }
  nv::IPluginV3* clone() noexcept override {
    return guarded(definition(), "clone", static_cast<nv::IPluginV3*>(nullptr),
                   [&]() -> Result<nv::IPluginV3*> { return new PluginV3(plugin_, namespace_); });
  }

  const char* getPluginName() const noexcept override { return definition().name; }
  const char* getPluginVersion() const noexcept override { return definition().version; }
  const char* getPluginNamespace() const noexcept override { return namespace_.c_str(); }

  int32_t getNbOutputs() const noexcept override { return plugin_->computation->num_outputs(); }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                          int32_t) noexcept override {
    return 0;
  }
  int32_t getOutputDataTypes(nv::DataType* outputs, int32_t num_outputs, const nv::DataType* inputs,
                             int32_t num_inputs) const noexcept override {
    return guarded(definition(), "getOutputDataTypes", 1, [&]() -> Result<int32_t> {
      const Types types = TRY(output_types(*plugin_, inputs, num_inputs));
      TRY(require(types.size() == static_cast<size_t>(num_outputs), "there are ", types.size(), " outputs"));
      std::copy(types.begin(), types.end(), outputs);
      return 0;
    });
  }
  int32_t getOutputShapes(const nv::DimsExprs* inputs, int32_t num_inputs, const nv::DimsExprs*, int32_t num_shapes,
                          nv::DimsExprs* outputs, int32_t num_outputs, nv::IExprBuilder& builder) noexcept override {
    return guarded(definition(), "getOutputShapes", 1, [&]() -> Result<int32_t> {
      TRY(require(num_shapes == 0, "it takes no shape inputs"));
      std::vector<Shape> shapes;
      for (int32_t i = 0; i < num_inputs; ++i) shapes.push_back(shape_of(inputs[i], builder));
      const std::vector<Shape> results = TRY(output_shapes(*plugin_, shapes));
      TRY(require(results.size() == static_cast<size_t>(num_outputs), "there are ", results.size(), " outputs"));
      for (size_t i = 0; i < results.size(); ++i) outputs[i] = dims_of(results[i], builder);
      return 0;
    });
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_inputs,
                                 int32_t) noexcept override {
    return guarded(definition(), "supportsFormatCombination", false, [&]() -> Result<bool> {
      Types before;
      for (int32_t i = 0; i < position; ++i) before.push_back(tensors[i].desc.type);
      const nv::PluginTensorDesc& tensor = tensors[position].desc;
      return TRY(supports(*plugin_, before, num_inputs, tensor.type)) && tensor.format == nv::TensorFormat::kLINEAR;
    });
  }

  int32_t onShapeChange(const nv::PluginTensorDesc* inputs, int32_t num_inputs, const nv::PluginTensorDesc* outputs,
                        int32_t num_outputs) noexcept override {
    return guarded(definition(), "onShapeChange", 1, [&]() -> Result<int32_t> {
      num_inputs_ = static_cast<size_t>(num_inputs);
      const Engines::Descs in(inputs, num_inputs_), out(outputs, static_cast<size_t>(num_outputs));
      TRY(engines_.prepare({in, out}));
      return 0;
    });
  }
  int32_t enqueue(const nv::PluginTensorDesc* inputs, const nv::PluginTensorDesc* outputs, const void* const* from,
                  void* const* to, void*, cudaStream_t stream) noexcept override {
    return guarded(definition(), "enqueue", 1, [&]() -> Result<int32_t> {
      const Engines::Descs in(inputs, num_inputs_), out(outputs, static_cast<size_t>(getNbOutputs()));
      TRY(engines_.enqueue({in, out}, from, to, stream));
      return 0;
    });
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return &serialized_; }

 private:
  const Definition& definition() const { return *plugin_->definition; }

  const std::shared_ptr<const Plugin> plugin_;  ///< which clones share: it may have weights
  std::string namespace_;
  std::vector<nv::PluginField> views_;
  nv::PluginFieldCollection serialized_;
  size_t num_inputs_ = 0;  ///< as the last change of shapes told
  Engines engines_{*plugin_};
  Known known_{static_cast<nv::IPluginV3*>(this), *plugin_};
};

class CreatorV3 final : public nv::IPluginCreatorV3One {
 public:
  CreatorV3(const Definition& definition, std::string plugin_namespace)
      : definition_(definition),
        namespace_(std::move(plugin_namespace)),
        fields_{static_cast<int32_t>(definition.fields.size()), definition.fields.data()} {}
  nv::IPluginV3* createPlugin(const char*, const nv::PluginFieldCollection* given,
                              nv::TensorRTPhase) noexcept override {
    return create<PluginV3>(definition_, given, namespace_);
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  const char* getPluginName() const noexcept override { return definition_.name; }
  const char* getPluginVersion() const noexcept override { return definition_.version; }
  const char* getPluginNamespace() const noexcept override { return namespace_.c_str(); }

 private:
  const Definition& definition_;
  std::string namespace_;
  nv::PluginFieldCollection fields_;
};

}  // namespace

std::unique_ptr<nv::IPluginCreatorInterface> make_v3_creator(const Definition& definition,
                                                             std::string plugin_namespace) {
  return std::make_unique<CreatorV3>(definition, std::move(plugin_namespace));
}

std::unique_ptr<nv::IPluginCreatorInterface> make_creator(const Definition& definition, std::string plugin_namespace) {
  return definition.generation == Generation::kV2 ? make_v2_creator(definition, std::move(plugin_namespace))
                                                  : make_v3_creator(definition, std::move(plugin_namespace));
}

}  // namespace kiln::plugins
