#include "api/run/testing/logged_plugins.h"

#include <algorithm>

#include "api/run/testing/shared_memory.h"

namespace kiln::api::testing {

int PluginLog::count(const std::string& call) const { return static_cast<int>(std::ranges::count(calls, call)); }

nv::IPluginCapability* LoggedPlugin::getCapabilityInterface(nv::PluginCapabilityType type) noexcept {
  switch (type) {
    case nv::PluginCapabilityType::kCORE: return static_cast<nv::IPluginV3OneCore*>(this);
    case nv::PluginCapabilityType::kBUILD: return static_cast<nv::IPluginV3OneBuild*>(this);
    case nv::PluginCapabilityType::kRUNTIME:
      return log_.lacks_runtime ? nullptr : static_cast<nv::IPluginV3OneRuntime*>(this);
  }
  return nullptr;
}
int32_t LoggedPlugin::configurePlugin(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                                      int32_t) noexcept {
  return fails("configurePlugin") ? 11 : 0;
}
size_t LoggedPlugin::getWorkspaceSize(const nv::DynamicPluginTensorDesc*, int32_t, const nv::DynamicPluginTensorDesc*,
                                      int32_t) const noexcept {
  return log_.workspace_bytes;
}
int32_t LoggedPlugin::getValidTactics(int32_t* tactics, int32_t count) noexcept {
  if (fails("getValidTactics")) return 12;
  std::copy_n(log_.tactics.begin(), count, tactics);
  return 0;
}
int32_t LoggedPlugin::setTactic(int32_t tactic) noexcept {
  tactic_ = tactic;
  return fails("setTactic") ? 13 : 0;
}
int32_t LoggedPlugin::onShapeChange(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc* out,
                                    int32_t num_out) noexcept {
  std::string shapes = "onShapeChange";
  for (int32_t i = 0; i < num_out; ++i) {
    shapes += i == 0 ? " " : ", ";
    for (int32_t axis = 0; axis < out[i].dims.nbDims; ++axis) {
      if (axis > 0) shapes += 'x';
      shapes += std::to_string(out[i].dims.d[axis]);
    }
  }
  log_.add(shapes);
  return log_.fails_in == "onShapeChange" ? 14 : 0;
}
nv::IPluginV3* LoggedPlugin::attachToContext(nv::IPluginResourceContext* context) noexcept {
  log_.allocator = context->getGpuAllocator();
  if (log_.when_attached) log_.when_attached();
  if (fails("attachToContext")) return nullptr;
  return log_.returns_itself == "attachToContext" ? this : clone();
}

nv::IPluginV3* ScalePlugin::clone() noexcept {
  if (log_.returns_itself == "clone") return this;
  return fails("clone") ? nullptr : new ScalePlugin(*this);
}
int32_t ScalePlugin::getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept {
  out[0] = in[0];
  return fails("getOutputDataTypes") ? 15 : 0;
}
int32_t ScalePlugin::getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t,
                                     nv::DimsExprs* out, int32_t, nv::IExprBuilder&) noexcept {
  out[0] = in[0];
  return fails("getOutputShapes") ? 16 : 0;
}
bool ScalePlugin::supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                            int32_t) noexcept {
  const nv::PluginTensorDesc& desc = tensors[position].desc;
  const auto wanted = log_.takes_channels_last ? nv::TensorFormat::kHWC : nv::TensorFormat::kLINEAR;
  return !fails("supportsFormatCombination") && desc.type == nv::DataType::kFLOAT && desc.format == wanted;
}
int32_t ScalePlugin::enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc*, const void* const* in,
                             void* const* out, void* workspace, cudaStream_t) noexcept {
  if (fails("enqueue")) return 17;
  int64_t count = 1;
  for (int32_t axis = 0; axis < in_desc[0].dims.nbDims; ++axis) count *= in_desc[0].dims.d[axis];
  std::fill_n(static_cast<char*>(workspace), log_.workspace_bytes, 'w');
  for (int64_t i = 0; i < count; ++i)
    static_cast<float*>(out[0])[i] =
        factor_ * static_cast<const float*>(in[0])[i] + static_cast<float>(tactic_) + static_cast<float>(count_) * 1000;
  ++count_;
  return 0;
}
const nv::PluginFieldCollection* ScalePlugin::getFieldsToSerialize() noexcept {
  field_ = {"factor", &factor_, nv::PluginFieldType::kFLOAT32, 1};
  fields_ = {1, &field_};
  return &fields_;
}

int32_t CopyPlugin::getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept {
  out[0] = in[0];
  return 0;
}
int32_t CopyPlugin::getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t, nv::DimsExprs* out,
                                    int32_t, nv::IExprBuilder&) noexcept {
  out[0] = in[0];
  return 0;
}
bool CopyPlugin::supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                           int32_t) noexcept {
  return tensors[position].desc.type == nv::DataType::kFLOAT &&
         tensors[position].desc.format == nv::TensorFormat::kLINEAR;
}
int32_t CopyPlugin::enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc*, const void* const* in,
                            void* const* out, void*, cudaStream_t stream) noexcept {
  log_.add("enqueue");
  size_t bytes = sizeof(float);
  for (int32_t axis = 0; axis < in_desc[0].dims.nbDims; ++axis) bytes *= static_cast<size_t>(in_desc[0].dims.d[axis]);
  return copy_on(stream, out[0], in[0], bytes) ? 0 : 18;
}

int32_t PositivePlugin::getOutputDataTypes(nv::DataType* out, int32_t, const nv::DataType* in, int32_t) const noexcept {
  out[0] = in[0];
  out[1] = nv::DataType::kINT32;
  return 0;
}
int32_t PositivePlugin::getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs* shapes, int32_t,
                                        nv::DimsExprs* out, int32_t, nv::IExprBuilder& builder) noexcept {
  const nv::IDimensionExpr* most = in[0].d[0];
  const auto* half = builder.operation(nv::DimensionOperation::kFLOOR_DIV, *most, *builder.constant(2));
  out[1].nbDims = 0;
  out[0].nbDims = 2;
  out[0].d[0] = shapes[0].d[0];
  out[0].d[1] = builder.declareSizeTensor(1, *half, *most);
  return 0;
}
bool PositivePlugin::supportsFormatCombination(int32_t position, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                               int32_t) noexcept {
  return tensors[position].desc.format == nv::TensorFormat::kLINEAR;
}
int32_t PositivePlugin::enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc* out_desc,
                                const void* const* in, void* const* out, void*, cudaStream_t) noexcept {
  const auto* x = static_cast<const float*>(in[0]);
  auto* y = static_cast<float*>(out[0]);
  int32_t found = 0;
  for (int64_t row = 0; row < out_desc[0].dims.d[0]; ++row) {
    found = 0;
    for (int64_t i = 0; i < in_desc[0].dims.d[0]; ++i)
      if (x[i] > 0) *y++ = x[i], ++found;
  }
  *static_cast<int32_t*>(out[1]) = found;
  return 0;
}

template <>
nv::IPluginV3* LoggedCreator<ScalePlugin>::make(const nv::PluginFieldCollection& fields) {
  for (int32_t i = 0; i < fields.nbFields; ++i)
    if (std::string_view(fields.fields[i].name) == "factor")
      return new ScalePlugin(log_, *static_cast<const float*>(fields.fields[i].data));
  return nullptr;
}
template <>
nv::IPluginV3* LoggedCreator<CopyPlugin>::make(const nv::PluginFieldCollection&) {
  return new CopyPlugin(log_);
}
template <>
nv::IPluginV3* LoggedCreator<PositivePlugin>::make(const nv::PluginFieldCollection&) {
  return new PositivePlugin(log_);
}

}  // namespace kiln::api::testing
