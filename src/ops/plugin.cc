#include "ops/plugin.h"

#include <cstring>

#include "ops/define.h"

template const kiln::OpInfo& kiln::op_info<kiln::ops::Plugin>();

namespace kiln {

void append(std::string& out, const PluginIdentity& plugin) {
  out += str("plugin '", plugin.name, "' version '", plugin.version, "'");
  if (!plugin.plugin_namespace.empty()) out += str(" of namespace '", plugin.plugin_namespace, "'");
}

namespace {
constexpr int64_t kDimsBytes = 72;  // of nvinfer1::Dims64: a count, and 8 extents
}  // namespace

int64_t size_bytes(PluginFieldType type, int64_t count) {
  switch (type) {
    case PluginFieldType::kI4:
    case PluginFieldType::kF4: return (count + 1) / 2;
    case PluginFieldType::kF16:
    case PluginFieldType::kBF16:
    case PluginFieldType::kI16: return 2 * count;
    case PluginFieldType::kF32:
    case PluginFieldType::kI32: return 4 * count;
    case PluginFieldType::kF64:
    case PluginFieldType::kI64: return 8 * count;
    case PluginFieldType::kDims: return kDimsBytes * count;
    default: return count;
  }
}

Status PluginField::check() const {
  constexpr int64_t kMost = INT32_MAX;  // what nvinfer1::PluginField counts
  if (count < 0 || count > kMost || size_bytes(type, count) != std::ssize(data))
    return error(Code::kCorrupt, "field '", name, "' of a plugin has ", data.size(), " bytes; ", count,
                 " elements of type ", type, " have others");
  if (type != PluginFieldType::kDims) return {};
  constexpr int32_t kMostAxes = 8;
  for (int64_t i = 0; i < count; ++i) {
    int32_t num_axes;
    std::memcpy(&num_axes, data.data() + i * kDimsBytes, sizeof(num_axes));
    if (num_axes < -1 || num_axes > kMostAxes)  // -1 marks dimensions that are invalid on purpose
      return error(Code::kCorrupt, "field '", name, "' of a plugin: element ", i, " has ", num_axes,
                   " dimensions; -1 to ", kMostAxes, " are possible");
  }
  return {};
}

Result<PluginKernel> PluginObject::kernel(InferContext&, std::span<const PluginTensor>, std::span<const PluginTensor>,
                                          int) const {
  return error(Code::kInternal, identity(), " has no kernel");
}

namespace ops {

Status Plugin::infer(InferContext& cx) const {
  TRY(cx.require(object != nullptr, plugin, " has no plugin object"));
  TRY(cx.require(num_tensors >= 0 && num_tensors <= cx.num_inputs(), plugin, " would have ", num_tensors,
                 " tensors of ", cx.num_inputs(), " inputs"));
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const TensorType& type = TRY(cx.input(i));
    TRY(cx.require(type.dtype != DType::kF64, plugin, ": input ", i, " is ", type,
                   "; plugins take no FP64: a Cast to FLOAT is needed before it"));
  }
  for (int i = num_tensors; i < cx.num_inputs(); ++i) {
    const TensorType& type = TRY(cx.input(i));
    TRY(cx.require(!is_float(type.dtype), plugin, ": shape input ", i - num_tensors, " is ", type,
                   "; extents are integers"));
  }
  TRY(object->infer(cx, num_tensors));
  for (size_t i = 0; i < output_types.size() && i < cx.outputs().size(); ++i) cx.outputs()[i].dtype = output_types[i];
  return {};
}

Status Plugin::reference(ReferenceContext&) const {
  return error(Code::kUnsupported, plugin, " runs on a device's tensors alone; nothing computes it while building");
}

}  // namespace ops
}  // namespace kiln
