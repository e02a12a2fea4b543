// Standard plugins as IPluginV2DynamicExt.
#include "library/create.h"
#include "library/creators.h"
#include "library/objects.h"

namespace kiln::plugins {
namespace {

/// Types of a list of tensors.
Types types_of(const nv::PluginTensorDesc* tensors, int32_t count) {
  Types types;
  for (int32_t i = 0; i < count; ++i) types.push_back(tensors[i].type);
  return types;
}

class PluginV2 final : public nv::IPluginV2DynamicExt {
 public:
  PluginV2(std::shared_ptr<const Plugin> plugin, std::string plugin_namespace)
      : plugin_(std::move(plugin)), namespace_(std::move(plugin_namespace)) {}

  const char* getPluginType() const noexcept override { return definition().name; }
  const char* getPluginVersion() const noexcept override { return definition().version; }
  int32_t getNbOutputs() const noexcept override { return plugin_->computation->num_outputs(); }
  int32_t initialize() noexcept override { return 0; }
  void terminate() noexcept override {}
  size_t getSerializationSize() const noexcept override { return plugin_->fields.serialized_size(); }
  void serialize(void* buffer) const noexcept override { plugin_->fields.serialize(static_cast<std::byte*>(buffer)); }
  void destroy() noexcept override { delete this; }
  void setPluginNamespace(const char* name) noexcept override { namespace_ = name ? name : ""; }
  const char* getPluginNamespace() const noexcept override { return namespace_.c_str(); }
  nv::DataType getOutputDataType(int32_t index, const nv::DataType* inputs, int32_t count) const noexcept override {
    return guarded(definition(), "getOutputDataType", nv::DataType::kFLOAT, [&]() -> Result<nv::DataType> {
      const Types types = TRY(output_types(*plugin_, inputs, count));
      TRY(require(index >= 0 && static_cast<size_t>(index) < types.size(), "there is no output ", index));
      return types[static_cast<size_t>(index)];
    });
  }
  nv::IPluginV2DynamicExt* clone() const noexcept override {
    return guarded(definition(), "clone", static_cast<nv::IPluginV2DynamicExt*>(nullptr),
                   [&]() -> Result<nv::IPluginV2DynamicExt*> {
                     auto copy = std::make_unique<PluginV2>(plugin_, namespace_);
                     copy->num_inputs_ = num_inputs_;
                     return copy.release();
                   });
  }
  nv::DimsExprs getOutputDimensions(int32_t index, const nv::DimsExprs* inputs, int32_t count,
                                    nv::IExprBuilder& builder) noexcept override {
    return guarded(definition(), "getOutputDimensions", nv::DimsExprs{-1, {}}, [&]() -> Result<nv::DimsExprs> {
      std::vector<Shape> shapes;
      for (int32_t i = 0; i < count; ++i) shapes.push_back(shape_of(inputs[i], builder));
      const std::vector<Shape> outputs = TRY(output_shapes(*plugin_, shapes));
      TRY(require(index >= 0 && static_cast<size_t>(index) < outputs.size(), "there is no output ", index));
      return dims_of(outputs[static_cast<size_t>(index)], builder);
    });
  }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t num_inputs,
                                 int32_t) noexcept override {
    return guarded(definition(), "supportsFormatCombination", false, [&]() -> Result<bool> {
      const nv::PluginTensorDesc& tensor = tensors[position];
      return TRY(supports(*plugin_, types_of(tensors, position), num_inputs, tensor.type)) &&
             tensor.format == nv::TensorFormat::kLINEAR;
    });
  }
  void attachToContext(cudnnContext*, cublasContext*, nv::IGpuAllocator*) noexcept override { is_attached_ = true; }
  void detachFromContext() noexcept override { is_attached_ = false; }
  /// In a context it tells the shapes of the runs that follow: their engine is built here, not in the first run.
  void configurePlugin(const nv::DynamicPluginTensorDesc* inputs, int32_t num_inputs,
                       const nv::DynamicPluginTensorDesc* outputs, int32_t num_outputs) noexcept override {
    num_inputs_ = num_inputs;
    if (!is_attached_) return;
    static_cast<void>(guarded(definition(), "configurePlugin", false, [&]() -> Result<bool> {
      std::vector<nv::PluginTensorDesc> in, out;
      for (int32_t i = 0; i < num_inputs; ++i) in.push_back(inputs[i].desc);
      for (int32_t i = 0; i < num_outputs; ++i) out.push_back(outputs[i].desc);
      TRY(engines_.prepare({in, out}));
      return true;
    }));
  }
  size_t getWorkspaceSize(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*,
                          int32_t) const noexcept override {
    return 0;
  }
  int32_t enqueue(const nv::PluginTensorDesc* inputs, const nv::PluginTensorDesc* outputs, const void* const* from,
                  void* const* to, void*, cudaStream_t stream) noexcept override {
    return guarded(definition(), "enqueue", 1, [&]() -> Result<int32_t> {
      const Engines::Descs in(inputs, static_cast<size_t>(num_inputs_)),
          out(outputs, static_cast<size_t>(getNbOutputs()));
      TRY(engines_.enqueue({in, out}, from, to, stream));
      return 0;
    });
  }

 private:
  const Definition& definition() const { return *plugin_->definition; }

  const std::shared_ptr<const Plugin> plugin_;  ///< which clones share: it may have weights
  std::string namespace_;
  int32_t num_inputs_ = 0;  ///< as configured
  bool is_attached_ = false;
  Engines engines_{*plugin_};
  Known known_{static_cast<nv::IPluginV2*>(this), *plugin_};
};

class CreatorV2 final : public nv::IPluginCreator {
 public:
  CreatorV2(const Definition& definition, std::string plugin_namespace)
      : definition_(definition),
        namespace_(std::move(plugin_namespace)),
        fields_{static_cast<int32_t>(definition.fields.size()), definition.fields.data()} {}
  const char* getPluginName() const noexcept override { return definition_.name; }
  const char* getPluginVersion() const noexcept override { return definition_.version; }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &fields_; }
  nv::IPluginV2* createPlugin(const char*, const nv::PluginFieldCollection* given) noexcept override {
    return create<PluginV2>(definition_, given, namespace_);
  }
  nv::IPluginV2* deserializePlugin(const char*, const void* bytes, size_t count) noexcept override {
    return guarded(definition_, "deserializePlugin", static_cast<nv::IPluginV2*>(nullptr),
                   [&]() -> Result<nv::IPluginV2*> {
                     TRY(require(bytes || count == 0, "the bytes are null"));
                     Fields fields = TRY(Fields::deserialize({static_cast<const std::byte*>(bytes), count}));
                     Plugin plugin = TRY(make_plugin(definition_, std::move(fields)));
                     return new PluginV2(std::make_shared<const Plugin>(std::move(plugin)), namespace_);
                   });
  }
  /// Writes nothing where the name is the same: threads may register a creator at once.
  void setPluginNamespace(const char* name) noexcept override {
    if (namespace_ != (name ? name : "")) namespace_ = name ? name : "";
  }
  const char* getPluginNamespace() const noexcept override { return namespace_.c_str(); }

 private:
  const Definition& definition_;
  std::string namespace_;
  nv::PluginFieldCollection fields_;
};

}  // namespace

std::unique_ptr<nv::IPluginCreatorInterface> make_v2_creator(const Definition& definition,
                                                             std::string plugin_namespace) {
  return std::make_unique<CreatorV2>(definition, std::move(plugin_namespace));
}

}  // namespace kiln::plugins
