#include "plugin/v2_plugin.h"

#include <algorithm>

#include "plugin/api_tensors.h"
#include "plugin/code_keeper.h"
#include "plugin/failure_scope.h"
#include "plugin/library.h"
#include "plugin/plugin_call.h"
#include "plugin/plugin_stream.h"
#include "plugin/v2_interface.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

constexpr std::string_view kAttach = "attachToContext";

struct Destroy {
  void operator()(nv::IPluginV2* plugin) const { plugin->destroy(); }
};
/// A plugin, with the namespace that it may point to.
struct Owned {
  std::shared_ptr<const std::string> plugin_namespace;
  std::unique_ptr<nv::IPluginV2, Destroy> plugin;
  nv::IPluginV2* operator->() const { return plugin.get(); }
  nv::IPluginV2& operator*() const { return *plugin; }

  Result<Owned> clone(const PluginIdentity& identity) const {
    nv::IPluginV2* const clone = plugin->clone();
    if (!clone) return error(Code::kDevice, identity, ": clone returned null");
    if (clone == plugin.get()) return error(Code::kDevice, identity, ": clone returned the plugin itself, not a copy");
    return Owned{plugin_namespace, std::unique_ptr<nv::IPluginV2, Destroy>(clone)};
  }
};

/// Returns the plugin's serialized bytes as one field.
Result<PluginField> serialized(const nv::IPluginV2& plugin, const PluginIdentity& identity) {
  constexpr size_t kMost = INT32_MAX;  // of a field
  constexpr size_t kGuard = 64;        // bytes behind the buffer, which show a plugin that writes more than it said
  constexpr std::byte kMark{0xa5};
  const size_t size = plugin.getSerializationSize();
  TRY(require(size <= kMost, identity, ": getSerializationSize returned ", size, "; at most ", kMost,
              " bytes are possible"));
  Bytes bytes(size);
  bytes.resize(size + kGuard, kMark);
  plugin.serialize(bytes.data());
  TRY(require(std::ranges::all_of(std::span(bytes).subspan(size), [](std::byte b) { return b == kMark; }), identity,
              ": serialize wrote more than the ", size, " bytes that getSerializationSize returned"));
  bytes.resize(size);
  return PluginField{.name = "serialized",
                     .type = PluginFieldType::kUnknown,
                     .count = static_cast<int64_t>(size),
                     .data = std::move(bytes)};
}

/// A clone that belongs to a context. Its interface says that it is initialized as soon as it is made.
class V2Instance final : public PluginInstance {
 public:
  static Result<std::unique_ptr<PluginInstance>> attach(const Owned& plugin, const PluginIdentity& identity,
                                                        const Services& services) {
    auto made = std::make_unique<V2Instance>(identity, services.host_streams);
    TRY(made->stream_.create());
    const PluginStream::Call call(made->stream_);
    made->plugin_ = TRY(plugin.clone(identity));
    made->interface_ = TRY(in_context(V2Interface::of(*made->plugin_), [&] { return str(identity, ": clone"); }));
    nv::IPluginV2Ext* const ext = made->interface_->ext();
    if (!ext) return made;
    if (services.make_handles)
      made->handles_ = TRY(in_context(services.make_handles(), [&] { return str(identity, ": attachToContext"); }));
    const LibraryHandles* const handles = made->handles_.get();
    ext->attachToContext(handles ? handles->cudnn : nullptr, handles ? handles->cublas : nullptr, services.allocator);
    made->is_attached_ = true;
    return made;
  }
  V2Instance(const PluginIdentity& identity, HostStreams* streams) : identity_(identity), stream_(streams) {}
  ~V2Instance() override {
    static_cast<void>(stream_.wait());  // nobody is left to hear of an error
    if (is_attached_) interface_->ext()->detachFromContext();
  }

  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    TRY(require_named_formats(identity_, inputs));
    TRY(require_named_formats(identity_, outputs));
    if (const int32_t count = plugin_->getNbOutputs(); count != std::ssize(outputs))
      return error(Code::kCorrupt, identity_, ": getNbOutputs returned ", count, "; the plan has ", outputs.size(),
                   " outputs");
    const PluginStream::Call call(stream_);
    return in_context(interface_->change_shapes(inputs, outputs), [&] { return str(identity_); });
  }
  Status enqueue(const PluginRun& run) override {
    return stream_.run(identity_, run, [&](cudaStream_t stream) { return interface_->enqueue(run, stream); });
  }

 private:
  const PluginIdentity identity_;
  PluginStream stream_;
  std::unique_ptr<LibraryHandles> handles_;  ///< null: there are none
  Owned plugin_;
  std::unique_ptr<V2Interface> interface_;
  bool is_attached_ = false;
};

class V2Plugin final : public PluginObject {
 public:
  V2Plugin(Owned plugin, std::unique_ptr<V2Interface> interface, PluginIdentity identity, const Services& services)
      : plugin_(std::move(plugin)),
        interface_(std::move(interface)),
        identity_(std::move(identity)),
        services_(services) {}
  ~V2Plugin() override {
    if (is_initialized_) plugin_->terminate();
  }

  const PluginIdentity& identity() const override { return identity_; }
  int num_outputs() const override { return plugin_->getNbOutputs(); }
  Status infer(InferContext& cx, int num_tensors) const override {
    TRY(require(num_tensors == cx.num_inputs(), identity_, " has ", cx.num_inputs() - num_tensors,
                " shape inputs; only plugins of version 3 take them"));
    const FailureScope failure;
    return failure.explained(interface_->infer(cx, identity_), identity_);
  }
  bool may_have_shape_inputs() const override { return false; }
  const std::vector<int>& size_outputs() const override { return no_sizes_; }
  bool knows_scales() const override { return interface_->knows_scales(); }
  bool has_batch() const { return interface_->has_batch(); }
  bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const override {
    return interface_->supports(tensors, num_inputs, position);
  }
  int most_combinations() const override { return interface_->most_combinations(); }
  Result<Configured> configure(std::span<const PluginTensor> inputs,
                               std::span<const PluginTensor> outputs) const override;
  Result<std::vector<PluginField>> fields() const override {
    return std::vector<PluginField>{TRY(serialized(*plugin_, identity_))};
  }
  Result<std::unique_ptr<PluginInstance>> attach(int) const override {
    CHECK(is_initialized_);
    TRY(PluginCall::require_outside(*this, kAttach));
    const PluginCall call(*this, kAttach);
    const FailureScope failure;
    return failure.explained(V2Instance::attach(plugin_, identity_, services_), identity_);
  }
  /// Called once, before anyone attaches it.
  Status initialize() const {
    TRY(returned(identity_, "initialize", plugin_->initialize()));
    is_initialized_ = true;
    return {};
  }
  nv::IPluginV2* plugin() const { return plugin_.plugin.get(); }
  void give(MakeLibraryHandles make) const { services_.make_handles = std::move(make); }

 private:
  const Owned plugin_;
  const std::unique_ptr<V2Interface> interface_;
  const PluginIdentity identity_;
  mutable Services services_;  ///< a build says which handles there are, before it configures copies
  const std::vector<int> no_sizes_;
  mutable bool is_initialized_ = false;
};

Result<std::shared_ptr<const V2Plugin>> adopt(Owned plugin, PluginIdentity identity, const Services& services) {
  auto interface = TRY(in_context(V2Interface::of(*plugin), [&] { return str(identity); }));
  TRY(require_output_count(identity, plugin->getNbOutputs()));
  return std::make_shared<const V2Plugin>(std::move(plugin), std::move(interface), std::move(identity), services);
}

Result<PluginObject::Configured> V2Plugin::configure(std::span<const PluginTensor> inputs,
                                                     std::span<const PluginTensor> outputs) const {
  const auto made = TRY(adopt(TRY(plugin_.clone(identity_)), identity_, services_));
  TRY(in_context(made->interface_->configure(inputs, outputs), [&] { return str(identity_); }));
  TRY(made->initialize());
  const size_t workspace = made->interface_->workspace_bytes(inputs, outputs);
  TRY(require(workspace <= size_t{INT64_MAX}, identity_, ": getWorkspaceSize returned ", workspace));
  Configured result{.object = made, .tactics = {0}, .generation = PluginGeneration::kV2};
  result.workspace_bytes = static_cast<int64_t>(workspace);
  return result;
}

}  // namespace

Result<std::shared_ptr<const PluginObject>> adopt_v2(nv::IPluginV2* plugin, nv::TensorRTPhase phase,
                                                     const Services& services,
                                                     std::shared_ptr<const std::string> plugin_namespace) {
  Owned owned{std::move(plugin_namespace), std::unique_ptr<nv::IPluginV2, Destroy>(plugin)};
  if (owned.plugin_namespace) plugin->setPluginNamespace(owned.plugin_namespace->c_str());
  PluginIdentity identity = TRY(
      identity_of("getPluginType", plugin->getPluginType(), plugin->getPluginVersion(), plugin->getPluginNamespace()));
  auto code = keep_code_of(plugin);
  auto made = TRY(adopt(std::move(owned), std::move(identity), services));
  if (phase == nv::TensorRTPhase::kRUNTIME) TRY(made->initialize());
  return with_code(std::move(made), std::move(code));
}

nv::IPluginV2* v2_plugin_of(const PluginObject& object) {
  const auto* known = dynamic_cast<const V2Plugin*>(&object);  // of our own classes, which are made in this file
  return known ? known->plugin() : nullptr;
}

bool has_hidden_batch(const PluginObject& object) {
  const auto* known = dynamic_cast<const V2Plugin*>(&object);
  return known && known->has_batch();
}

void give_handles(const PluginObject& object, MakeLibraryHandles make) {
  if (const auto* known = dynamic_cast<const V2Plugin*>(&object)) known->give(std::move(make));
}

}  // namespace kiln::plugin
