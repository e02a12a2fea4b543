#include "recorded_v2.h"

#include <algorithm>
#include <cstring>

namespace kiln::promises {
namespace {

std::string texts(const nv::Dims* in, int32_t num_in, const nv::Dims* out, int32_t num_out) {
  std::string result;
  for (int32_t i = 0; i < num_in; ++i) result += (i ? ", " : " ") + text(in[i]);
  result += " ->";
  for (int32_t i = 0; i < num_out; ++i) result += (i ? ", " : " ") + text(out[i]);
  return result;
}

/// Whether what was configured is known to a plan's plugin by its bytes alone: nobody configures it again.
bool keeps_count(KindV2 kind) { return kind == KindV2::kIoExt || kind == KindV2::kExt; }

/// What plugins of all interfaces of version 2 have in common.
template <class Interface>
class RecordedOf : public Interface {
 public:
  RecordedOf(const BehaviourV2& behaviour, Journal& journal, std::string state, int64_t count)
      : behaviour_(behaviour), journal_(journal), state_(std::move(state)), count_(count) {
    journal.born();
  }
  RecordedOf(const RecordedOf& other)
      : Interface(other),
        behaviour_(other.behaviour_),
        journal_(other.journal_),
        state_(other.state_),
        space_(other.space_),
        count_(other.count_) {
    journal_.born();
  }
  ~RecordedOf() override { journal_.died(); }

  const char* getPluginType() const noexcept override { return behaviour_.name; }
  const char* getPluginVersion() const noexcept override { return behaviour_.version; }
  int32_t getNbOutputs() const noexcept override { return behaviour_.num_outputs; }
  int32_t initialize() noexcept override { return fails("initialize") ? 21 : 0; }
  void terminate() noexcept override { journal_.add("terminate"); }
  size_t getSerializationSize() const noexcept override {
    return state_.size() + (keeps_count(behaviour_.kind) ? sizeof(count_) : 0);
  }
  void serialize(void* buffer) const noexcept override {
    journal_.add("serialize");
    auto* const bytes = static_cast<char*>(buffer);
    std::memcpy(bytes, state_.data(), state_.size());
    if (keeps_count(behaviour_.kind)) std::memcpy(bytes + state_.size(), &count_, sizeof(count_));
    if (behaviour_.writes_too_much) bytes[getSerializationSize()] = '!';
  }
  void destroy() noexcept override {
    journal_.add("destroy");
    delete this;
  }
  void setPluginNamespace(const char* text) noexcept override { space_ = text; }
  const char* getPluginNamespace() const noexcept override { return space_.c_str(); }

 protected:
  /// Writes a call down; whether it is to fail.
  bool fails(const std::string& call, const std::string& more = "") const {
    journal_.add(call + more);
    return behaviour_.fails_in == call;
  }
  template <class Self>
  auto* clone_of(const Self& self) const {
    if (behaviour_.is_its_own_clone) return const_cast<Self*>(&self);
    return fails("clone") ? nullptr : new Self(self);
  }
  int32_t run(int64_t count, const void* const* inputs, void* const* outputs, void* workspace) {
    const int before = runs_++;
    if (fails("enqueue")) return 22;
    if (behaviour_.run) return behaviour_.run({inputs, outputs, workspace, count, before});
    std::memcpy(outputs[0], inputs[0], static_cast<size_t>(count) * sizeof(float));
    return 0;
  }

  const BehaviourV2& behaviour_;
  Journal& journal_;
  const std::string state_;
  std::string space_;
  int64_t count_ = 0;  ///< elements of input 0 within a batch, of a kind that enqueue tells none
  int runs_ = 0;
};

/// What those of IPluginV2Ext and what is made of it have in common.
template <class Interface>
class RecordedExtOf : public RecordedOf<Interface> {
 public:
  using RecordedOf<Interface>::RecordedOf;
  nv::DataType getOutputDataType(int32_t, const nv::DataType* in, int32_t num_in) const noexcept override {
    this->journal_.add("getOutputDataType");
    return num_in > 0 ? in[0] : nv::DataType::kFLOAT;
  }
  void attachToContext(cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator* allocator) noexcept override {
    this->journal_.add("attachToContext");
    if (this->behaviour_.attach) this->behaviour_.attach(cudnn, cublas, allocator);
  }
  void detachFromContext() noexcept override { this->journal_.add("detachFromContext"); }
};

bool takes(const BehaviourV2& behaviour, nv::DataType type, nv::TensorFormat format) {
  if (behaviour.fails_in == "supportsFormat" || type != nv::DataType::kFLOAT) return false;
  return format == nv::TensorFormat::kLINEAR || (behaviour.takes_channels_last && format == nv::TensorFormat::kHWC);
}

class DynamicV2 final : public RecordedExtOf<nv::IPluginV2DynamicExt> {
 public:
  using RecordedExtOf::RecordedExtOf;
  nv::IPluginV2DynamicExt* clone() const noexcept override { return clone_of(*this); }
  nv::DimsExprs getOutputDimensions(int32_t, const nv::DimsExprs* in, int32_t, nv::IExprBuilder&) noexcept override {
    return fails("getOutputDimensions") ? nv::DimsExprs{-1, {}} : in[0];
  }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                 int32_t) noexcept override {
    journal_.add("supportsFormat");
    return takes(behaviour_, tensors[position].type, tensors[position].format) &&
           tensors[position].format == tensors[0].format;
  }
  void configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t, const nv::DynamicPluginTensorDesc* out,
                       int32_t) noexcept override {
    journal_.add("configurePlugin " + text(in[0].desc.dims) + " of " + text(in[0].min) + " to " + text(in[0].max) +
                 " -> " + text(out[0].desc.dims));
  }
  size_t getWorkspaceSize(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*,
                          int32_t) const noexcept override {
    journal_.add("getWorkspaceSize");
    return behaviour_.workspace_bytes;
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc*, const void* const* inputs,
                  void* const* outputs, void* workspace, cudaStream_t) noexcept override {
    return run(volume(in[0].dims), inputs, outputs, workspace);
  }
};

/// Within the batch, of outputs of a plugin without inputs.
constexpr nv::Dims kOfNoInputs{2, {2, 3}};

/// What those that know static shapes within a batch have in common.
template <class Recorded>
class BatchedV2 : public Recorded {
 public:
  using Recorded::Recorded;
  nv::Dims getOutputDimensions(int32_t, const nv::Dims* in, int32_t num_in) noexcept override {
    if (this->fails("getOutputDimensions")) return {-1, {}};
    return num_in > 0 ? in[0] : kOfNoInputs;
  }
  size_t getWorkspaceSize(int32_t) const noexcept override {
    this->journal_.add("getWorkspaceSize");
    return this->behaviour_.workspace_bytes;
  }
  int32_t enqueue(int32_t batch, const void* const* inputs, void* const* outputs, void* workspace,
                  cudaStream_t) noexcept override {
    return this->run(batch * this->count_, inputs, outputs, workspace);
  }
};
template <class Interface>
class BatchedExtV2 : public BatchedV2<RecordedExtOf<Interface>> {
 public:
  using BatchedV2<RecordedExtOf<Interface>>::BatchedV2;
  bool isOutputBroadcastAcrossBatch(int32_t, const bool*, int32_t) const noexcept override { return false; }
  bool canBroadcastInputAcrossBatch(int32_t) const noexcept override { return false; }
};

class IoV2 final : public BatchedExtV2<nv::IPluginV2IOExt> {
 public:
  using BatchedExtV2::BatchedExtV2;
  nv::IPluginV2IOExt* clone() const noexcept override { return clone_of(*this); }
  bool supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                 int32_t) const noexcept override {
    journal_.add("supportsFormat");
    return takes(behaviour_, tensors[position].type, tensors[position].format) &&
           tensors[position].format == tensors[0].format;
  }
  void configurePlugin(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                       int32_t) noexcept override {
    journal_.add("configurePlugin" + texts(num_in > 0 ? &in[0].dims : nullptr, std::min(num_in, 1), &out[0].dims, 1));
    count_ = volume(num_in > 0 ? in[0].dims : kOfNoInputs);
  }
};

class ExtV2 final : public BatchedExtV2<nv::IPluginV2Ext> {
 public:
  using BatchedExtV2::BatchedExtV2;
  nv::IPluginV2Ext* clone() const noexcept override { return clone_of(*this); }
  bool supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept override {
    journal_.add("supportsFormat");
    return takes(behaviour_, type, format);
  }
  void configurePlugin(const nv::Dims* in, int32_t num_in, const nv::Dims* out, int32_t num_out, const nv::DataType*,
                       const nv::DataType*, const bool*, const bool*, nv::PluginFormat, int32_t) noexcept override {
    journal_.add("configurePlugin" + texts(in, num_in, out, num_out));
    count_ = volume(num_in > 0 ? in[0] : kOfNoInputs);
  }
};

class PlainV2 final : public BatchedV2<RecordedOf<nv::IPluginV2>> {
 public:
  using BatchedV2::BatchedV2;
  nv::IPluginV2* clone() const noexcept override { return clone_of(*this); }
  bool supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept override {
    journal_.add("supportsFormat");
    return takes(behaviour_, type, format);
  }
  void configureWithFormat(const nv::Dims* in, int32_t num_in, const nv::Dims* out, int32_t num_out, nv::DataType,
                           nv::PluginFormat, int32_t) noexcept override {
    journal_.add("configureWithFormat" + texts(in, num_in, out, num_out));
    count_ = volume(in[0]);
  }
};

}  // namespace

nv::IPluginV2* make_v2(const BehaviourV2& behaviour, Journal& journal, std::string state, int64_t count) {
  switch (behaviour.kind) {
    case KindV2::kDynamicExt: return new DynamicV2(behaviour, journal, std::move(state), count);
    case KindV2::kIoExt: return new IoV2(behaviour, journal, std::move(state), count);
    case KindV2::kExt: return new ExtV2(behaviour, journal, std::move(state), count);
    case KindV2::kPlain: return new PlainV2(behaviour, journal, std::move(state), count);
  }
  return nullptr;
}

RecordedCreatorV2::RecordedCreatorV2(const BehaviourV2& behaviour, Journal& journal)
    : behaviour_(behaviour), journal_(journal) {
  getPluginRegistry()->registerCreator(*this, "old");
}
RecordedCreatorV2::~RecordedCreatorV2() { getPluginRegistry()->deregisterCreator(*this); }

nv::IPluginV2* RecordedCreatorV2::createPlugin(const char*, const nv::PluginFieldCollection*) noexcept {
  return make_v2(behaviour_, journal_, behaviour_.state);
}

nv::IPluginV2* RecordedCreatorV2::deserializePlugin(const char* layer, const void* data, size_t length) noexcept {
  journal_.add(std::string("deserializePlugin ") + layer);
  if (behaviour_.fails_in == "deserializePlugin") return nullptr;
  int64_t count = 0;
  const auto* const bytes = static_cast<const char*>(data);
  if (keeps_count(behaviour_.kind)) std::memcpy(&count, bytes + (length -= sizeof count), sizeof count);
  given.assign(bytes, length);
  return make_v2(behaviour_, journal_, given, count);
}

}  // namespace kiln::promises
