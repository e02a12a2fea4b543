/// Plugins of version 2 of each interface, whose answers a test chooses, and which write down what they are asked.
/// Through the public API alone.
#pragma once

#include "recorded.h"

namespace kiln::promises {

enum class KindV2 { kDynamicExt, kIoExt, kExt, kPlain };

/// One enqueue.
struct EnqueueV2 {
  const void* const* inputs;
  void* const* outputs;
  void* workspace;
  int64_t count;    ///< elements of input 0
  int runs_before;  ///< of this copy
};

/// What a plugin says and does. By default it copies its input, a row-major FP32 tensor. One of kIoExt or kExt that has
/// no inputs has outputs of 2x3 within the batch.
struct BehaviourV2 {
  KindV2 kind = KindV2::kDynamicExt;
  const char *name = "RecordedV2", *version = "1";
  int32_t num_outputs = 1;
  size_t workspace_bytes = 0;
  std::string state = "state";  ///< that is serialized
  std::string fails_in;         ///< the call that returns an error code, or null, or "no"
  bool is_its_own_clone = false, writes_too_much = false;
  bool takes_channels_last = false;
  std::function<int32_t(const EnqueueV2&)> run;
  std::function<void(cudnnContext*, cublasContext*, nv::IGpuAllocator*)> attach;
};

/// A plugin of the behaviour's kind, which its `destroy` deletes. `count`: elements of a sample, where it is
/// configured.
nv::IPluginV2* make_v2(const BehaviourV2& behaviour, Journal& journal, std::string state, int64_t count = 0);

/// Makes such plugins of namespace "old", and is registered while it lives.
class RecordedCreatorV2 final : public nv::IPluginCreator {
 public:
  RecordedCreatorV2(const BehaviourV2& behaviour, Journal& journal);
  ~RecordedCreatorV2() override;
  const char* getPluginName() const noexcept override { return "RecordedV2"; }
  const char* getPluginVersion() const noexcept override { return "1"; }
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  nv::IPluginV2* createPlugin(const char* layer, const nv::PluginFieldCollection* fields) noexcept override;
  nv::IPluginV2* deserializePlugin(const char* layer, const void* data, size_t length) noexcept override;
  void setPluginNamespace(const char* text) noexcept override { space_ = text; }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }
  std::string given;  ///< the state of the latest plugin that was made

 private:
  const BehaviourV2& behaviour_;
  Journal& journal_;
  std::string space_;
  const nv::PluginFieldCollection none_{};
};

}  // namespace kiln::promises
