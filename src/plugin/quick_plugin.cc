#include "plugin/quick_plugin.h"

#include <algorithm>
#include <new>
#include <span>
#include <vector>

#include "api/base/convert.h"
#include "plugin/api_tensors.h"
#include "plugin/parts.h"

namespace kiln::plugin {
namespace {

namespace nv = nvinfer1;
using Type = nv::PluginCapabilityType;

constexpr int32_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation
constexpr const char* kBuild = "PLUGIN_V3QUICK_BUILD";
constexpr const char* kAotBuild = "PLUGIN_V3QUICKAOT_BUILD";
constexpr const char* kRuntime = "PLUGIN_V3QUICK_RUNTIME";

/// The parts of a quick plugin that it has.
struct QuickParts {
  nv::IPluginV3QuickCore* core;
  nv::IPluginV3QuickBuild* build;
  nv::IPluginV3QuickAOTBuild* ahead;
  nv::IPluginV3QuickRuntime* runtime = nullptr;

  explicit QuickParts(nv::IPluginV3& plugin)
      : core(part_as<nv::IPluginV3QuickCore>(plugin.getCapabilityInterface(Type::kCORE), kQuickCore)),
        build(part_as<nv::IPluginV3QuickBuild>(plugin.getCapabilityInterface(Type::kBUILD), kBuild)),
        ahead(part_as<nv::IPluginV3QuickAOTBuild>(plugin.getCapabilityInterface(Type::kBUILD), kAotBuild)) {
    if (ahead) build = ahead;
    // What is ahead of time is not asked for a runtime part: TensorRT's bindings print an error where there is none.
    if (!ahead) runtime = part_as<nv::IPluginV3QuickRuntime>(plugin.getCapabilityInterface(Type::kRUNTIME), kRuntime);
  }
  /// Fails where a part is missing that the phase needs.
  Status require_needed(nv::TensorRTPhase phase) const {
    TRY(require(runtime || (ahead && phase == nv::TensorRTPhase::kBUILD), "getCapabilityInterface(kRUNTIME) gave no ",
                kRuntime));
    return require(build || phase != nv::TensorRTPhase::kBUILD, "getCapabilityInterface(kBUILD) gave no ", kBuild,
                   " and no ", kAotBuild);
  }
  /// Whether the same parts are there.
  bool is_like(const QuickParts& other) const {
    return !core == !other.core && !build == !other.build && !ahead == !other.ahead && !runtime == !other.runtime;
  }
};

/// Strides in elements; of a blocked format, whose elements have none, those of its row-major order.
std::vector<nv::Dims> strides_of(const nv::PluginTensorDesc* tensors, int32_t count) {
  std::vector<nv::Dims> result;
  for (int32_t i = 0; i < count; ++i) {
    const nv::Dims& dims = tensors[i].dims;
    const auto format = api::from_api(tensors[i].format, dims.nbDims);
    const bool has_strides = format && !format->is_blocked();
    const std::span extents(dims.d, static_cast<size_t>(std::max(dims.nbDims, 0)));
    result.push_back(api::to_api((has_strides ? *format : Format::linear()).strides(extents)));
  }
  return result;
}

class QuickAdapter final : public nv::IPluginV3,
                           public nv::IPluginV3OneCore,
                           public nv::IPluginV3OneBuildV2,
                           public nv::IPluginV3OneRuntime {
 public:
  QuickAdapter(std::unique_ptr<nv::IPluginV3> quick, const QuickParts& parts)
      : quick_(std::move(quick)), parts_(parts), core_(*parts.core), build_(parts.build), runtime_(parts.runtime) {}

  nv::IPluginV3& inside() { return *quick_; }
  const Status& listing() const { return listing_; }
  nv::IPluginV3QuickAOTBuild* ahead() const { return parts_.ahead; }
  void tell_ranks(std::vector<int32_t> ranks) { ranks_ = std::move(ranks); }

  nv::IPluginCapability* getCapabilityInterface(Type type) noexcept override {
    switch (type) {
      case Type::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
      case Type::kBUILD: return build_ ? static_cast<nv::IPluginV3OneBuildV2*>(this) : nullptr;
      case Type::kRUNTIME: return runtime_ ? static_cast<nv::IPluginV3OneRuntime*>(this) : nullptr;
    }
    return nullptr;
  }
  nv::IPluginV3* clone() noexcept override {
    std::unique_ptr<nv::IPluginV3> copy(quick_->clone());
    if (!copy || copy.get() == quick_.get()) return copy.release() ? this : nullptr;
    const QuickParts parts(*copy);
    if (!parts.is_like(parts_)) return nullptr;
    try {
      auto adapter = std::make_unique<QuickAdapter>(std::move(copy), parts);
      adapter->ranks_ = ranks_;
      return adapter.release();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  const char* getPluginName() const noexcept override { return core_.getPluginName(); }
  const char* getPluginVersion() const noexcept override { return core_.getPluginVersion(); }
  const char* getPluginNamespace() const noexcept override { return core_.getPluginNamespace(); }

  int32_t getNbOutputs() const noexcept override { return build_->getNbOutputs(); }
  int32_t getOutputShapes(const nv::DimsExprs* in, int32_t num_in, const nv::DimsExprs* shapes, int32_t num_shapes,
                          nv::DimsExprs* out, int32_t num_out, nv::IExprBuilder& builder) noexcept override {
    return build_->getOutputShapes(in, num_in, shapes, num_shapes, out, num_out, builder);
  }
  int32_t getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in,
                             int32_t num_in) const noexcept override {
    return build_->getOutputDataTypes(out, num_out, in, ranks_.data(), num_in);
  }
  int32_t configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t num_in, const nv::DynamicPluginTensorDesc* out,
                          int32_t num_out) noexcept override {
    return build_->configurePlugin(in, num_in, out, num_out);
  }
  bool supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                 int32_t num_out) noexcept override;
  /// Asks for `combinations_`.
  Status list_combinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in, int32_t num_out);
  int32_t getAliasedInput(int32_t output) noexcept override { return build_->getAliasedInput(output); }
  int32_t getValidTactics(int32_t* tactics, int32_t count) noexcept override {
    return build_->getValidTactics(tactics, count);
  }
  int32_t getNbTactics() noexcept override { return build_->getNbTactics(); }
  const char* getTimingCacheID() noexcept override { return build_->getTimingCacheID(); }
  const char* getMetadataString() noexcept override { return build_->getMetadataString(); }

  int32_t setTactic(int32_t tactic) noexcept override { return runtime_->setTactic(tactic); }
  int32_t onShapeChange(const nv::PluginTensorDesc* in, int32_t num_in, const nv::PluginTensorDesc* out,
                        int32_t num_out) noexcept override {
    try {
      num_inputs_ = num_in, num_outputs_ = num_out;
      input_strides_ = strides_of(in, num_in), output_strides_ = strides_of(out, num_out);
      return 0;
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    }
  }
  int32_t enqueue(const nv::PluginTensorDesc* in, const nv::PluginTensorDesc* out, const void* const* inputs,
                  void* const* outputs, void*, cudaStream_t stream) noexcept override {
    return runtime_->enqueue(in, out, inputs, outputs, input_strides_.data(), output_strides_.data(), num_inputs_,
                             num_outputs_, stream);
  }
  nv::IPluginV3* attachToContext(nv::IPluginResourceContext*) noexcept override { return clone(); }
  const nv::PluginFieldCollection* getFieldsToSerialize() noexcept override { return runtime_->getFieldsToSerialize(); }

 private:
  const std::unique_ptr<nv::IPluginV3> quick_;
  const QuickParts parts_;
  nv::IPluginV3QuickCore& core_;
  nv::IPluginV3QuickBuild* const build_;
  nv::IPluginV3QuickRuntime* const runtime_;
  std::vector<int32_t> ranks_;                                   ///< of the inputs
  std::vector<std::vector<nv::PluginTensorDesc>> combinations_;  ///< that it named for the tensors of position 0
  Status listing_;                                               ///< what came of asking for them
  std::vector<nv::Dims> input_strides_, output_strides_;
  int32_t num_inputs_ = 0, num_outputs_ = 0;
};

Status QuickAdapter::list_combinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in, int32_t num_out) {
  constexpr int32_t kMost = 10'000;  // a wrong count would else be an allocation of any size
  combinations_.clear();
  const int32_t count = build_->getNbSupportedFormatCombinations(tensors, num_in, num_out);
  TRY(require(count >= 1 && count <= kMost, "getNbSupportedFormatCombinations returned ", count, "; 1 is the least, ",
              kMost, " the most"));
  const auto num_tensors = static_cast<size_t>(num_in + num_out);
  std::vector<nv::PluginTensorDesc> all(static_cast<size_t>(count) * num_tensors);
  if (const int32_t code = build_->getSupportedFormatCombinations(tensors, num_in, num_out, all.data(), count))
    return error(Code::kDevice, "getSupportedFormatCombinations returned ", code);
  for (auto at = all.begin(); at != all.end(); at += static_cast<int64_t>(num_tensors))
    combinations_.emplace_back(at, at + static_cast<int64_t>(num_tensors));
  return {};
}

/// A quick plugin names its combinations at once: those that begin as the tensors do are supported.
bool QuickAdapter::supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors,
                                             int32_t num_in, int32_t num_out) noexcept {
  if (position == 0) {  // each search begins with it
    try {
      listing_ = list_combinations(tensors, num_in, num_out);
    } catch (const std::bad_alloc&) {
      combinations_.clear();
      listing_ = std::unexpected(Error{Code::kOutOfMemory, "out of memory"});
    }
  }
  return std::ranges::any_of(combinations_, [&](const std::vector<nv::PluginTensorDesc>& one) {
    for (size_t i = 0; i <= static_cast<size_t>(position); ++i)
      if (one[i].type != tensors[i].desc.type || one[i].format != tensors[i].desc.format) return false;
    return true;
  });
}

}  // namespace

bool is_quick(nv::IPluginV3& plugin) { return kind_of(plugin.getCapabilityInterface(Type::kCORE)) == kQuickCore; }

Result<std::unique_ptr<nv::IPluginV3>> as_v3(std::unique_ptr<nv::IPluginV3> quick, nv::TensorRTPhase phase) {
  const QuickParts parts(*quick);
  TRY(require(parts.core, "the quick plugin: getCapabilityInterface(kCORE) gave no ", kQuickCore));
  TRY(in_context(parts.require_needed(phase), [&] {
    const char* const name = parts.core->getPluginName();
    return name && *name ? str("quick plugin '", name, "'") : "the quick plugin";
  }));
  return std::make_unique<QuickAdapter>(std::move(quick), parts);
}

void tell_ranks(nv::IPluginV3& adapter, std::vector<int32_t> ranks) {
  static_cast<QuickAdapter&>(adapter).tell_ranks(std::move(ranks));
}

Status listing_failure(nv::IPluginV3& adapter) { return static_cast<QuickAdapter&>(adapter).listing(); }

nv::IPluginV3QuickAOTBuild* ahead_of_time(nv::IPluginV3& adapter) {
  return static_cast<QuickAdapter&>(adapter).ahead();
}

nv::IPluginV3& quick_within(nv::IPluginV3& adapter) { return static_cast<QuickAdapter&>(adapter).inside(); }

}  // namespace kiln::plugin
