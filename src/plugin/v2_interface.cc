#include "plugin/v2_interface.h"

#include "api/base/convert.h"
#include "plugin/api_tensors.h"

namespace kiln::plugin {

namespace nv = nvinfer1;

Result<std::unique_ptr<V2Interface>> V2Interface::of(nv::IPluginV2& plugin) {
  const auto version = static_cast<uint32_t>(plugin.getTensorRTVersion());
  switch (static_cast<nv::PluginVersion>(version >> 24U)) {
    case nv::PluginVersion::kV2_DYNAMICEXT:
    case nv::PluginVersion::kV2_DYNAMICEXT_PYTHON:
      return make_dynamic_interface(static_cast<nv::IPluginV2DynamicExt&>(plugin));
    case nv::PluginVersion::kV2_IOEXT: return make_io_interface(static_cast<nv::IPluginV2IOExt&>(plugin));
    case nv::PluginVersion::kV2_EXT: return make_ext_interface(static_cast<nv::IPluginV2Ext&>(plugin));
    case nv::PluginVersion::kV2: return make_plain_interface(plugin);
  }
  return error(Code::kUnsupported, "getTensorRTVersion returned ", version, ", whose upper byte ", version >> 24U,
               " is no PluginVersion");
}

Result<std::vector<DType>> output_types_of(const nv::IPluginV2Ext& plugin, const InferContext& cx,
                                           const PluginIdentity& identity) {
  std::vector<nv::DataType> inputs;
  for (int i = 0; i < cx.num_inputs(); ++i) inputs.push_back(api::to_api(TRY(cx.input(i)).get().dtype));
  std::vector<DType> result;
  for (int i = 0; i < cx.num_outputs(); ++i)
    result.push_back(TRY(in_context(api::from_api(plugin.getOutputDataType(i, inputs.data(), count_of(inputs))),
                                    [&] { return str(identity, ": getOutputDataType of output ", i); })));
  return result;
}

}  // namespace kiln::plugin
