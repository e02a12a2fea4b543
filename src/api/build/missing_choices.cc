#include "api/build/missing_choices.h"

#include <utility>

#include "api/run/devices.h"
#include "backend/cuda/device/cuda_device.h"

namespace kiln::api {
namespace {

using nv::BuilderFlag;

constexpr size_t kUnaskedSharedBytes = 48 << 10;  ///< of a block: every GPU gives them to any kernel

struct FlagName {
  BuilderFlag flag;
  const char* name;
};
/// Flags that change the plan in a way that Kiln does not have yet.
constexpr FlagName kMissing[] = {{BuilderFlag::kREFIT, "kREFIT"},
                                 {BuilderFlag::kREFIT_IDENTICAL, "kREFIT_IDENTICAL"},
                                 {BuilderFlag::kREFIT_INDIVIDUAL, "kREFIT_INDIVIDUAL"},
                                 {BuilderFlag::kSTRIP_PLAN, "kSTRIP_PLAN"},
                                 {BuilderFlag::kWEIGHT_STREAMING, "kWEIGHT_STREAMING"},
                                 {BuilderFlag::kVERSION_COMPATIBLE, "kVERSION_COMPATIBLE"},
                                 {BuilderFlag::kSAFETY_SCOPE, "kSAFETY_SCOPE"}};
/// Flags that let a weakly typed network compute in fewer bits.
constexpr FlagName kReduced[] = {{BuilderFlag::kFP16, "kFP16"}, {BuilderFlag::kBF16, "kBF16"},
                                 {BuilderFlag::kINT8, "kINT8"}, {BuilderFlag::kFP8, "kFP8"},
                                 {BuilderFlag::kINT4, "kINT4"}, {BuilderFlag::kFP4, "kFP4"}};

struct Unheeded {
  BuilderFlag flag;
  const char* name;
  const char* instead;
};
constexpr Unheeded kUnheeded[] = {
    {BuilderFlag::kSPARSE_WEIGHTS, "kSPARSE_WEIGHTS", "weights are taken to be dense"},
    {BuilderFlag::kSTRICT_NANS, "kSTRICT_NANS", "infinities and not-a-number may spread further than IEEE has it"},
    {BuilderFlag::kDISTRIBUTIVE_INDEPENDENCE, "kDISTRIBUTIVE_INDEPENDENCE",
     "the last bits of a result may depend on the batch that it is part of"},
    {BuilderFlag::kDEBUG, "kDEBUG", "layers run without waiting for each other"},
    {BuilderFlag::kDISABLE_COMPILATION_CACHE, "kDISABLE_COMPILATION_CACHE",
     "compiled kernels are kept in the folder that KILN_CACHE_DIR names"}};

/// Flags of types that only Quantize, Dequantize and constants bring into a network: those run with the flag and
/// without it.
struct Stored {
  BuilderFlag flag;
  const char* name;
  DType type;
};
constexpr Stored kStored[] = {{BuilderFlag::kFP8, "kFP8", DType::kF8E4M3},
                              {BuilderFlag::kINT4, "kINT4", DType::kI4},
                              {BuilderFlag::kFP4, "kFP4", DType::kF4E2M1}};

bool has_type(const ir::Graph& graph, DType type) {
  for (int i = 0; i < graph.num_values(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    const ir::NodeId producer = graph.value(id).producer;
    if ((producer == ir::NodeId::kNone || graph.alive(producer)) && graph.type(id).dtype == type) return true;
  }
  return false;
}

/// Whether a device multiplies numbers of the type, or reads them in their bits while it does.
bool multiplies(Device& device, DType type) {
  if (type == DType::kI4) return true;
  if (type != DType::kF8E4M3 || device.kind() != DeviceKind::kCuda) return false;
  const cuda::Properties& gpu = static_cast<const cuda::CudaDevice&>(device).properties();
  return std::pair(gpu.compute_major, gpu.compute_minor) >= std::pair(8, 9);
}

Status check_portability(const BuilderConfig& config) {
  if (config.getDefaultDeviceType() == nv::DeviceType::kDLA && !config.has(BuilderFlag::kGPU_FALLBACK))
    return error(Code::kUnsupported,
                 "the default device is DeviceType::kDLA, and there is none; "
                 "BuilderFlag::kGPU_FALLBACK lets layers run elsewhere");
  if (config.getEngineCapability() == nv::EngineCapability::kDLA_STANDALONE)
    return error(Code::kUnsupported,
                 "EngineCapability::kDLA_STANDALONE is not in Kiln: it makes loadables of a DLA, and there is none");
  if (config.getEngineCapability() == nv::EngineCapability::kSAFETY)
    return error(Code::kUnsupported,
                 "EngineCapability::kSAFETY is not in Kiln: there is no safety runtime that its plans could run in");
  if (config.getRuntimePlatform() == nv::RuntimePlatform::kWINDOWS_AMD64)
    return error(Code::kUnsupported,
                 "RuntimePlatform::kWINDOWS_AMD64 is not in Kiln: plans run on Linux, where they were built");
  if (config.getHardwareCompatibilityLevel() == nv::HardwareCompatibilityLevel::kAMPERE_PLUS &&
      TRY(engine_device_kind()) == DeviceKind::kCuda)
    return error(Code::kUnsupported,
                 "HardwareCompatibilityLevel::kAMPERE_PLUS is not in Kiln yet; a plan runs on GPUs of the compute "
                 "capability that it was built on");
  return {};
}

}  // namespace

Status check_choices(const Network& network, const BuilderConfig& config) {
  for (const FlagName& row : kMissing)
    if (config.has(row.flag)) return error(Code::kUnsupported, "BuilderFlag::", row.name, " is not in Kiln yet");
  for (const FlagName& row : kReduced)
    TRY(require(!network.strongly_typed() || !config.has(row.flag), "BuilderFlag::", row.name,
                " is set, and the network is strongly typed: its types decide"));
  TRY(check_portability(config));
  return {};
}

void warn_of_missing_choices(const BuilderConfig& config, const ir::Graph& graph, Device& device, Log& log) {
  for (const Stored& row : kStored) {
    if (!config.has(row.flag)) continue;
    if (!has_type(graph, row.type))
      log.warning("BuilderFlag::", row.name, " does nothing here: no tensor of the network is ", row.type,
                  ", and only its own Quantize and Dequantize layers make one so");
    else if (!multiplies(device, row.type))
      log.warning("BuilderFlag::", row.name, ": ", device.identity(), " multiplies ", row.type, " as floats");
  }
  for (const Unheeded& row : kUnheeded)
    if (config.has(row.flag)) log.warning("BuilderFlag::", row.name, " is not in Kiln yet: ", row.instead);
  if (config.getTilingOptimizationLevel() != nv::TilingOptimizationLevel::kNONE)
    log.warning("setTilingOptimizationLevel is not in Kiln yet: layers are not tiled together");
  const size_t shared = config.getMemoryPoolLimit(nv::MemoryPoolType::kTACTIC_SHARED_MEMORY);
  if (device.kind() == DeviceKind::kCuda && shared < kUnaskedSharedBytes)
    log.warning("MemoryPoolType::kTACTIC_SHARED_MEMORY is limited to ", shared,
                " bytes; kernels that take no more than the ", kUnaskedSharedBytes,
                " that a launch has without asking are chosen in any case");
}

}  // namespace kiln::api
