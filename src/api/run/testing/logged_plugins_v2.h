/// Plugins of version 2 for tests, written as a program writes them, which tell what was asked of them.
#pragma once

#include "api/run/testing/logged_plugins.h"

namespace kiln::api::testing {

/// The text of dimensions: "2x-1".
std::string text_of(const nv::Dims& dims);

/// What plugins of all interfaces of version 2 have in common. y = factor * x.
template <class Interface>
class LoggedV2 : public Interface {
 public:
  LoggedV2(PluginLog& log, const char* name, float factor) : log_(log), name_(name), factor_(factor) { ++log.alive; }
  LoggedV2(const LoggedV2& other)
      : Interface(other),
        log_(other.log_),
        name_(other.name_),
        factor_(other.factor_),
        namespace_(other.namespace_),
        is_configured_(other.is_configured_) {
    ++log_.alive;
  }
  ~LoggedV2() override { --log_.alive; }

  const char* getPluginType() const noexcept override { return name_; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  int32_t getNbOutputs() const noexcept override { return log_.num_outputs; }
  int32_t initialize() noexcept override {
    if (log_.fails_in == "initialize") return 21;
    log_.add("initialize");
    return 0;
  }
  void terminate() noexcept override { log_.add("terminate"); }
  size_t getSerializationSize() const noexcept override { return sizeof(factor_); }
  void serialize(void* buffer) const noexcept override;
  void destroy() noexcept override {
    log_.add("destroy");
    delete this;
  }
  void setPluginNamespace(const char* text) noexcept override { namespace_ = text; }
  const char* getPluginNamespace() const noexcept override { return namespace_; }

 protected:
  /// Notes a call; whether it fails.
  bool fails(const std::string& call) const {
    log_.add(call);
    return log_.fails_in == call.substr(0, call.find(' '));
  }
  /// y = factor * x, and 1000 for each run of this copy before; the workspace is written.
  int32_t scale(int64_t count, const void* const* in, void* const* out, void* workspace);

  PluginLog& log_;
  const char* const name_;
  const float factor_;
  const char* namespace_ = "";  ///< as it was given, as in some plugins of TensorRT's
  bool is_configured_ = false;
  int count_ = 0;
};

/// What plugins of IPluginV2Ext and what is made of it have in common.
template <class Interface>
class LoggedV2Ext : public LoggedV2<Interface> {
 public:
  using LoggedV2<Interface>::LoggedV2;
  nv::DataType getOutputDataType(int32_t, const nv::DataType* in, int32_t) const noexcept override;
  void attachToContext(cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator* allocator) noexcept override;
  void detachFromContext() noexcept override { this->log_.add("detachFromContext"); }
};

class ScaleDynamic final : public LoggedV2Ext<nv::IPluginV2DynamicExt> {
 public:
  ScaleDynamic(PluginLog& log, float factor) : LoggedV2Ext(log, "TestScaleDynamic", factor) {}
  nv::IPluginV2DynamicExt* clone() const noexcept override;
  nv::DimsExprs getOutputDimensions(int32_t output, const nv::DimsExprs* in, int32_t num_in,
                                    nv::IExprBuilder& builder) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  void configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                       int32_t num_out) noexcept override;
  size_t getWorkspaceSize(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                          int32_t num_out) const noexcept override;
  int32_t enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc, const void* const* in,
                  void* const* out, void* workspace, cudaStream_t stream) noexcept override;
};

/// What plugins that know static shapes within a batch have in common.
template <class Logged>
class ScaleBatched : public Logged {
 public:
  using Logged::Logged;
  nv::Dims getOutputDimensions(int32_t output, const nv::Dims* in, int32_t num_in) noexcept override;
  size_t getWorkspaceSize(int32_t max_batch) const noexcept override;
  int32_t enqueue(int32_t batch, const void* const* in, void* const* out, void* workspace,
                  cudaStream_t stream) noexcept override;
};

/// Of those, what an IPluginV2Ext has.
template <class Interface>
class ScaleBatchedExt : public ScaleBatched<LoggedV2Ext<Interface>> {
 public:
  using ScaleBatched<LoggedV2Ext<Interface>>::ScaleBatched;
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept override {
    return this->log_.shares_outputs;
  }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept override { return false; }
};

class ScaleIo final : public ScaleBatchedExt<nv::IPluginV2IOExt> {
 public:
  ScaleIo(PluginLog& log, float factor) : ScaleBatchedExt(log, "TestScaleIo", factor) {}
  nv::IPluginV2IOExt* clone() const noexcept override;
  void configurePlugin(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                       int32_t num_out) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) const noexcept override;
};

class ScaleExt final : public ScaleBatchedExt<nv::IPluginV2Ext> {
 public:
  ScaleExt(PluginLog& log, float factor) : ScaleBatchedExt(log, "TestScaleExt", factor) {}
  nv::IPluginV2Ext* clone() const noexcept override;
  bool supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept override;
  void configurePlugin(const nv::Dims* in, int32_t num_in, const nv::Dims* out, int32_t num_out,
                       const nv::DataType* in_types, const nv::DataType* out_types, const bool* in_broadcast,
                       const bool* out_broadcast, nv::PluginFormat format, int32_t max_batch) noexcept override;
};

/// An IPluginV2 and no more.
class ScalePlain final : public ScaleBatched<LoggedV2<nv::IPluginV2>> {
 public:
  ScalePlain(PluginLog& log, float factor) : ScaleBatched(log, "TestScalePlain", factor) {}
  nv::IPluginV2* clone() const noexcept override;
  bool supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept override;
  void configureWithFormat(const nv::Dims* in, int32_t num_in, const nv::Dims* out, int32_t num_out, nv::DataType type,
                           nv::PluginFormat format, int32_t max_batch) noexcept override;
};

/// Makes plugins of version 2, and is registered as long as it lives.
template <class Plugin>
class LoggedCreatorV2 final : public nv::IPluginCreator {
 public:
  LoggedCreatorV2(PluginLog& log, const char* name, const char* plugin_namespace = "") : log_(log), name_(name) {
    getPluginRegistry()->registerCreator(*this, plugin_namespace);
  }
  ~LoggedCreatorV2() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV2* createPlugin(const char* layer, const nv::PluginFieldCollection* fields) noexcept override;
  nv::IPluginV2* deserializePlugin(const char* layer, const void* data, size_t length) noexcept override;
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return name_; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  void setPluginNamespace(const char* text) noexcept override { namespace_ = text; }
  const char* getPluginNamespace() const noexcept override { return namespace_; }

 private:
  PluginLog& log_;
  const char* const name_;
  const char* namespace_ = "";  ///< as it was given, as in some plugins of TensorRT's
  const nv::PluginField factor_{"factor", nullptr, nv::PluginFieldType::kFLOAT32, 1};
  const nv::PluginFieldCollection names_{1, &factor_};
};

}  // namespace kiln::api::testing
