#include "plugin/api_tensors.h"

#include "api/base/convert.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

namespace {

nv::PluginTensorDesc desc_of(const PluginTensor& tensor) {
  const int rank = static_cast<int>(tensor.extents.size());
  return {api::to_api(tensor.extents), api::to_api(tensor.dtype),
          api::to_api(tensor.format, rank).value_or(nv::TensorFormat::kLINEAR), tensor.scale};
}

}  // namespace

std::vector<nv::PluginTensorDesc> descs_of(std::span<const PluginTensor> tensors) {
  std::vector<nv::PluginTensorDesc> result;
  for (const PluginTensor& tensor : tensors) result.push_back(desc_of(tensor));
  return result;
}

std::vector<nv::DynamicPluginTensorDesc> dynamic_descs_of(std::span<const PluginTensor> tensors) {
  std::vector<nv::DynamicPluginTensorDesc> result;
  for (const PluginTensor& tensor : tensors)
    result.push_back({desc_of(tensor), api::to_api(tensor.min), api::to_api(tensor.max), api::to_api(tensor.opt)});
  return result;
}

std::vector<PluginTensor> at_largest(std::span<const PluginTensor> tensors) {
  std::vector<PluginTensor> result(tensors.begin(), tensors.end());
  for (PluginTensor& tensor : result) tensor.extents = tensor.max;
  return result;
}

Result<PluginIdentity> identity_of(const char* name_call, const char* name, const char* version,
                                   const char* plugin_namespace) {
  TRY(require(name && *name, "the plugin: ", name_call, " returned no name"));
  TRY(require(version != nullptr, "plugin '", name, "': getPluginVersion returned null"));
  return PluginIdentity{name, version, plugin_namespace ? plugin_namespace : ""};
}

Status require_named_formats(const PluginIdentity& plugin, std::span<const PluginTensor> tensors) {
  for (const PluginTensor& tensor : tensors)
    if (!api::to_api(tensor.format, static_cast<int>(tensor.extents.size())))
      return error(Code::kCorrupt, plugin, ": a tensor of rank ", tensor.extents.size(), " has format ",
                   tensor.format.text(), ", which no TensorFormat names");
  return {};
}

Status require_output_count(const PluginIdentity& plugin, int32_t count) {
  constexpr int32_t kMost = 10'000;
  return require(count >= 1 && count <= kMost, plugin, ": getNbOutputs returned ", count, "; 1 is the least, ", kMost,
                 " the most");
}

Status returned(const PluginIdentity& plugin, const char* call, int32_t code) {
  if (code == 0) return {};
  return error(Code::kDevice, plugin, ": ", call, " returned ", code);
}

}  // namespace kiln::plugin
