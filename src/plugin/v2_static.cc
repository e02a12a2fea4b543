// IPluginV2IOExt, IPluginV2Ext and IPluginV2.
#include <algorithm>
#include <array>

#include "api/base/convert.h"
#include "plugin/api_tensors.h"
#include "plugin/v2_batch.h"
#include "plugin/v2_interface.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

/// What plugins that know static shapes within a batch have in common.
template <class Plugin>
class StaticInterface : public V2Interface {
 public:
  explicit StaticInterface(Plugin& plugin) : plugin_(plugin) {}

  bool has_batch() const final { return true; }
  size_t workspace_bytes(std::span<const PluginTensor>, std::span<const PluginTensor>) const final {
    return plugin_.getWorkspaceSize(batch_);
  }
  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    batch_ = TRY(batch_of(inputs, outputs));
    return {};
  }
  int32_t enqueue(const PluginRun& run, cudaStream_t stream) final {
    return plugin_.enqueue(batch_, run.inputs, run.outputs, run.workspace, stream);
  }

 protected:
  Plugin& plugin_;
  int32_t batch_ = 0;
};

/// Plugins that report the types of their outputs.
template <class Plugin>
class TypedInterface : public StaticInterface<Plugin> {
 public:
  using StaticInterface<Plugin>::StaticInterface;

  Status infer(InferContext& cx, const PluginIdentity& identity) const final {
    const int64_t batch = TRY(infer_batched(
        cx, this->plugin_, [&] { return output_types_of(this->plugin_, cx, identity); }, identity));
    return refuse_shared_outputs(this->plugin_, cx.num_inputs(), cx.num_outputs(), batch, identity);
  }
  nv::IPluginV2Ext* ext() const final { return &this->plugin_; }
};

class IoInterface final : public TypedInterface<nv::IPluginV2IOExt> {
 public:
  using TypedInterface::TypedInterface;

  bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const override {
    const auto descs = descs_within_batch(tensors);
    return plugin_.supportsFormatCombination(position, descs.data(), num_inputs, count_of(descs) - num_inputs);
  }
  bool knows_scales() const override { return true; }
  int most_combinations() const override { return nv::IPluginV2DynamicExt::kFORMAT_COMBINATION_LIMIT; }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = descs_within_batch(inputs), out = descs_within_batch(outputs);
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out));
    return change_shapes(inputs, outputs);
  }
};

/// Formats that supportsFormat is asked for.
constexpr std::array kFormats{nv::TensorFormat::kLINEAR, nv::TensorFormat::kCHW2, nv::TensorFormat::kHWC8};

/// The format of a tensor as the API names it.
nv::TensorFormat format_of(const PluginTensor& tensor) {
  return api::to_api(tensor.format, static_cast<int>(tensor.extents.size())).value_or(nv::TensorFormat::kLINEAR);
}

/// The one format of all floats among the tensors.
nv::TensorFormat float_format_of(std::span<const PluginTensor> tensors) {
  const auto found = std::ranges::find_if(tensors, [](const PluginTensor& tensor) { return is_float(tensor.dtype); });
  return found == tensors.end() ? nv::TensorFormat::kLINEAR : format_of(*found);
}

/// Whether supportsFormat takes the tensor at `position`: all floats have one format, and all other tensors are
/// row-major.
bool takes_format(const nv::IPluginV2& plugin, std::span<const PluginTensor> tensors, int position) {
  const PluginTensor& tensor = tensors[static_cast<size_t>(position)];
  const nv::TensorFormat format = format_of(tensor);
  if (std::ranges::find(kFormats, format) == kFormats.end()) return false;
  const auto told = tensors.first(static_cast<size_t>(position) + 1);
  if (format != (is_float(tensor.dtype) ? float_format_of(told) : nv::TensorFormat::kLINEAR)) return false;
  return plugin.supportsFormat(api::to_api(tensor.dtype), format);
}

std::vector<nv::DataType> types_of(std::span<const PluginTensor> tensors) {
  std::vector<nv::DataType> result;
  for (const PluginTensor& tensor : tensors) result.push_back(api::to_api(tensor.dtype));
  return result;
}

class ExtInterface final : public TypedInterface<nv::IPluginV2Ext> {
 public:
  using TypedInterface::TypedInterface;

  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    return takes_format(plugin_, tensors, position);
  }
  bool knows_scales() const override { return false; }
  int most_combinations() const override { return static_cast<int>(kFormats.size()); }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = dims_within_batch(inputs), out = dims_within_batch(outputs);
    const auto in_types = types_of(inputs), out_types = types_of(outputs);
    const auto none = std::make_unique<bool[]>(std::max(in.size(), out.size()));  // no tensor is shared by a batch
    const bool has_float = std::ranges::any_of(inputs, [](const PluginTensor& t) { return is_float(t.dtype); });
    TRY(change_shapes(inputs, outputs));
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out), in_types.data(), out_types.data(),
                            none.get(), none.get(), float_format_of(has_float ? inputs : outputs), batch_);
    return {};
  }
};

/// An IPluginV2 and no more: all of its tensors have one type and one format.
class PlainInterface final : public StaticInterface<nv::IPluginV2> {
 public:
  using StaticInterface::StaticInterface;

  Status infer(InferContext& cx, const PluginIdentity& identity) const override {
    const auto types = [&]() -> Result<std::vector<DType>> {
      TRY(require(cx.num_inputs() > 0, identity, " has no inputs; only those tell the type of an IPluginV2"));
      const DType one = TRY(cx.input(0)).get().dtype;
      for (int i = 1; i < cx.num_inputs(); ++i)
        if (const DType other = TRY(cx.input(i)).get().dtype; other != one)
          return error(Code::kInvalidArgument, identity, ": input ", i, " is ", other, " and input 0 ", one,
                       "; an IPluginV2 has one type for all of its tensors");
      return std::vector<DType>(static_cast<size_t>(cx.num_outputs()), one);
    };
    TRY(infer_batched(cx, plugin_, types, identity));
    return {};
  }
  bool supports(std::span<const PluginTensor> tensors, int, int position) const override {
    return takes_format(plugin_, tensors, position);
  }
  bool knows_scales() const override { return false; }
  int most_combinations() const override { return static_cast<int>(kFormats.size()); }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    return change_shapes(inputs, outputs);
  }
  /// Plugins of old copy nothing of it when they are cloned, so a context's copy is told, too.
  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = dims_within_batch(inputs), out = dims_within_batch(outputs);
    if (inputs.empty())
      return error(Code::kCorrupt, "the plan has no inputs; only those tell the type of an IPluginV2");
    batch_ = TRY(batch_of(inputs, outputs));
    plugin_.configureWithFormat(in.data(), count_of(in), out.data(), count_of(out), types_of(inputs)[0],
                                float_format_of(inputs), batch_);
    return {};
  }
  nv::IPluginV2Ext* ext() const override { return nullptr; }
};

}  // namespace

std::unique_ptr<V2Interface> make_io_interface(nv::IPluginV2IOExt& plugin) {
  return std::make_unique<IoInterface>(plugin);
}
std::unique_ptr<V2Interface> make_ext_interface(nv::IPluginV2Ext& plugin) {
  return std::make_unique<ExtInterface>(plugin);
}
std::unique_ptr<V2Interface> make_plain_interface(nv::IPluginV2& plugin) {
  return std::make_unique<PlainInterface>(plugin);
}

}  // namespace kiln::plugin
