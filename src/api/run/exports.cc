// The exported C functions of NvInferRuntime.h and NvInferRuntimeBase.h, and the registries of NvInfer.h.
#include <NvInfer.h>
#include <NvInferRuntime.h>
#include <NvInferSafeRuntime.h>

#include "api/base/create.h"
#include "api/run/devices.h"
#include "api/run/runtime.h"
#include "plugin/registry.h"

int32_t getInferLibVersion() noexcept { return NV_TENSORRT_VERSION; }
int32_t getInferLibMajorVersion() noexcept { return NV_TENSORRT_MAJOR; }
int32_t getInferLibMinorVersion() noexcept { return NV_TENSORRT_MINOR; }
int32_t getInferLibPatchVersion() noexcept { return NV_TENSORRT_PATCH; }
int32_t getInferLibBuildVersion() noexcept { return NV_TENSORRT_BUILD; }

nvinfer1::ILogger* getLogger() noexcept { return kiln::api::first_logger(); }
nvinfer1::IPluginRegistry* getPluginRegistry() noexcept {
  kiln::plugin::Registry& registry = kiln::plugin::process_registry();
  registry.set_logger(getLogger());
  return &registry;
}
nvinfer1::IPluginRegistry* getSafePluginRegistry() noexcept {
  kiln::plugin::Registry& registry = kiln::plugin::safe_registry();
  registry.set_logger(getLogger());
  return &registry;
}

void* createInferRuntime_INTERNAL(void* logger, int32_t version) noexcept {
  nvinfer1::ILogger* program = kiln::api::accept_program(logger, "createInferRuntime", version);
  if (!program) return nullptr;
  const kiln::api::Reporter reporter(*program);
  return kiln::api::guard(reporter, "createInferRuntime", static_cast<nvinfer1::IRuntime*>(nullptr),
                          [&]() -> nvinfer1::IRuntime* {
                            kiln::api::announce_devices(reporter.log());
                            kiln::api::make_engine_device_current();
                            return new kiln::api::Runtime(*program);
                          });
}

void* createInferRefitter_INTERNAL(void* engine, void* logger, int32_t version) noexcept {
  nvinfer1::ILogger* program = kiln::api::accept_program(logger, "createInferRefitter", version);
  if (!program) return nullptr;
  const kiln::api::Reporter reporter(*program);
  if (!engine)
    return reporter.report("createInferRefitter", {kiln::Code::kInvalidArgument, "the engine is null"}), nullptr;
  return kiln::api::missing(reporter, "createInferRefitter", static_cast<void*>(nullptr));
}

namespace nvinfer1 {

IPluginRegistry* getBuilderPluginRegistry(EngineCapability capability) noexcept {
  return capability == EngineCapability::kSTANDARD ? ::getPluginRegistry() : nullptr;
}

safe::IPluginRegistry* getBuilderSafePluginRegistry(EngineCapability) noexcept {
  return nullptr;  // no safety-certified runtime
}

bool setInternalLibraryPath(AsciiChar const* path) noexcept {
  if (path) return true;  // there are no internal libraries to be found
  if (ILogger* logger = ::getLogger()) {
    const kiln::api::Reporter reporter(*logger);
    reporter.report("setInternalLibraryPath", {kiln::Code::kInvalidArgument, "path is null"});
  }
  return false;
}

}  // namespace nvinfer1
