// IPluginV2DynamicExt.
#include "plugin/api_tensors.h"
#include "plugin/shape_expressions.h"
#include "plugin/v2_interface.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

/// The tensors of a run, whose extents are their own bounds.
std::vector<nv::DynamicPluginTensorDesc> run_descs_of(std::span<const PluginTensor> tensors) {
  std::vector<PluginTensor> result(tensors.begin(), tensors.end());
  for (PluginTensor& tensor : result) tensor.min = tensor.opt = tensor.max = tensor.extents;
  return dynamic_descs_of(result);
}

class DynamicInterface final : public V2Interface {
 public:
  explicit DynamicInterface(nv::IPluginV2DynamicExt& plugin) : plugin_(plugin) {}

  Status infer(InferContext& cx, const PluginIdentity& identity) const override;
  bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const override {
    const auto descs = descs_of(tensors);
    return plugin_.supportsFormatCombination(position, descs.data(), num_inputs, count_of(descs) - num_inputs);
  }
  bool knows_scales() const override { return true; }
  bool has_batch() const override { return false; }
  int most_combinations() const override { return nv::IPluginV2DynamicExt::kFORMAT_COMBINATION_LIMIT; }
  Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    const auto in = dynamic_descs_of(inputs), out = dynamic_descs_of(outputs);
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out));
    return {};
  }
  size_t workspace_bytes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) const override {
    const auto in = descs_of(at_largest(inputs)), out = descs_of(at_largest(outputs));
    return plugin_.getWorkspaceSize(in.data(), count_of(in), out.data(), count_of(out));
  }
  Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) override {
    inputs_ = descs_of(inputs);
    outputs_ = descs_of(outputs);
    const auto in = run_descs_of(inputs), out = run_descs_of(outputs);
    plugin_.configurePlugin(in.data(), count_of(in), out.data(), count_of(out));
    return {};
  }
  int32_t enqueue(const PluginRun& run, cudaStream_t stream) override {
    return plugin_.enqueue(inputs_.data(), outputs_.data(), run.inputs, run.outputs, run.workspace, stream);
  }
  nv::IPluginV2Ext* ext() const override { return &plugin_; }

 private:
  nv::IPluginV2DynamicExt& plugin_;
  std::vector<nv::PluginTensorDesc> inputs_, outputs_;
};

Status DynamicInterface::infer(InferContext& cx, const PluginIdentity& identity) const {
  ShapeExpressions expressions(cx, cx.num_outputs());
  std::vector<nv::DimsExprs> inputs;
  for (int i = 0; i < cx.num_inputs(); ++i) inputs.push_back(expressions.of(TRY(cx.input(i)).get().shape));
  const std::vector<DType> types = TRY(output_types_of(plugin_, cx, identity));
  for (int i = 0; i < cx.num_outputs(); ++i) {
    const auto call = [&] { return str(identity, ": getOutputDimensions of output ", i); };
    const nv::DimsExprs dims = plugin_.getOutputDimensions(i, inputs.data(), count_of(inputs), expressions);
    TRY(in_context(expressions.failure(), call));
    TRY(require(expressions.size_outputs().empty(), call(), ": only plugins of version 3 may declare size tensors"));
    Shape shape = TRY(in_context(expressions.shape_of(dims, i), call));
    TRY(in_context(cx.set_output(i, TensorType(types[static_cast<size_t>(i)], std::move(shape))),
                   [&] { return str(identity); }));
  }
  return {};
}

}  // namespace

std::unique_ptr<V2Interface> make_dynamic_interface(nv::IPluginV2DynamicExt& plugin) {
  return std::make_unique<DynamicInterface>(plugin);
}

}  // namespace kiln::plugin
