#include "api/run/context.h"

#include "api/base/convert.h"
#include "api/run/configs.h"
#include "api/run/event_table.h"
#include "api/run/program_stream.h"
#include "backend/cuda/device/cuda_stream.h"

namespace kiln::api {

using nvinfer1::IGpuAllocator;
using nvinfer1::ProfilingVerbosity;

namespace {

runtime::Context::Memory policy_of(nvinfer1::ExecutionContextAllocationStrategy strategy) {
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  using Memory = runtime::Context::Memory;
  if (strategy == Strategy::kUSER_MANAGED) return Memory::kGiven;
  return strategy == Strategy::kSTATIC ? Memory::kOwnLargest : Memory::kOwn;
}

/// kNONE has a greater number than kLAYER_NAMES_ONLY, and tells less.
int amount(ProfilingVerbosity verbosity) {
  return verbosity == ProfilingVerbosity::kNONE ? 0 : verbosity == ProfilingVerbosity::kLAYER_NAMES_ONLY ? 1 : 2;
}

runtime::RangeDetail ranges_of(ProfilingVerbosity verbosity) {
  switch (verbosity) {
    case ProfilingVerbosity::kNONE: return runtime::RangeDetail::kNone;
    case ProfilingVerbosity::kLAYER_NAMES_ONLY: return runtime::RangeDetail::kNames;
    case ProfilingVerbosity::kDETAILED: return runtime::RangeDetail::kTactics;
  }
  return runtime::RangeDetail::kNone;
}

}  // namespace

Context::Context(const Engine& engine, const Reporter& parent, Strategy strategy,
                 std::unique_ptr<runtime::Context> context)
    : engine_(engine),
      reporter_(parent),
      strategy_(strategy),
      debug_tensors_(context->engine()),
      context_(std::move(context)) {
  mImpl = this;
  context_->set_fault_observer(this);
  context_->set_log(&reporter_.log());
  settings_.nvtx_verbosity = engine.getProfilingVerbosity();
  context_->set_ranges(ranges_of(settings_.nvtx_verbosity));
  output_allocators_.assign(plan().outputs.size(), nullptr);
  output_addresses_.assign(plan().outputs.size(), nullptr);
  given_memory_.assign(plan().outputs.size(), nullptr);
}

Result<std::unique_ptr<Context>> Context::create(const Engine& engine, const Reporter& parent, Strategy strategy) {
  auto made = TRY(runtime::Context::create(engine.runtime_engine(), policy_of(strategy)));
  return std::unique_ptr<Context>(new Context(engine, parent, strategy, std::move(made)));
}

void Context::setName(char const* name) noexcept {
  guard(reporter_, "IExecutionContext::setName", [&]() -> Status {
    settings_.name = TRY(name_argument(name, "name"));
    return {};
  });
}

void Context::setDeviceMemory(void* memory) noexcept {
  // The call has no size: the caller promises what getDeviceMemorySize said.
  guard(reporter_, "IExecutionContext::setDeviceMemory",
        [&] { return context_->set_memory(memory, memory ? context_->engine().max_memory_bytes() : 0); });
}

void Context::setDeviceMemoryV2(void* memory, int64_t size) noexcept {
  guard(reporter_, "IExecutionContext::setDeviceMemoryV2", [&]() -> Status {
    const int64_t needed = context_->engine().memory_bytes(context_->profile());
    TRY(require(size >= needed || !memory, "size ", size, " is below the ", needed, " bytes that profile ",
                context_->profile(), " needs"));
    return context_->set_memory(memory, memory ? size : 0);
  });
}

size_t Context::updateDeviceMemorySizeForShapes() noexcept {
  return guard(reporter_, "IExecutionContext::updateDeviceMemorySizeForShapes", size_t{0}, [&]() -> Result<size_t> {
    TRY(context_->infer_shapes());
    return static_cast<size_t>(context_->engine().memory_bytes(context_->profile()));
  });
}

bool Context::setOptimizationProfileAsync(int32_t index, cudaStream_t stream) noexcept {
  return guard(reporter_, "IExecutionContext::setOptimizationProfileAsync", [&]() -> Status {
    TRY(check_stream(device(), stream));
    return context_->select_profile(index);
  });
}

bool Context::setTemporaryStorageAllocator(IGpuAllocator* allocator) noexcept {
  return guard(reporter_, "IExecutionContext::setTemporaryStorageAllocator", [&]() -> Status {
    std::shared_ptr<Allocator> memory = TRY(ProgramAllocator::create(allocator, device()));
    context_->set_temporary_memory(memory.get());
    temporary_memory_ = std::move(memory);
    settings_.temporary_allocator = allocator;
    return {};
  });
}

bool Context::setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept {
  return guard(reporter_, "IExecutionContext::setNvtxVerbosity", [&]() -> Status {
    const auto number = static_cast<int32_t>(verbosity);
    TRY(require(number >= 0 && number < nvinfer1::EnumMax<ProfilingVerbosity>(), "verbosity ", number,
                " is not a ProfilingVerbosity"));
    TRY(require(amount(verbosity) <= amount(profiling_verbosity(plan())),
                "the engine was built with a lower profiling verbosity"));
    settings_.nvtx_verbosity = verbosity;
    context_->set_ranges(ranges_of(verbosity));
    return {};
  });
}

void Context::setAuxStreams(cudaStream_t* streams, int32_t count) noexcept {
  guard(reporter_, "IExecutionContext::setAuxStreams", [&]() -> Status {
    TRY(require(count >= 0 && (streams || count == 0), "auxStreams is null, or nbStreams, ", count, ", is negative"));
    std::vector<std::unique_ptr<Stream>> given;
    for (int32_t i = 0; i < count; ++i) {
      TRY(check_stream(device(), streams[i]));
      if (device().kind() == DeviceKind::kCuda)
        given.push_back(std::make_unique<cuda::CudaStream>(static_cast<cuda::CudaDevice&>(device()),
                                                           reinterpret_cast<cuda::StreamHandle>(streams[i])));
    }
    return context_->set_aux_streams(std::move(given));
  });
}

nvinfer1::IRuntimeConfig* Context::getRuntimeConfig() const noexcept {
  return guard(reporter_, "IExecutionContext::getRuntimeConfig", static_cast<nvinfer1::IRuntimeConfig*>(nullptr),
               [&]() -> nvinfer1::IRuntimeConfig* { return new RuntimeConfig(strategy_); });
}

bool Context::setInputConsumedEvent(cudaEvent_t event) noexcept {
  return guard(reporter_, "IExecutionContext::setInputConsumedEvent", [&]() -> Status {
    std::unique_ptr<Event> consumed;
    if (event) consumed = TRY(program_event(device(), event));
    context_->set_inputs_consumed(consumed.get());
    inputs_consumed_ = std::move(consumed);
    settings_.inputs_consumed = event;
    return {};
  });
}

bool Context::setDebugListener(nvinfer1::IDebugListener* listener) noexcept {
  debug_tensors_.set_listener(listener);
  return true;
}

bool Context::setTensorDebugState(char const* name, bool flag) noexcept {
  return guard(reporter_, "IExecutionContext::setTensorDebugState", [&]() -> Status {
    return debug_tensors_.set_state(std::string(TRY(name_argument(name, "name"))), flag);
  });
}

bool Context::getDebugState(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getDebugState", false,
               [&]() -> Result<bool> { return debug_tensors_.state(std::string(TRY(name_argument(name, "name")))); });
}

bool Context::setAllTensorsDebugState(bool flag) noexcept {
  return guard(reporter_, "IExecutionContext::setAllTensorsDebugState", [&]() -> Status {
    debug_tensors_.set_all_states(flag);
    return {};
  });
}

bool Context::setUnfusedTensorsDebugState(bool flag) noexcept {
  debug_tensors_.set_unfused_state(flag);
  return true;
}

bool Context::setCommunicator(void*) noexcept {
  return missing(reporter_, "IExecutionContext::setCommunicator", false);
}

}  // namespace kiln::api
