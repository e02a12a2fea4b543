/// Tensors, names, counts and return codes between the compiler's form and that of plugins' calls, for every adapter.
#pragma once

#include <NvInferRuntime.h>

#include <span>
#include <vector>

#include "ops/plugin_object.h"

namespace kiln::plugin {

std::vector<nvinfer1::PluginTensorDesc> descs_of(std::span<const PluginTensor> tensors);
std::vector<nvinfer1::DynamicPluginTensorDesc> dynamic_descs_of(std::span<const PluginTensor> tensors);
/// The tensors of a build at the largest of their shapes. getWorkspaceSize is told these.
std::vector<PluginTensor> at_largest(std::span<const PluginTensor> tensors);

template <class T>
int32_t count_of(const std::vector<T>& list) {
  return static_cast<int32_t>(list.size());
}

/// What a plugin says of itself; a null namespace is the empty one. Fails without a name, which `name_call` returned,
/// and for a null version.
Result<PluginIdentity> identity_of(const char* name_call, const char* name, const char* version,
                                   const char* plugin_namespace);

/// Fails (kCorrupt) where the API has no name for the format of a tensor: only a damaged plan has such formats.
Status require_named_formats(const PluginIdentity& plugin, std::span<const PluginTensor> tensors);

/// Fails for a number of outputs that no plugin has: a wrong one would else be an allocation of any size.
Status require_output_count(const PluginIdentity& plugin, int32_t count);

/// What a call of a plugin returned, as a Status: an error (kDevice) unless it is 0.
Status returned(const PluginIdentity& plugin, const char* call, int32_t code);

}  // namespace kiln::plugin
