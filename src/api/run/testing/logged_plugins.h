/// Plugins for tests, written as a program writes them, which tell what was asked of them.
#pragma once

#include <NvInferRuntime.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kiln::api::testing {

namespace nv = nvinfer1;

/// What all copies of a plugin share.
struct PluginLog {
  void add(const std::string& call) {
    const std::lock_guard lock(mutex);
    calls.push_back(call);
  }
  int count(const std::string& call) const;

  std::mutex mutex;
  std::vector<std::string> calls;
  std::atomic<int> alive = 0;           ///< copies that were made and not deleted
  std::string fails_in;                 ///< the call that fails
  std::function<void()> when_attached;  ///< called in attachToContext
  bool lacks_runtime = false;           ///< plugins have no runtime part
  std::string returns_itself;           ///< "clone" or "attachToContext": the call that makes no copy
  int32_t most_combinations = 100;
  std::atomic<nv::IGpuAllocator*> allocator = nullptr;  ///< that the latest attachToContext was given
  std::vector<int32_t> tactics;
  const char* timing_id = nullptr;
  bool takes_channels_last = false;
  bool takes_both_orders = false;  ///< row-major and channels last
  size_t workspace_bytes = 0;
  int32_t num_outputs = 1;
  bool shares_outputs = false;  ///< what isOutputBroadcastAcrossBatch returns
};

/// What plugins have in common: parts, names, and a log of calls.
class LoggedPlugin : public nv::IPluginV3,
                     public nv::IPluginV3OneCore,
                     public nv::IPluginV3OneBuild,
                     public nv::IPluginV3OneRuntime {
 public:
  LoggedPlugin(PluginLog& log, const char* name) : log_(log), name_(name) { ++log.alive; }
  LoggedPlugin(const LoggedPlugin& other)
      : nv::IPluginV3(other),
        nv::IPluginV3OneCore(other),
        nv::IPluginV3OneBuild(other),
        nv::IPluginV3OneRuntime(other),
        log_(other.log_),
        name_(other.name_) {
    ++log_.alive;
  }
  ~LoggedPlugin() override { --log_.alive; }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override;
  const char* getPluginName() const noexcept override { return name_; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) noexcept override;
  size_t getWorkspaceSize(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) const noexcept override;
  int32_t getNbTactics() noexcept override { return static_cast<int32_t>(log_.tactics.size()); }
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept override;
  const char* getTimingCacheID() noexcept override { return log_.timing_id; }
  int32_t getFormatCombinationLimit() noexcept override { return log_.most_combinations; }
  int32_t setTactic(int32_t tactic) noexcept override;
  int32_t onShapeChange(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                        int32_t num_out) noexcept override;
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext* context) noexcept override;

 protected:
  /// Notes a call; whether it fails.
  bool fails(const char* call) const {
    log_.add(call);
    return log_.fails_in == call;
  }
  PluginLog& log_;
  const char* const name_;
  int32_t tactic_ = -1;
};

/// y = factor * x + tactic, and a run counts in `count`: a state of each context's copy.
class ScalePlugin final : public LoggedPlugin {
 public:
  ScalePlugin(PluginLog& log, float factor) : LoggedPlugin(log, "TestScale"), factor_(factor) {}
  nv::IPluginV3* clone() noexcept override;
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept override;
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  int32_t enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc, const void* const* in,
                  void* const* out, void* workspace, cudaStream_t stream) noexcept override;
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override;

 private:
  float factor_;
  int count_ = 0;
  nv::PluginField field_;
  nv::PluginFieldCollection fields_;
};

/// y = x, by a copy on the stream, so that it runs on any device.
class CopyPlugin final : public LoggedPlugin {
 public:
  explicit CopyPlugin(PluginLog& log) : LoggedPlugin(log, "TestCopy") {}
  nv::IPluginV3* clone() noexcept override { return new CopyPlugin(*this); }
  int32_t getNbOutputs() const noexcept override { return 1; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept override;
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  int32_t enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc, const void* const* in,
                  void* const* out, void* workspace, cudaStream_t stream) noexcept override;
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }
};

/// Of x[n]: y[rows, k] has in each row the k elements above 0, and k is the second output, a size. `rows` is element 0
/// of the shape input.
class PositivePlugin final : public LoggedPlugin {
 public:
  explicit PositivePlugin(PluginLog& log) : LoggedPlugin(log, "TestPositive") {}
  nv::IPluginV3* clone() noexcept override { return fails("clone") ? nullptr : new PositivePlugin(*this); }
  int32_t getNbOutputs() const noexcept override { return 2; }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept override;
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  int32_t enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc, const void* const* in,
                  void* const* out, void* workspace, cudaStream_t stream) noexcept override;
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return nullptr; }
};

/// Makes plugins of either kind from fields, and is registered as long as it lives.
template <class Plugin>
class LoggedCreator final : public nv::IPluginCreatorV3One {
 public:
  LoggedCreator(PluginLog& log, const char* name) : log_(log), name_(name) {
    getPluginRegistry()->registerCreator(*this, "");
  }
  ~LoggedCreator() override { getPluginRegistry()->deregisterCreator(*this); }
  nv::IPluginV3* createPlugin(const char* layer, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase) noexcept override {
    log_.add(phase == nv::TensorRTPhase::kRUNTIME ? std::string("createPlugin ") + layer : "createPlugin");
    if (log_.fails_in == "createPlugin") return nullptr;
    return make(*fields);
  }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &names_; }
  const char* getPluginName() const noexcept override { return name_; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const char* getPluginNamespace() const noexcept override { return ""; }

 private:
  nv::IPluginV3* make(const nv::PluginFieldCollection& fields);

  PluginLog& log_;
  const char* const name_;
  const nv::PluginField factor_{"factor", nullptr, nv::PluginFieldType::kFLOAT32, 1};
  const nv::PluginFieldCollection names_{1, &factor_};
};

}  // namespace kiln::api::testing
