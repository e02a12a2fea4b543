#include "plugin/v3_plugin.h"

#include <algorithm>
#include <mutex>

#include "api/base/convert.h"
#include "plugin/api_tensors.h"
#include "plugin/code_keeper.h"
#include "plugin/failure_scope.h"
#include "plugin/fields.h"
#include "plugin/kernel_launch.h"
#include "plugin/library.h"
#include "plugin/parts.h"
#include "plugin/plugin_call.h"
#include "plugin/plugin_stream.h"
#include "plugin/quick_plugin.h"
#include "plugin/shape_expressions.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

using Build = nv::v_1_0::IPluginV3OneBuild;
constexpr std::string_view kAttach = "attachToContext", kConfigure = "configurePlugin", kKernel = "getKernel";

/// The parts of a plugin that it has.
struct Parts {
  nv::IPluginV3OneCore* core = nullptr;
  Build* build = nullptr;
  nv::IPluginV3OneRuntime* runtime = nullptr;

  enum class Runtime : bool { kNone, kNeeded };
  static Result<Parts> of(nv::IPluginV3& plugin, nv::TensorRTPhase phase, Runtime runtime = Runtime::kNeeded) {
    using Type = nv::PluginCapabilityType;
    Parts parts;
    parts.core = TRY(part_of<nv::IPluginV3OneCore>(plugin, Type::kCORE, kV3Core));
    TRY(require(parts.core, "getCapabilityInterface(kCORE) returned null"));
    if (runtime == Runtime::kNeeded) {
      parts.runtime = TRY(part_of<nv::IPluginV3OneRuntime>(plugin, Type::kRUNTIME, "PLUGIN_V3ONE_RUNTIME"));
      TRY(require(parts.runtime, "getCapabilityInterface(kRUNTIME) returned null"));
    }
    if (phase != nv::TensorRTPhase::kBUILD) {  // a plugin of a plan need not have it; many do
      if (const auto build = part_of<Build>(plugin, Type::kBUILD, "PLUGIN_V3ONE_BUILD")) parts.build = *build;
      return parts;
    }
    parts.build = TRY(part_of<Build>(plugin, Type::kBUILD, "PLUGIN_V3ONE_BUILD"));
    TRY(require(parts.build, "getCapabilityInterface(kBUILD) returned null"));
    return parts;
  }
};

/// "plugin 'Pad'", for errors; "the plugin" where no core part tells its name.
std::string name_of(nv::IPluginV3& plugin) {
  auto* const core =
      part_as<nv::IPluginV3OneCore>(plugin.getCapabilityInterface(nv::PluginCapabilityType::kCORE), kV3Core);
  const char* const name = core ? core->getPluginName() : nullptr;
  return name && *name ? str("plugin '", name, "'") : "the plugin";
}

class ResourceContext final : public nv::IPluginResourceContext {
 public:
  explicit ResourceContext(const Services& services) : services_(services) {}
  nv::IGpuAllocator* getGpuAllocator() const noexcept override { return services_.allocator; }
  nv::IErrorRecorder* getErrorRecorder() const noexcept override {
    return services_.recorder ? services_.recorder->load(std::memory_order_acquire) : nullptr;
  }

 private:
  const Services services_;
};

/// A clone that belongs to a context.
class V3Instance final : public PluginInstance {
 public:
  /// `plugin` has the runtime part `runtime`. Several threads may attach it at once.
  static Result<std::unique_ptr<PluginInstance>> attach(const nv::IPluginV3& plugin, nv::IPluginV3OneRuntime& runtime,
                                                        const PluginIdentity& identity, int tactic,
                                                        const Services& services) {
    auto made = std::make_unique<V3Instance>(identity, services);
    TRY(made->stream_.create());
    const PluginStream::Call call(made->stream_);
    nv::IPluginV3* const attached = runtime.attachToContext(&made->resources_);
    if (attached == &plugin)
      return error(Code::kDevice, identity, ": attachToContext returned the plugin itself, not a copy");
    made->plugin_.reset(attached);
    if (!made->plugin_) return error(Code::kDevice, identity, ": attachToContext returned null");
    made->runtime_ = TRY(in_context(Parts::of(*made->plugin_, nv::TensorRTPhase::kRUNTIME), [&] {
                       return str(identity, ": attachToContext");
                     })).runtime;
    TRY(returned(identity, "setTactic", made->runtime_->setTactic(tactic)));
    return made;
  }
  V3Instance(const PluginIdentity& identity, const Services& services)
      : identity_(identity), stream_(services.host_streams), resources_(services) {}
  ~V3Instance() override { static_cast<void>(stream_.wait()); }  // nobody is left to hear of an error

  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    TRY(require_named_formats(identity_, inputs));
    TRY(require_named_formats(identity_, outputs));
    inputs_ = descs_of(inputs);
    outputs_ = descs_of(outputs);
    const PluginStream::Call call(stream_);
    const FailureScope failure;
    const int32_t code =
        runtime_->onShapeChange(inputs_.data(), count_of(inputs_), outputs_.data(), count_of(outputs_));
    return failure.explained(returned(identity_, "onShapeChange", code), identity_);
  }

  Status enqueue(const PluginRun& run) override {
    return stream_.run(identity_, run, [&](cudaStream_t stream) {
      return runtime_->enqueue(inputs_.data(), outputs_.data(), run.inputs, run.outputs, run.workspace, stream);
    });
  }

 private:
  const PluginIdentity identity_;
  PluginStream stream_;
  ResourceContext resources_;
  std::unique_ptr<nv::IPluginV3> plugin_;
  nv::IPluginV3OneRuntime* runtime_ = nullptr;
  std::vector<nv::PluginTensorDesc> inputs_, outputs_;
};

class V3Plugin final : public PluginObject {
 public:
  /// What the plugin is around: a quick one, or one that is ahead of time, if it is an adapter of ours.
  enum class Around { kNothing, kQuick, kAheadOfTime };
  static Result<std::shared_ptr<const V3Plugin>> adopt(std::unique_ptr<nv::IPluginV3> plugin, Around around,
                                                       nv::TensorRTPhase phase, const Services& services);
  V3Plugin(std::unique_ptr<nv::IPluginV3> plugin, Around around, const Parts& parts, PluginIdentity identity,
           const Services& services)
      : plugin_(std::move(plugin)),
        around_(around),
        parts_(parts),
        identity_(std::move(identity)),
        services_(services) {}

  const PluginIdentity& identity() const override { return identity_; }
  int num_outputs() const override { return parts_.build ? parts_.build->getNbOutputs() : -1; }
  Status infer(InferContext& cx, int num_tensors) const override {
    const FailureScope failure;
    return failure.explained(ask_outputs(cx, num_tensors), identity_);
  }
  const std::vector<int>& size_outputs() const override { return size_outputs_; }
  bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const override {
    const auto descs = dynamic_descs_of(tensors);
    return parts_.build->supportsFormatCombination(position, descs.data(), num_inputs, count_of(descs) - num_inputs);
  }
  Status search_failure() const override {
    if (around_ == Around::kNothing) return {};
    return in_context(listing_failure(*plugin_), [&] { return str(identity_); });
  }
  int most_combinations() const override { return parts_.build->getFormatCombinationLimit(); }
  std::vector<int> aliased_inputs() const override;
  Result<Configured> configure(std::span<const PluginTensor> inputs,
                               std::span<const PluginTensor> outputs) const override;
  std::string metadata() const override {
    const char* const text = parts_.build ? parts_.build->getMetadataString() : nullptr;
    return text ? text : "";
  }
  bool is_kernel() const override { return around_ == Around::kAheadOfTime; }
  Result<PluginKernel> kernel(InferContext& cx, std::span<const PluginTensor> inputs,
                              std::span<const PluginTensor> outputs, int tactic) const override;
  Result<std::vector<PluginField>> fields() const override {
    CHECK(parts_.runtime);
    return in_context(fields_from_api(parts_.runtime->getFieldsToSerialize()),
                      [&] { return str(identity_, ": getFieldsToSerialize"); });
  }
  Result<std::unique_ptr<PluginInstance>> attach(int tactic) const override {
    CHECK(parts_.runtime);
    TRY(PluginCall::require_outside(*this, kAttach));
    const PluginCall call(*this, kAttach);
    const FailureScope failure;
    return failure.explained(V3Instance::attach(*plugin_, *parts_.runtime, identity_, tactic, services_), identity_);
  }
  /// As the program has it.
  nv::IPluginV3& plugin() const { return around_ == Around::kNothing ? *plugin_ : quick_within(*plugin_); }

 private:
  /// What getOutputShapes was told of the tensors, and what it said of the outputs.
  struct Shapes {
    std::vector<nv::DimsExprs> tensors, outputs;
  };
  Status ask_outputs(InferContext& cx, int num_tensors) const;
  Result<Shapes> ask_shapes(const InferContext& cx, int num_tensors, ShapeExpressions& expressions) const;
  Result<std::vector<DType>> output_types(const InferContext& cx, int num_tensors) const;
  Result<std::vector<int>> tactics(Build& build) const;
  Result<std::shared_ptr<const V3Plugin>> copy() const;
  Result<Configured> configure_copy(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) const;

  const std::unique_ptr<nv::IPluginV3> plugin_;
  const Around around_;
  const Parts parts_;
  const PluginIdentity identity_;
  const Services services_;
  mutable std::vector<int> size_outputs_;
  /// Guards what follows.
  mutable std::mutex latest_mutex_;
  mutable std::pair<std::vector<PluginTensor>, std::vector<PluginTensor>> latest_tensors_;  ///< that were configured
  mutable Configured latest_;  ///< for them, but the object
  mutable std::weak_ptr<const PluginObject> latest_object_;
};

Result<std::vector<DType>> V3Plugin::output_types(const InferContext& cx, int num_tensors) const {
  constexpr auto kNone = static_cast<nv::DataType>(-1);  // of an output that the plugin forgets
  std::vector<nv::DataType> inputs, outputs(static_cast<size_t>(cx.num_outputs()), kNone);
  std::vector<int32_t> ranks;
  for (int i = 0; i < num_tensors; ++i) {
    const TensorType& type = TRY(cx.input(i));
    inputs.push_back(api::to_api(type.dtype));
    ranks.push_back(type.rank());
  }
  if (around_ != Around::kNothing) tell_ranks(*plugin_, std::move(ranks));
  TRY(returned(identity_, "getOutputDataTypes",
               parts_.build->getOutputDataTypes(outputs.data(), count_of(outputs), inputs.data(), num_tensors)));
  std::vector<DType> result;
  for (const nv::DataType type : outputs)
    result.push_back(TRY(in_context(api::from_api(type), [&] { return str(identity_, ": getOutputDataTypes"); })));
  return result;
}

Result<V3Plugin::Shapes> V3Plugin::ask_shapes(const InferContext& cx, int num_tensors,
                                              ShapeExpressions& expressions) const {
  const int num_outputs = cx.num_outputs();
  Shapes result{{}, std::vector<nv::DimsExprs>(static_cast<size_t>(num_outputs), {-1, {}})};
  std::vector<nv::DimsExprs> shape_inputs;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    if (i < num_tensors) {
      result.tensors.push_back(expressions.of(TRY(cx.input(i)).get().shape));
      continue;
    }
    const SymbolicValues values =
        TRY(in_context(cx.values(i), [&] { return str(identity_, ": shape input ", i - num_tensors); }));
    TRY(require(std::ssize(values) <= nv::Dims::MAX_DIMS, identity_, ": shape input ", i - num_tensors, " has ",
                values.size(), " elements; at most ", nv::Dims::MAX_DIMS, " are possible"));
    shape_inputs.push_back(expressions.of(values));
  }
  TRY(returned(identity_, "getOutputShapes",
               parts_.build->getOutputShapes(result.tensors.data(), count_of(result.tensors), shape_inputs.data(),
                                             count_of(shape_inputs), result.outputs.data(), num_outputs, expressions)));
  TRY(in_context(expressions.failure(), [&] { return str(identity_, ": getOutputShapes"); }));
  return result;
}

Status V3Plugin::ask_outputs(InferContext& cx, int num_tensors) const {
  const int num_outputs = cx.num_outputs();
  const std::vector<DType> types = TRY(output_types(cx, num_tensors));  // first, as plugins expect who keep them
  ShapeExpressions expressions(cx, num_outputs);
  const std::vector<nv::DimsExprs> outputs = TRY(ask_shapes(cx, num_tensors, expressions)).outputs;
  for (int i = 0; i < num_outputs; ++i) {
    TensorType type(types[static_cast<size_t>(i)],
                    TRY(in_context(expressions.shape_of(outputs[static_cast<size_t>(i)], i),
                                   [&] { return str(identity_, ": getOutputShapes"); })));
    if (const sym::Expr* size = expressions.size_of(i)) {
      TRY(require(type.rank() == 0 && is_index(type.dtype), identity_, ": output ", i, " is ", type,
                  "; a size tensor is a scalar of kINT32 or kINT64"));
      type = TensorType(type.dtype, {}, {*size});
    }
    TRY(in_context(cx.set_output(i, std::move(type)), [&] { return str(identity_); }));
  }
  size_outputs_ = expressions.size_outputs();
  return {};
}

/// Asks a copy, which no other thread knows: between setTactic and getKernel nobody tells it another tactic, and no
/// lock is held while the plugin's code runs.
Result<PluginKernel> V3Plugin::kernel(InferContext& cx, std::span<const PluginTensor> inputs,
                                      std::span<const PluginTensor> outputs, int tactic) const {
  TRY(PluginCall::require_outside(*this, kKernel));
  const PluginCall call(*this, kKernel);
  const std::shared_ptr<const V3Plugin> asked = TRY(copy());
  nv::IPluginV3QuickAOTBuild& build = *ahead_of_time(*asked->plugin_);
  TRY(returned(identity_, "setTactic", build.setTactic(tactic)));
  // Asked again, so that a plugin that keeps its outputs' extents has those that may be in a launch.
  ShapeExpressions expressions(cx, cx.num_outputs());
  const Shapes shapes = TRY(asked->ask_shapes(cx, static_cast<int>(inputs.size()), expressions));
  return ask_kernel(build, identity_, shapes.tensors, expressions, inputs, outputs);
}

std::vector<int> V3Plugin::aliased_inputs() const {
  if (parts_.build->getInterfaceInfo().major < 2) return {};
  auto& second = static_cast<nv::IPluginV3OneBuildV2&>(*parts_.build);
  std::vector<int> result;
  for (int32_t i = 0; i < parts_.build->getNbOutputs(); ++i) result.push_back(second.getAliasedInput(i));
  const bool none = std::ranges::all_of(result, [](int input) { return input == -1; });
  return none ? std::vector<int>() : result;
}

Result<std::vector<int>> V3Plugin::tactics(Build& build) const {
  constexpr int32_t kMost = 10'000;  // a wrong count would else be an allocation of any size
  const int32_t count = build.getNbTactics();
  TRY(require(count >= 0 && count <= kMost, identity_, ": getNbTactics returned ", count, "; 0 to ", kMost,
              " are possible"));
  if (count == 0) return std::vector<int>{0};
  std::vector<int32_t> found(static_cast<size_t>(count));
  TRY(returned(identity_, "getValidTactics", build.getValidTactics(found.data(), count)));
  for (const int32_t tactic : found)
    TRY(require(tactic > 0, identity_, ": getValidTactics gave tactic ", tactic, "; they are above 0"));
  std::vector<int> result;
  for (const int32_t tactic : found)
    if (std::ranges::find(result, tactic) == result.end()) result.push_back(tactic);
  return result;
}

/// Tactics of one combination of formats share what is configured for it, as long as one of them is held.
Result<PluginObject::Configured> V3Plugin::configure(std::span<const PluginTensor> inputs,
                                                     std::span<const PluginTensor> outputs) const {
  const auto tensors =
      std::pair(std::vector(inputs.begin(), inputs.end()), std::vector(outputs.begin(), outputs.end()));
  TRY(PluginCall::require_outside(*this, kConfigure));
  const PluginCall call(*this, kConfigure);
  std::shared_ptr<const PluginObject> held;  // outlives the lock: deleting the last copy runs the plugin's code
  {
    const std::lock_guard lock(latest_mutex_);
    held = latest_object_.lock();
    if (held && latest_tensors_ == tensors) {
      Configured result = latest_;
      result.object = std::move(held);
      return result;
    }
  }
  Configured result = TRY(configure_copy(inputs, outputs));
  const std::lock_guard lock(latest_mutex_);
  latest_ = result;
  latest_.object.reset();
  latest_object_ = result.object;
  latest_tensors_ = tensors;
  return result;
}

/// A clone of the plugin, in the same state.
Result<std::shared_ptr<const V3Plugin>> V3Plugin::copy() const {
  nv::IPluginV3* const clone = plugin_->clone();
  if (!clone) return error(Code::kDevice, identity_, ": clone returned null");
  if (clone == plugin_.get()) return error(Code::kDevice, identity_, ": clone returned the plugin itself, not a copy");
  auto made = TRY(adopt(std::unique_ptr<nv::IPluginV3>(clone), around_, nv::TensorRTPhase::kBUILD, services_));
  made->size_outputs_ = size_outputs_;
  return made;
}

Result<PluginObject::Configured> V3Plugin::configure_copy(std::span<const PluginTensor> inputs,
                                                          std::span<const PluginTensor> outputs) const {
  auto made = TRY(copy());
  Build& build = *made->parts_.build;
  const auto in = dynamic_descs_of(inputs), out = dynamic_descs_of(outputs);
  TRY(returned(identity_, "configurePlugin",
               build.configurePlugin(in.data(), count_of(in), out.data(), count_of(out))));
  Configured result{.object = std::move(made), .tactics = {}};
  if (around_ != Around::kNothing) result.generation = PluginGeneration::kQuick;
  result.tactics = TRY(tactics(build));
  // Plugins multiply the extents that they are told, so that none is -1 here.
  const auto most_in = dynamic_descs_of(at_largest(inputs)), most_out = dynamic_descs_of(at_largest(outputs));
  const size_t workspace =
      build.getWorkspaceSize(most_in.data(), count_of(most_in), most_out.data(), count_of(most_out));
  TRY(require(workspace <= size_t{INT64_MAX}, identity_, ": getWorkspaceSize returned ", workspace));
  result.workspace_bytes = static_cast<int64_t>(workspace);
  if (const char* id = build.getTimingCacheID()) result.timing_id = str("id:", id);
  return result;
}

Result<std::shared_ptr<const V3Plugin>> V3Plugin::adopt(std::unique_ptr<nv::IPluginV3> owned, Around around,
                                                        nv::TensorRTPhase phase, const Services& services) {
  nv::IPluginV3* const plugin = owned.get();
  const auto runtime = around == Around::kAheadOfTime ? Parts::Runtime::kNone : Parts::Runtime::kNeeded;
  const Parts parts = TRY(in_context(Parts::of(*plugin, phase, runtime), [&] { return name_of(*plugin); }));
  PluginIdentity identity = TRY(identity_of("getPluginName", parts.core->getPluginName(),
                                            parts.core->getPluginVersion(), parts.core->getPluginNamespace()));
  if (phase == nv::TensorRTPhase::kBUILD) TRY(require_output_count(identity, parts.build->getNbOutputs()));
  return std::make_shared<const V3Plugin>(std::move(owned), around, parts, std::move(identity), services);
}

}  // namespace

Result<std::shared_ptr<const PluginObject>> adopt_v3(nv::IPluginV3* plugin, nv::TensorRTPhase phase,
                                                     const Services& services) {
  std::unique_ptr<nv::IPluginV3> owned(plugin);
  auto code = keep_code_of(plugin);
  const bool quick = is_quick(*plugin);
  if (quick) owned = TRY(as_v3(std::move(owned), phase));
  const auto around = !quick                  ? V3Plugin::Around::kNothing
                      : ahead_of_time(*owned) ? V3Plugin::Around::kAheadOfTime
                                              : V3Plugin::Around::kQuick;
  return with_code(TRY(V3Plugin::adopt(std::move(owned), around, phase, services)), std::move(code));
}

nv::IPluginV3* v3_plugin_of(const PluginObject& object) {
  const auto* known = dynamic_cast<const V3Plugin*>(&object);  // of our own classes, which are made in this file
  return known ? &known->plugin() : nullptr;
}

}  // namespace kiln::plugin
