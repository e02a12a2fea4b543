/// The calls in which the interfaces of version 2 differ.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <span>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// One object of a program's, seen through the interface that it says it has. The object is somebody else's and lives
/// longer.
class V2Interface {
 public:
  /// Told by the upper byte of getTensorRTVersion. Fails for an interface that Kiln does not know.
  static Result<std::unique_ptr<V2Interface>> of(nvinfer1::IPluginV2& plugin);
  virtual ~V2Interface() = default;

  virtual Status infer(InferContext& cx, const PluginIdentity& identity) const = 0;
  virtual bool supports(std::span<const PluginTensor> tensors, int num_inputs, int position) const = 0;
  virtual bool knows_scales() const = 0;
  /// Whether the first extent of all tensors is one batch, which the plugin does not see.
  virtual bool has_batch() const = 0;
  virtual int most_combinations() const = 0;
  /// Tells types, formats and the shapes of a build.
  virtual Status configure(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) = 0;
  /// Asks a plugin that is configured for these tensors and initialized.
  virtual size_t workspace_bytes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) const = 0;
  /// Tells the shapes of the runs that follow.
  virtual Status change_shapes(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs) = 0;
  virtual int32_t enqueue(const PluginRun& run, cudaStream_t stream) = 0;
  /// The plugin, where it is an IPluginV2Ext or more; null: a plain IPluginV2.
  virtual nvinfer1::IPluginV2Ext* ext() const = 0;
};

/// What a plugin says of the types of its outputs. The first failing call is named in the error.
Result<std::vector<DType>> output_types_of(const nvinfer1::IPluginV2Ext& plugin, const InferContext& cx,
                                           const PluginIdentity& identity);

std::unique_ptr<V2Interface> make_dynamic_interface(nvinfer1::IPluginV2DynamicExt& plugin);
std::unique_ptr<V2Interface> make_io_interface(nvinfer1::IPluginV2IOExt& plugin);
std::unique_ptr<V2Interface> make_ext_interface(nvinfer1::IPluginV2Ext& plugin);
std::unique_ptr<V2Interface> make_plain_interface(nvinfer1::IPluginV2& plugin);

}  // namespace kiln::plugin
