#include "api/run/engine.h"

#include <NvInfer.h>  // HardwareCompatibilityLevel

#include <algorithm>
#include <limits>

#include "api/base/convert.h"
#include "api/base/host_memory.h"
#include "api/run/configs.h"
#include "api/run/context.h"
#include "api/run/devices.h"
#include "api/run/inspector.h"
#include "api/run/library_handles.h"
#include "api/run/plan_bytes.h"
#include "api/run/plugin_services.h"
#include "api/run/tensor_format.h"
#include "base/address_of.h"
#include "plan/nested_steps.h"

namespace kiln::api {

using nvinfer1::IExecutionContext;
using nvinfer1::IHostMemory;
using nvinfer1::SerializationFlag;

namespace {

/// Fails for a plan of another architecture. The driver would refuse only kernels that it cannot load; others would
/// run, with tiles and memory of a GPU that is not there.
Status check_architecture(const plan::Plan& plan, const cuda::CudaDevice& device) {
  const std::string& built_for = plan.build.compute_capability;
  const std::string here = compute_capability(device);
  if (built_for.empty() || built_for == here) return {};
  return error(Code::kVersion, "plan: built for compute capability ", built_for, ", this device has ", here,
               "; rebuild it here");
}

}  // namespace

Result<nvinfer1::ICudaEngine*> make_engine(std::shared_ptr<const plan::Plan> plan, const plugin::Makers& makers,
                                           const Reporter& parent, nvinfer1::IGpuAllocator* allocator) {
  Device& device = TRY(engine_device());
  const std::string_view kind = device.kind() == DeviceKind::kCuda ? "cuda" : "cpu";
  if (plan->device_kind != kind)
    return error(Code::kVersion, "plan: built for device '", plan->device_kind, "', this is '", kind,
                 "'; rebuild it here, or run it with KILN_DEVICE=", plan->device_kind);
  if (device.kind() == DeviceKind::kCuda) TRY(check_architecture(*plan, static_cast<cuda::CudaDevice&>(device)));
  make_engine_device_current();
  Reporter reporter(parent);
  plugin::Services services = TRY(plugin_services(reporter, allocator));
  if (plugin::has_plugins_of_version_2(*plan))
    services.make_handles =
        library_handles(device, static_cast<nvinfer1::TacticSources>(plan->build.tactic_sources), parent.log());
  plan = TRY(plugin::make_plugins(std::move(plan), makers, services));
  auto memory = TRY(ProgramAllocator::create(allocator, device));
  auto engine = TRY(runtime::Engine::load(std::move(plan), device, parent.log(), std::move(memory)));
  return new Engine(std::move(engine), std::move(reporter));
}

nvinfer1::ProfilingVerbosity profiling_verbosity(const plan::Plan& plan) {
  return static_cast<nvinfer1::ProfilingVerbosity>(plan.build.profiling_verbosity);
}

Engine::Engine(std::shared_ptr<const runtime::Engine> engine, Reporter reporter)
    : engine_(std::move(engine)), reporter_(std::move(reporter)) {
  mImpl = this;
  for (const auto* tensors : {&plan().inputs, &plan().outputs})
    for (const plan::IoTensor& tensor : *tensors) format_texts_.push_back(describe_format(tensor));
  if (!plan().profiles.empty())
    num_layers_ = static_cast<int32_t>(plan::nested_steps(plan(), plan().profiles[0]).size());
  constexpr int64_t lowest = std::numeric_limits<int32_t>::min(), highest = std::numeric_limits<int32_t>::max();
  for (const plan::Profile& profile : plan().profiles)
    for (const plan::InputRange& range : profile.value_ranges)
      for (const Extents* wide : {&range.min, &range.opt, &range.max}) {
        auto& narrow = narrow_values_.emplace_back();
        for (const int64_t value : *wide) narrow.push_back(static_cast<int32_t>(std::clamp(value, lowest, highest)));
      }
}

Result<IHostMemory*> Engine::plan_bytes() const {
  auto bytes = TRY(write_plan_bytes(TRY(engine_->whole_plan())));
  return new HostMemory(std::move(bytes));
}

IHostMemory* Engine::serialize() const noexcept {
  return guard(reporter_, "ICudaEngine::serialize", static_cast<IHostMemory*>(nullptr), [&] { return plan_bytes(); });
}

IHostMemory* Engine::serializeWithConfig(nvinfer1::ISerializationConfig& config) const noexcept {
  return guard(reporter_, "ICudaEngine::serializeWithConfig", static_cast<IHostMemory*>(nullptr),
               [&]() -> Result<IHostMemory*> {
                 TRY(require(address_of(config) != nullptr, "the configuration is null"));
                 // Plans hold no lean runtime: leaving it out changes nothing.
                 for (const auto flag : {SerializationFlag::kEXCLUDE_WEIGHTS, SerializationFlag::kINCLUDE_REFIT})
                   if (config.getFlag(flag))
                     return error(Code::kUnsupported, "SerializationFlag::",
                                  flag == SerializationFlag::kEXCLUDE_WEIGHTS ? "kEXCLUDE_WEIGHTS" : "kINCLUDE_REFIT",
                                  " is not in Kiln yet");
                 return plan_bytes();
               });
}

nvinfer1::ISerializationConfig* Engine::createSerializationConfig() noexcept {
  return guard(reporter_, "ICudaEngine::createSerializationConfig",
               static_cast<nvinfer1::ISerializationConfig*>(nullptr),
               [&]() -> nvinfer1::ISerializationConfig* { return new SerializationConfig(reporter_); });
}

nvinfer1::IRuntimeConfig* Engine::createRuntimeConfig() noexcept {
  return guard(reporter_, "ICudaEngine::createRuntimeConfig", static_cast<nvinfer1::IRuntimeConfig*>(nullptr),
               [&]() -> nvinfer1::IRuntimeConfig* { return new RuntimeConfig; });
}

IExecutionContext* Engine::make_context(const char* call, Strategy strategy) noexcept {
  return guard(reporter_, call, static_cast<IExecutionContext*>(nullptr), [&]() -> Result<IExecutionContext*> {
    const auto number = static_cast<int32_t>(strategy);
    TRY(require(number >= 0 && number < nvinfer1::EnumMax<Strategy>(), "strategy ", number,
                " is not an ExecutionContextAllocationStrategy"));
    return TRY(Context::create(*this, reporter_, strategy)).release();
  });
}

IExecutionContext* Engine::createExecutionContext(Strategy strategy) noexcept {
  return make_context("ICudaEngine::createExecutionContext", strategy);
}

IExecutionContext* Engine::createExecutionContextWithoutDeviceMemory() noexcept {
  return make_context("ICudaEngine::createExecutionContextWithoutDeviceMemory", Strategy::kUSER_MANAGED);
}

IExecutionContext* Engine::createExecutionContextWithRuntimeConfig(nvinfer1::IRuntimeConfig* config) noexcept {
  const char* call = "ICudaEngine::createExecutionContext";
  if (config) return make_context(call, config->getExecutionContextAllocationStrategy());
  reporter_.report(call, Error{Code::kInvalidArgument, "runtimeConfig is null"});
  return nullptr;
}

nvinfer1::IEngineInspector* Engine::createEngineInspector() const noexcept {
  return guard(reporter_, "ICudaEngine::createEngineInspector", static_cast<nvinfer1::IEngineInspector*>(nullptr),
               [&]() -> nvinfer1::IEngineInspector* { return new Inspector(*this, reporter_); });
}

nvinfer1::IRefitter* Engine::createRefitter(nvinfer1::ILogger&) noexcept {
  return missing(reporter_, "ICudaEngine::createRefitter", static_cast<nvinfer1::IRefitter*>(nullptr));
}

size_t Engine::getDeviceMemorySize() const noexcept { return static_cast<size_t>(getDeviceMemorySizeV2()); }
int64_t Engine::getDeviceMemorySizeV2() const noexcept { return engine_->max_memory_bytes(); }

size_t Engine::getDeviceMemorySizeForProfile(int32_t profile) const noexcept {
  return static_cast<size_t>(getDeviceMemorySizeForProfileV2(profile));
}

int64_t Engine::getDeviceMemorySizeForProfileV2(int32_t index) const noexcept {
  return guard(reporter_, "ICudaEngine::getDeviceMemorySizeForProfileV2", int64_t{0}, [&]() -> Result<int64_t> {
    TRY(profile(index));
    return engine_->memory_bytes(index);
  });
}

bool Engine::isRefittable() const noexcept { return false; }
char const* Engine::getName() const noexcept { return plan().network_name.c_str(); }
int32_t Engine::getNbOptimizationProfiles() const noexcept { return engine_->num_profiles(); }

nvinfer1::EngineCapability Engine::getEngineCapability() const noexcept {
  return nvinfer1::EngineCapability::kSTANDARD;
}

nvinfer1::TacticSources Engine::getTacticSources() const noexcept {
  return static_cast<nvinfer1::TacticSources>(plan().build.tactic_sources);
}

nvinfer1::ProfilingVerbosity Engine::getProfilingVerbosity() const noexcept { return profiling_verbosity(plan()); }

nvinfer1::HardwareCompatibilityLevel Engine::getHardwareCompatibilityLevel() const noexcept {
  return nvinfer1::HardwareCompatibilityLevel::kNONE;
}

bool Engine::setWeightStreamingBudget(int64_t) noexcept {
  return missing(reporter_, "ICudaEngine::setWeightStreamingBudget", false);
}
bool Engine::setWeightStreamingBudgetV2(int64_t) noexcept {
  return missing(reporter_, "ICudaEngine::setWeightStreamingBudgetV2", false);
}

int64_t Engine::getEngineStat(nvinfer1::EngineStat stat) const noexcept {
  if (stat == nvinfer1::EngineStat::kSTRIPPED_WEIGHTS_SIZE) return 0;
  if (stat != nvinfer1::EngineStat::kTOTAL_WEIGHTS_SIZE) {
    reporter_.report("ICudaEngine::getEngineStat", Error{Code::kInvalidArgument, "stat is not an EngineStat"});
    return -1;
  }
  int64_t total = 0;
  for (const plan::Weight& weight : plan().weights) total += size_bytes(weight.value.dtype(), weight.value.volume());
  return total;
}

}  // namespace kiln::api
