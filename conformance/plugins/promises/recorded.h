/// A plugin whose answers a test chooses, and which writes down what it is asked. Through the public API alone.
#pragma once

#include <NvInfer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kiln::promises {

namespace nv = nvinfer1;

/// What all copies of a plugin were asked, in order, and how many copies there are.
class Journal {
 public:
  void add(const std::string& call);
  /// Calls whose text begins with `start`.
  int count(const std::string& start) const;
  /// The place of the first such call; the number of all calls where there is none.
  size_t first(const std::string& start) const;
  /// The calls without those of `supportsFormatCombination` and of names and parts, each run of equal ones once.
  std::vector<std::string> story() const;
  std::vector<std::string> all() const;
  void clear();
  void born() { ++alive_; }
  void died() { --alive_; }
  int alive() const { return alive_; }
  std::function<void(const std::string& call)> heard;  ///< on the thread of the call

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  std::atomic<int> alive_ = 0;
};

/// One enqueue.
struct Enqueue {
  const nv::PluginTensorDesc *in, *out;
  const void* const* inputs;
  void* const* outputs;
  void* workspace;
  int32_t tactic;
  int runs_before;  ///< of this copy
  cudaStream_t stream;
};
struct Field {
  std::string name;
  nv::PluginFieldType type;
  int32_t length;
  std::vector<std::byte> data;
  bool operator==(const Field&) const = default;
};

/// What a plugin says and does. By default it copies its input, a row-major FP32 tensor.
struct Behaviour {
  std::string name = "Recorded", version = "1", space;
  bool lacks_name = false, lacks_version = false;  ///< the plugin returns null
  int32_t num_outputs = 1;
  std::vector<int32_t> tactics;
  int32_t limit = 100;
  const char* timing_id = nullptr;
  const char* metadata = nullptr;
  size_t workspace_bytes = 0;
  std::string fails_in;       ///< the call that returns an error code, or null
  std::vector<Field> fields;  ///< to be serialized
  bool has_build_part = true;
  std::function<nv::DataType(int32_t output, const nv::DataType* in)> type;
  std::function<void(const nv::DimsExprs* in, const nv::DimsExprs* shapes, nv::DimsExprs* out, nv::IExprBuilder&)>
      shapes;
  std::function<bool(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in)> takes;
  std::function<int32_t(const Enqueue&)> run;
  std::function<int32_t()> reshape;  ///< in onShapeChange
  std::function<void(const nv::DynamicPluginTensorDesc*in, const nv::DynamicPluginTensorDesc*out)> configure, workspace;
  std::function<void(nv::IPluginResourceContext*)> attach;
};

int64_t volume(const nv::Dims& dims);
bool is_linear_float(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in);
std::string text(const nv::Dims& dims);  ///< "2x3"

class Recorded final : public nv::IPluginV3,
                       public nv::IPluginV3OneCore,
                       public nv::IPluginV3OneBuild,
                       public nv::IPluginV3OneRuntime {
 public:
  Recorded(const Behaviour& behaviour, Journal& journal) : behaviour_(behaviour), journal_(journal) { journal.born(); }
  Recorded(const Recorded& other);
  ~Recorded() override { journal_.died(); }

  nv::IPluginCapability* getCapabilityInterface(nv::PluginCapabilityType type) noexcept override;
  nv::IPluginV3* clone() noexcept override;

  const char* getPluginName() const noexcept override {
    return behaviour_.lacks_name ? nullptr : behaviour_.name.c_str();
  }
  const char* getPluginVersion() const noexcept override {
    return behaviour_.lacks_version ? nullptr : behaviour_.version.c_str();
  }
  const char* getPluginNamespace() const noexcept override { return behaviour_.space.c_str(); }

  int32_t configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) noexcept override;
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept override;
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override;
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  int32_t getNbOutputs() const noexcept override { return behaviour_.num_outputs; }
  size_t getWorkspaceSize(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) const noexcept override;
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept override;
  int32_t getNbTactics() noexcept override;
  const char* getTimingCacheID() noexcept override;
  int32_t getFormatCombinationLimit() noexcept override;
  const char* getMetadataString() noexcept override { return behaviour_.metadata; }

  int32_t setTactic(int32_t tactic) noexcept override;
  int32_t onShapeChange(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                        int32_t num_out) noexcept override;
  int32_t enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc, const void* const* in,
                  void* const* out, void* workspace, cudaStream_t stream) noexcept override;
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext* context) noexcept override;
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override;

 private:
  /// Writes a call down; whether it is to fail.
  bool fails(const char* call, const std::string& more = "") const;

  const Behaviour& behaviour_;
  Journal& journal_;
  int32_t tactic_ = -1;
  int runs_ = 0;
  std::vector<nv::PluginField> fields_;
  nv::PluginFieldCollection collection_{};
};

/// Makes such plugins, and is registered while it lives.
class RecordedCreator final : public nv::IPluginCreatorV3One {
 public:
  RecordedCreator(const Behaviour& behaviour, Journal& journal);
  ~RecordedCreator() override;
  nv::IPluginV3* createPlugin(const char* layer, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase) noexcept override;
  const nv::PluginFieldCollection* getFieldNames() noexcept override { return &none_; }
  const char* getPluginName() const noexcept override { return behaviour_.name.c_str(); }
  const char* getPluginVersion() const noexcept override { return behaviour_.version.c_str(); }
  const char* getPluginNamespace() const noexcept override { return behaviour_.space.c_str(); }
  std::vector<Field> given;  ///< the fields of the latest plugin that was made

 private:
  const Behaviour& behaviour_;
  Journal& journal_;
  bool is_registered_ = false;
  const nv::PluginFieldCollection none_{};
};

}  // namespace kiln::promises
