/// Shapes of the plugins of version 2 that know static shapes alone: a batch, which is the first extent of all tensors
/// and stays hidden from them, and the other extents.
#pragma once

#include <NvInferRuntime.h>

#include <functional>
#include <span>
#include <vector>

#include "ops/plugin_object.h"

namespace kiln::plugin {

/// Sets the outputs, whose shapes getOutputDimensions gives without their batch, and returns the batch. Fails where
/// first extents of inputs are neither equal nor 1, or where an extent is not known before a run; else `types` tells
/// those of the outputs. A build repeats inputs of batch 1 beside longer ones.
Result<int64_t> infer_batched(InferContext& cx, nvinfer1::IPluginV2& plugin,
                              const std::function<Result<std::vector<DType>>()>& types, const PluginIdentity& identity);

/// Fails where a plugin says that an output has one sample for the whole batch: its tensor would have more samples than
/// the plugin writes.
Status refuse_shared_outputs(const nvinfer1::IPluginV2Ext& plugin, int num_inputs, int num_outputs, int64_t batch,
                             const PluginIdentity& identity);

/// Returns the batch. Fails for a damaged plan, where the first input has no valid batch or another tensor has another.
Result<int32_t> batch_of(std::span<const PluginTensor> inputs, std::span<const PluginTensor> outputs);
/// The other extents.
std::vector<nvinfer1::Dims> dims_within_batch(std::span<const PluginTensor> tensors);
std::vector<nvinfer1::PluginTensorDesc> descs_within_batch(std::span<const PluginTensor> tensors);

}  // namespace kiln::plugin
