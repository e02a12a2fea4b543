// IPluginV2IOExt and IPluginV2Ext.
#include <algorithm>
#include <array>

#include "api/base/convert.h"
#include "plugin/api_tensors.h"
#include "plugin/v2_batch.h"
#include "plugin/v2_interface.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

class IoInterface final : public V2Interface {
 public:
  explicit IoInterface(nv::IPluginV2IOExt& plugin) : plugin_(plugin) {}

  Status infer(InferContext& cx, const PluginIdentity& identity) const override {
    return infer_batched(cx, plugin_, identity);
  }
  bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const override {
    const auto descs = descs_within_batch(tensors);
    return plugin_.supportsFormatCombination(position, descs.data(), num_inputs, count_of(descs) - num_inputs);
  }
  int most_combinations() const override { return nv::IPluginV2DynamicExt::kFORMAT_COMBINATION_LIMIT; }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = descs_within_batch(inputs), out = descs_within_batch(outputs);
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out));
    return change_shapes(inputs, outputs);
  }
  size_t workspace_bytes(std::span<const PluginTensor>, std::span<const PluginTensor>) const override {
    return plugin_.getWorkspaceSize(batch_);
  }
  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor>) override {
    batch_ = TRY(batch_of(inputs));
    return {};
  }
  int32_t enqueue(const PluginRun& run, cudaStream_t stream) override {
    return plugin_.enqueue(batch_, run.inputs, run.outputs, run.workspace, stream);
  }
  nv::IPluginV2Ext& plugin() const override { return plugin_; }

 private:
  nv::IPluginV2IOExt& plugin_;
  int32_t batch_ = 0;
};

/// Formats that an IPluginV2Ext may be asked for.
constexpr std::array kExtFormats{nv::TensorFormat::kLINEAR, nv::TensorFormat::kCHW2, nv::TensorFormat::kHWC8};

/// The format of a tensor as the API names it.
nv::TensorFormat format_of(const PluginTensor& tensor) {
  return api::to_api(tensor.format, static_cast<int>(tensor.extents.size())).value_or(nv::TensorFormat::kLINEAR);
}

/// The one format of all floats among the tensors.
nv::TensorFormat float_format_of(std::span<const PluginTensor> tensors) {
  const auto found = std::ranges::find_if(tensors, [](const PluginTensor& tensor) { return is_float(tensor.dtype); });
  return found == tensors.end() ? nv::TensorFormat::kLINEAR : format_of(*found);
}

class ExtInterface final : public V2Interface {
 public:
  explicit ExtInterface(nv::IPluginV2Ext& plugin) : plugin_(plugin) {}

  Status infer(InferContext& cx, const PluginIdentity& identity) const override {
    return infer_batched(cx, plugin_, identity);
  }
  /// All floats have one format, and all other tensors are row-major.
  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    const PluginTensor& tensor = tensors[static_cast<size_t>(position)];
    const nv::TensorFormat format = format_of(tensor);
    if (std::ranges::find(kExtFormats, format) == kExtFormats.end()) return false;
    const auto told = tensors.first(static_cast<size_t>(position) + 1);
    if (format != (is_float(tensor.dtype) ? float_format_of(told) : nv::TensorFormat::kLINEAR)) return false;
    return plugin_.supportsFormat(api::to_api(tensor.dtype), format);
  }
  int most_combinations() const override { return static_cast<int>(kExtFormats.size()); }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = dims_within_batch(inputs), out = dims_within_batch(outputs);
    const auto in_types = types_of(inputs), out_types = types_of(outputs);
    const auto none = std::make_unique<bool[]>(std::max(in.size(), out.size()));  // no tensor is shared by a batch
    const bool has_float = std::ranges::any_of(inputs, [](const PluginTensor& t) { return is_float(t.dtype); });
    batch_ = TRY(batch_of(inputs));
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out), in_types.data(), out_types.data(),
                            none.get(), none.get(), float_format_of(has_float ? inputs : outputs), batch_);
    return {};
  }
  size_t workspace_bytes(std::span<const PluginTensor>, std::span<const PluginTensor>) const override {
    return plugin_.getWorkspaceSize(batch_);
  }
  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor>) override {
    batch_ = TRY(batch_of(inputs));
    return {};
  }
  int32_t enqueue(const PluginRun& run, cudaStream_t stream) override {
    return plugin_.enqueue(batch_, run.inputs, run.outputs, run.workspace, stream);
  }
  nv::IPluginV2Ext& plugin() const override { return plugin_; }

 private:
  static std::vector<nv::DataType> types_of(std::span<const PluginTensor> tensors) {
    std::vector<nv::DataType> result;
    for (const PluginTensor& tensor : tensors) result.push_back(api::to_api(tensor.dtype));
    return result;
  }

  nv::IPluginV2Ext& plugin_;
  int32_t batch_ = 0;
};

}  // namespace

std::unique_ptr<V2Interface> make_io_interface(nv::IPluginV2IOExt& plugin) {
  return std::make_unique<IoInterface>(plugin);
}
std::unique_ptr<V2Interface> make_ext_interface(nv::IPluginV2Ext& plugin) {
  return std::make_unique<ExtInterface>(plugin);
}

}  // namespace kiln::plugin
