#include "api/run/testing/logged_plugins_v2.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace kiln::api::testing {
namespace {

int64_t volume_of(const nv::Dims& dims) {
  return std::accumulate(dims.d, dims.d + dims.nbDims, int64_t{1}, std::multiplies<>());
}

/// Whether tensor `position` has an order that the plugin takes, and input 0's.
bool takes(const PluginLog& log, const nv::PluginTensorDesc* tensors, int32_t position) {
  const nv::PluginTensorDesc& desc = tensors[position];
  const bool is_last = desc.format == nv::TensorFormat::kHWC, is_first = desc.format == nv::TensorFormat::kLINEAR;
  const bool is_taken = log.takes_both_orders ? is_last || is_first : log.takes_channels_last ? is_last : is_first;
  return is_taken && desc.type == nv::DataType::kFLOAT && desc.format == tensors[0].format;
}

}  // namespace

std::string text_of(const nv::Dims& dims) {
  std::string text;
  for (int32_t axis = 0; axis < dims.nbDims; ++axis) {
    if (axis > 0) text += 'x';
    text += std::to_string(dims.d[axis]);
  }
  return text;
}

template <class Interface>
void LoggedV2<Interface>::serialize(void* buffer) const noexcept {
  log_.add(is_configured_ ? "serialize" : "serialize unconfigured");
  std::memcpy(buffer, &factor_, sizeof(factor_));
  if (log_.fails_in == "serialize") static_cast<char*>(buffer)[sizeof(factor_)] = 0;  // one byte too many
}

template <class Interface>
int32_t LoggedV2<Interface>::scale(int64_t count, const void* const* in, void* const* out, void* workspace) {
  std::fill_n(static_cast<char*>(workspace), log_.workspace_bytes, 'w');
  for (int64_t i = 0; i < count; ++i)
    static_cast<float*>(out[0])[i] = factor_ * static_cast<const float*>(in[0])[i] + 1000 * static_cast<float>(count_);
  ++count_;
  return 0;
}

template <class Interface>
nv::DataType LoggedV2Ext<Interface>::getOutputDataType(int32_t, const nv::DataType* in, int32_t) const noexcept {
  return this->fails("getOutputDataType") ? static_cast<nv::DataType>(99) : in[0];
}
template <class Interface>
void LoggedV2Ext<Interface>::attachToContext(cudnnContext* cudnn, cublasContext* cublas, nv::IGpuAllocator*) noexcept {
  this->log_.add(cudnn || cublas ? "attachToContext with handles" : "attachToContext");
}

nv::IPluginV2DynamicExt* ScaleDynamic::clone() const noexcept {
  return fails("clone") ? nullptr : new ScaleDynamic(*this);
}
nv::DimsExprs ScaleDynamic::getOutputDimensions(int32_t, const nv::DimsExprs* in, int32_t,
                                                nv::IExprBuilder& builder) noexcept {
  if (fails("getOutputDimensions")) return {-1, {}};
  if (log_.fails_in == "declareSizeTensor") builder.declareSizeTensor(0, *in[0].d[0], *in[0].d[0]);
  return in[0];
}
bool ScaleDynamic::supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                             int32_t) noexcept {
  return !fails("supportsFormatCombination") && takes(log_, tensors, position);
}
void ScaleDynamic::configurePlugin(const nv::DynamicPluginTensorDesc* in, int32_t,
                                   const nv::DynamicPluginTensorDesc* out, int32_t) noexcept {
  is_configured_ = true;
  log_.add("configurePlugin " + text_of(in[0].desc.dims) + " of " + text_of(in[0].min) + " to " + text_of(in[0].max) +
           " -> " + text_of(out[0].desc.dims));
}
size_t ScaleDynamic::getWorkspaceSize(const nv::PluginTensorDesc* in, int32_t, const nv::PluginTensorDesc*,
                                      int32_t) const noexcept {
  log_.add("getWorkspaceSize " + text_of(in[0].dims));
  return log_.workspace_bytes;
}
int32_t ScaleDynamic::enqueue(const nv::PluginTensorDesc* in_desc, const nv::PluginTensorDesc*, const void* const* in,
                              void* const* out, void* workspace, cudaStream_t) noexcept {
  return fails("enqueue " + text_of(in_desc[0].dims)) ? 22 : scale(volume_of(in_desc[0].dims), in, out, workspace);
}

template <class Logged>
nv::Dims ScaleBatched<Logged>::getOutputDimensions(int32_t, const nv::Dims* in, int32_t) noexcept {
  return this->fails("getOutputDimensions " + text_of(in[0])) ? nv::Dims{-1, {}} : in[0];
}
template <class Logged>
size_t ScaleBatched<Logged>::getWorkspaceSize(int32_t max_batch) const noexcept {
  this->log_.add("getWorkspaceSize " + std::to_string(max_batch));
  return this->log_.workspace_bytes;
}
template <class Logged>
int32_t ScaleBatched<Logged>::enqueue(int32_t batch, const void* const* in, void* const* out, void* workspace,
                                      cudaStream_t) noexcept {
  const int64_t elements_of_one = 3;  // as all tests have it
  return this->fails("enqueue " + std::to_string(batch)) ? 22
                                                         : this->scale(batch * elements_of_one, in, out, workspace);
}

nv::IPluginV2IOExt* ScaleIo::clone() const noexcept { return fails("clone") ? nullptr : new ScaleIo(*this); }
void ScaleIo::configurePlugin(const nv::PluginTensorDesc* in, int32_t, const nv::PluginTensorDesc* out,
                              int32_t) noexcept {
  is_configured_ = true;
  log_.add("configurePlugin " + text_of(in[0].dims) + " -> " + text_of(out[0].dims));
}
bool ScaleIo::supportsFormatCombination(int32_t position, const nv::PluginTensorDesc* tensors, int32_t,
                                        int32_t) const noexcept {
  return !fails("supportsFormatCombination") && takes(log_, tensors, position);
}

nv::IPluginV2Ext* ScaleExt::clone() const noexcept { return fails("clone") ? nullptr : new ScaleExt(*this); }
bool ScaleExt::supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept {
  return !fails("supportsFormat " + std::to_string(static_cast<int32_t>(format))) && type == nv::DataType::kFLOAT &&
         format == nv::TensorFormat::kLINEAR;
}
void ScaleExt::configurePlugin(const nv::Dims* in, int32_t, const nv::Dims* out, int32_t, const nv::DataType* in_types,
                               const nv::DataType* out_types, const bool* in_broadcast, const bool* out_broadcast,
                               nv::PluginFormat format, int32_t max_batch) noexcept {
  is_configured_ = true;
  const bool is_plain = in_types[0] == nv::DataType::kFLOAT && out_types[0] == nv::DataType::kFLOAT &&
                        !in_broadcast[0] && !out_broadcast[0] && format == nv::TensorFormat::kLINEAR;
  log_.add("configurePlugin " + text_of(in[0]) + " -> " + text_of(out[0]) + " batch " + std::to_string(max_batch) +
           (is_plain ? "" : " of other types"));
}

nv::IPluginV2* ScalePlain::clone() const noexcept { return fails("clone") ? nullptr : new ScalePlain(*this); }
bool ScalePlain::supportsFormat(nv::DataType type, nv::PluginFormat format) const noexcept {
  return !fails("supportsFormat " + std::to_string(static_cast<int32_t>(format))) && type == nv::DataType::kFLOAT &&
         format == nv::TensorFormat::kLINEAR;
}
void ScalePlain::configureWithFormat(const nv::Dims* in, int32_t, const nv::Dims* out, int32_t, nv::DataType type,
                                     nv::PluginFormat format, int32_t max_batch) noexcept {
  is_configured_ = true;
  const bool is_plain = type == nv::DataType::kFLOAT && format == nv::TensorFormat::kLINEAR;
  log_.add("configureWithFormat " + text_of(in[0]) + " -> " + text_of(out[0]) + " batch " + std::to_string(max_batch) +
           (is_plain ? "" : " of other types"));
}

template <class Plugin>
nv::IPluginV2* LoggedCreatorV2<Plugin>::createPlugin(const char*, const nv::PluginFieldCollection* fields) noexcept {
  log_.add("createPlugin");
  if (log_.fails_in == "createPlugin") return nullptr;
  for (int32_t i = 0; i < fields->nbFields; ++i)
    if (std::string_view(fields->fields[i].name) == "factor")
      return new Plugin(log_, *static_cast<const float*>(fields->fields[i].data));
  return nullptr;
}
template <class Plugin>
nv::IPluginV2* LoggedCreatorV2<Plugin>::deserializePlugin(const char* layer, const void* data, size_t length) noexcept {
  log_.add(std::string("deserializePlugin ") + layer);
  if (log_.fails_in == "deserializePlugin") return nullptr;
  float factor;
  if (length != sizeof(factor)) return nullptr;
  std::memcpy(&factor, data, sizeof(factor));
  return new Plugin(log_, factor);
}

template class LoggedV2<nv::IPluginV2>;
template class LoggedV2<nv::IPluginV2Ext>;
template class LoggedV2<nv::IPluginV2IOExt>;
template class LoggedV2<nv::IPluginV2DynamicExt>;
template class ScaleBatched<LoggedV2<nv::IPluginV2>>;
template class ScaleBatched<LoggedV2Ext<nv::IPluginV2Ext>>;
template class ScaleBatched<LoggedV2Ext<nv::IPluginV2IOExt>>;
template class LoggedCreatorV2<ScaleDynamic>;
template class LoggedCreatorV2<ScaleIo>;
template class LoggedCreatorV2<ScaleExt>;
template class LoggedCreatorV2<ScalePlain>;

}  // namespace kiln::api::testing
