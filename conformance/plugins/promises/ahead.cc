#include "ahead.h"

#include <algorithm>
#include <cstring>

namespace kiln::promises {

void launch_add(const LaunchCall& call, int64_t addend) {
  constexpr int64_t kThreads = 32;
  const nv::IDimensionExpr* n = call.volume();
  SymInt grid(call.builder.operation(nv::DimensionOperation::kCEIL_DIV, *n, *call.constant(kThreads)));
  SymInt block(call.constant(kThreads)), count(n), added(call.constant(addend), nv::PluginArgDataType::kINT16);
  call.launch.setGridX(&grid);
  call.launch.setBlockX(&block);
  call.arguments.setNbSymExprs(2);
  call.arguments.setSymExpr(0, &count);
  call.arguments.setSymExpr(1, &added);
}

nv::IPluginCapability* AheadPlugin::getCapabilityInterface(nv::PluginCapabilityType type) noexcept {
  if (type == nv::PluginCapabilityType::kCORE) return static_cast<nv::IPluginV3QuickCore*>(this);
  if (type == nv::PluginCapabilityType::kBUILD) return static_cast<nv::IPluginV3QuickAOTBuild*>(this);
  fails("asked for a runtime part");
  return nullptr;
}

int32_t AheadPlugin::getOutputDataTypes(nv::DataType* out, int32_t num_out, const nv::DataType* in, const int32_t*,
                                        int32_t) const noexcept {
  out[0] = in[0];
  if (num_out > 1) out[1] = nv::DataType::kINT32;
  return fails("getOutputDataTypes");
}

int32_t AheadPlugin::getOutputShapes(const nv::DimsExprs* in, int32_t, const nv::DimsExprs*, int32_t,
                                     nv::DimsExprs* out, int32_t, nv::IExprBuilder& builder) noexcept {
  out[0] = in[0];
  if (says_.shapes) says_.shapes(in[0], out, builder);
  y_ = out[0];
  return fails("getOutputShapes");
}

int32_t AheadPlugin::getSupportedFormatCombinations(const nv::DynamicPluginTensorDesc* tensors, int32_t num_in,
                                                    int32_t num_out, nv::PluginTensorDesc* supported,
                                                    int32_t) noexcept {
  for (int32_t i = 0; i < num_in + num_out; ++i) {
    const bool is_scalar = tensors[i].desc.dims.nbDims == 0;
    supported[i].type = is_scalar ? nv::DataType::kINT32 : nv::DataType::kFLOAT;
    supported[i].format = is_scalar ? nv::PluginFormat::kLINEAR : says_.format;
  }
  return fails("getSupportedFormatCombinations");
}

int32_t AheadPlugin::getValidTactics(int32_t* tactics, int32_t) noexcept {
  std::ranges::copy(says_.tactics, tactics);
  return fails("getValidTactics");
}

int32_t AheadPlugin::getLaunchParams(const nv::DimsExprs* in, const nv::DynamicPluginTensorDesc* tensors, int32_t,
                                     int32_t, nv::IKernelLaunchParams* launch, nv::ISymExprs* arguments,
                                     nv::IExprBuilder& builder) noexcept {
  says_.launch({in[0], y_, tensors, tactic_, *launch, *arguments, builder});
  return fails("getLaunchParams");
}

int32_t AheadPlugin::getKernel(const nv::PluginTensorDesc*, int32_t, const nv::PluginTensorDesc*, int32_t,
                               const char** name, char** code, int32_t* size) noexcept {
  code_ = says_.code;
  *name = says_.gives_name ? says_.entry.c_str() : nullptr;
  *code = says_.gives_code ? code_.data() : nullptr;
  *size = static_cast<int32_t>(code_.size());
  return fails("getKernel");
}

}  // namespace kiln::promises
