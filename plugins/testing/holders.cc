#include "testing/holders.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kiln::plugins::testing {
namespace {

class HolderV3 final : public nv::IPluginV3,
                       public nv::IPluginV3OneCore,
                       public nv::IPluginV3OneBuild,
                       public nv::IPluginV3OneRuntime {
 public:
  explicit HolderV3(std::unique_ptr<nv::IPluginV3> inside) : inside_(std::move(inside)) {}

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override {
    switch (type) {
      case nv::PluginCapabilityType::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
      case nv::PluginCapabilityType::kBUILD: return static_cast<nv::IPluginV3OneBuild*>(this);
      case nv::PluginCapabilityType::kRUNTIME: return static_cast<nv::IPluginV3OneRuntime*>(this);
    }
    return nullptr;
  }
  nv::IPluginV3* clone() noexcept override { return new HolderV3(std::unique_ptr<nv::IPluginV3>(inside_->clone())); }
  const char* getPluginName() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return core_->getPluginVersion(); }
  const char* getPluginNamespace() const noexcept override { return ""; }
  int32_t getNbOutputs() const noexcept override { return build_->getNbOutputs(); }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t n, const nv::DynamicPluginTensorDesc* out,
                          int32_t m) noexcept override {
    return build_->configurePlugin(in, n, out, m);
  }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t m, const nv::DataType* in, int32_t n) const noexcept override {
    return build_->getOutputDataTypes(out, m, in, n);
  }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t n, const nv::DimsExprs* shapes, int32_t s,
                          nv::DimsExprs* out, int32_t m, nv::IExprBuilder& builder) noexcept override {
    return build_->getOutputShapes(in, n, shapes, s, out, m, builder);
  }
  bool supportsFormatCombination(int32_t at, const nv::DynamicPluginTensorDesc* all, int32_t n,
                                 int32_t m) noexcept override {
    return build_->supportsFormatCombination(at, all, n, m);
  }
  size_t getWorkspaceSize(const nv::DynamicPluginTensorDesc* in, int32_t n, const nv::DynamicPluginTensorDesc* out,
                          int32_t m) const noexcept override {
    return build_->getWorkspaceSize(in, n, out, m);
  }
  int32_t onShapeChange(const nv::PluginTensorDesc* in, int32_t n, const nv::PluginTensorDesc* out,
                        int32_t m) noexcept override {
    return runtime_->onShapeChange(in, n, out, m);
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* from,
                  void* const* to, void* workspace, cudaStream_t stream) noexcept override {
    return runtime_->enqueue(in, out, from, to, workspace, stream);
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext* context) noexcept override {
    std::unique_ptr<nv::IPluginV3> attached(runtime_->attachToContext(context));
    return attached ? new HolderV3(std::move(attached)) : nullptr;
  }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return runtime_->getFieldsToSerialize(); }

 private:
  template <class Part>
  Part* part(nv::PluginCapabilityType type) {
    return static_cast<Part*>(inside_->getCapabilityInterface(type));
  }
  std::unique_ptr<nv::IPluginV3> inside_;
  nv::IPluginV3OneCore* core_ = part<nv::IPluginV3OneCore>(nv::PluginCapabilityType::kCORE);
  nv::IPluginV3OneBuild* build_ = part<nv::IPluginV3OneBuild>(nv::PluginCapabilityType::kBUILD);
  nv::IPluginV3OneRuntime* runtime_ = part<nv::IPluginV3OneRuntime>(nv::PluginCapabilityType::kRUNTIME);
  std::string name_ = std::string("Held") + core_->getPluginName();
};

class HolderV3Creator final : public nv::IPluginCreatorV3One {
 public:
  explicit HolderV3Creator(nv::IPluginCreatorV3One& inside)
      : inside_(inside), name_(std::string("Held") + inside.getPluginName()) {}
  nv::IPluginV3* createPlugin(const char* layer, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase) noexcept override {
    std::unique_ptr<nv::IPluginV3> made(inside_.createPlugin(layer, fields, phase));
    return made ? new HolderV3(std::move(made)) : nullptr;
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return inside_.getFieldNames(); }
  const char* getPluginName() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return inside_.getPluginVersion(); }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::IPluginCreatorV3One& inside_;
  std::string name_;
};

class HolderV2 final : public nv::IPluginV2DynamicExt {
 public:
  explicit HolderV2(OwnedV2 inside) : inside_(std::move(inside)) {}
  const char* getPluginType() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return inside_->getPluginVersion(); }
  int32_t getNbOutputs() const noexcept override { return inside_->getNbOutputs(); }
  int32_t initialize() noexcept override { return inside_->initialize(); }
  void terminate() noexcept override { inside_->terminate(); }
  size_t getSerializationSize() const noexcept override { return inside_->getSerializationSize(); }
  void serialize(void* buffer) const noexcept override { inside_->serialize(buffer); }
  void destroy() noexcept override { delete this; }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }
  nv::DataType getOutputDataType(int32_t at, const nv::DataType* in, int32_t n) const noexcept override {
    return dynamic().getOutputDataType(at, in, n);
  }
  nv::IPluginV2DynamicExt* clone() const noexcept override { return new HolderV2(OwnedV2(inside_->clone())); }
  nv::DimsExprs getOutputDimensions(int32_t at, const nv::DimsExprs* in, int32_t n,
                                    nv::IExprBuilder& builder) noexcept override {
    return dynamic().getOutputDimensions(at, in, n, builder);
  }
  bool supportsFormatCombination(int32_t at, const nv::PluginTensorDesc* all, int32_t n, int32_t m) noexcept override {
    return dynamic().supportsFormatCombination(at, all, n, m);
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t n, const nv::DynamicPluginTensorDesc* out,
                       int32_t m) noexcept override {
    dynamic().configurePlugin(in, n, out, m);
  }
  void attachToContext(cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator* allocator) noexcept override {
    dynamic().attachToContext(cudnn, cublas, allocator);
  }
  void detachFromContext() noexcept override { dynamic().detachFromContext(); }
  size_t getWorkspaceSize(const nv::PluginTensorDesc* in, int32_t n, const nv::PluginTensorDesc* out,
                          int32_t m) const noexcept override {
    return dynamic().getWorkspaceSize(in, n, out, m);
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* from,
                  void* const* to, void* workspace, cudaStream_t stream) noexcept override {
    return dynamic().enqueue(in, out, from, to, workspace, stream);
  }

 private:
  nv::IPluginV2DynamicExt& dynamic() const { return static_cast<nv::IPluginV2DynamicExt&>(*inside_); }
  OwnedV2 inside_;
  std::string name_ = std::string("Held") + inside_->getPluginType();
};

class HolderV2Creator final : public nv::IPluginCreator {
 public:
  explicit HolderV2Creator(nv::IPluginCreator& inside)
      : inside_(inside), name_(std::string("Held") + inside.getPluginName()) {}
  const char* getPluginName() const noexcept override { return name_.c_str(); }
  const char* getPluginVersion() const noexcept override { return inside_.getPluginVersion(); }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return inside_.getFieldNames(); }
  nv::IPluginV2* createPlugin(const char*, const nv::PluginFieldCollection*) noexcept override { return nullptr; }
  nv::IPluginV2* deserializePlugin(const char* layer, const void* bytes, size_t count) noexcept override {
    OwnedV2 made(inside_.deserializePlugin(layer, bytes, count));
    return made ? new HolderV2(std::move(made)) : nullptr;
  }
  void setPluginNamespace(const char*) noexcept override {}
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::IPluginCreator& inside_;
  std::string name_;
};

/// Registers the creator of a held plugin, which plans need, once a plugin. Creators live as long as the process.
template <class Creator, class Inside>
void register_once(const char* name, const char* version) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<std::pair<std::string, std::string>, std::unique_ptr<Creator>>;
  const std::lock_guard lock(mutex);
  auto& creator = all[{name, version}];
  if (creator) return;
  creator = std::make_unique<Creator>(static_cast<Inside&>(*getPluginRegistry()->getCreator(name, version)));
  getPluginRegistry()->registerCreator(*creator, "");
}

}  // namespace

std::unique_ptr<nv::IPluginV3> hold(std::unique_ptr<nv::IPluginV3> inside) {
  auto& core = static_cast<nv::IPluginV3OneCore&>(*inside->getCapabilityInterface(nv::PluginCapabilityType::kCORE));
  register_once<HolderV3Creator, nv::IPluginCreatorV3One>(core.getPluginName(), core.getPluginVersion());
  return std::make_unique<HolderV3>(std::move(inside));
}

OwnedV2 hold(OwnedV2 inside) {
  const auto kind = static_cast<nv::PluginVersion>(static_cast<uint32_t>(inside->getTensorRTVersion()) >> 24U);
  if (kind != nv::PluginVersion::kV2_DYNAMICEXT) return inside;
  register_once<HolderV2Creator, nv::IPluginCreator>(inside->getPluginType(), inside->getPluginVersion());
  return OwnedV2(new HolderV2(std::move(inside)));
}

}  // namespace kiln::plugins::testing
