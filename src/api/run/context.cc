#include "api/run/context.h"

#include "api/base/convert.h"
#include "api/run/configs.h"
#include "api/run/program_stream.h"

namespace kiln::api {

using nvinfer1::IGpuAllocator;
using nvinfer1::ProfilingVerbosity;

namespace {

constexpr uint64_t kAlignment = 256;

runtime::Context::Memory policy_of(nvinfer1::ExecutionContextAllocationStrategy strategy, IGpuAllocator* allocator) {
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  using Memory = runtime::Context::Memory;
  if (allocator || strategy == Strategy::kUSER_MANAGED) return Memory::kGiven;
  return strategy == Strategy::kSTATIC ? Memory::kOwnLargest : Memory::kOwn;
}

/// kNONE has a greater number than kLAYER_NAMES_ONLY, and tells less.
int amount(ProfilingVerbosity verbosity) {
  return verbosity == ProfilingVerbosity::kNONE ? 0 : verbosity == ProfilingVerbosity::kLAYER_NAMES_ONLY ? 1 : 2;
}

}  // namespace

Context::Context(const Engine& engine, const Reporter& parent, Strategy strategy,
                 std::unique_ptr<runtime::Context> context)
    : engine_(engine), reporter_(parent), strategy_(strategy), context_(std::move(context)) {
  mImpl = this;
  context_->set_fault_observer(this);
  settings_.nvtx_verbosity = engine.getProfilingVerbosity();
  output_allocators_.assign(plan().outputs.size(), nullptr);
}

Result<std::unique_ptr<Context>> Context::create(const Engine& engine, const Reporter& parent, Strategy strategy,
                                                 IGpuAllocator* allocator) {
  if (strategy == Strategy::kUSER_MANAGED) allocator = nullptr;
  auto made = TRY(runtime::Context::create(engine.runtime_engine(), policy_of(strategy, allocator)));
  std::unique_ptr<Context> context(new Context(engine, parent, strategy, std::move(made)));
  context->memory_.allocator = allocator;
  const runtime::Engine& loaded = *engine.runtime_engine();
  if (allocator)
    TRY(context->borrow_memory(strategy == Strategy::kSTATIC ? loaded.max_memory_bytes() : loaded.memory_bytes(0)));
  return context;
}

Context::~Context() {
  context_.reset();
  return_memory();
}

Status Context::borrow_memory(int64_t size_bytes) {
  if (size_bytes <= memory_.size_bytes) return {};
  return_memory();
  void* data = memory_.allocator->allocateAsync(static_cast<uint64_t>(size_bytes), kAlignment, 0, nullptr);
  if (!data)
    return error(Code::kOutOfMemory, "the GPU allocator has no ", size_bytes, " bytes for the context's memory");
  memory_.data = data;
  memory_.size_bytes = size_bytes;
  return context_->set_memory(data, size_bytes);
}

void Context::return_memory() {
  if (memory_.data) memory_.allocator->deallocateAsync(memory_.data, nullptr);
  memory_.data = nullptr;
  memory_.size_bytes = 0;
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
    TRY(context_->select_profile(index));
    if (!memory_.allocator) return {};
    return borrow_memory(context_->engine().memory_bytes(index));
  });
}

bool Context::setTemporaryStorageAllocator(IGpuAllocator* allocator) noexcept {
  settings_.temporary_allocator = allocator;  // no step allocates while it runs
  return true;
}

bool Context::setNvtxVerbosity(ProfilingVerbosity verbosity) noexcept {
  return guard(reporter_, "IExecutionContext::setNvtxVerbosity", [&]() -> Status {
    const auto number = static_cast<int32_t>(verbosity);
    TRY(require(number >= 0 && number < nvinfer1::EnumMax<ProfilingVerbosity>(), "verbosity ", number,
                " is not a ProfilingVerbosity"));
    TRY(require(amount(verbosity) <= amount(profiling_verbosity(plan())),
                "the engine was built with a lower profiling verbosity"));
    settings_.nvtx_verbosity = verbosity;
    return {};
  });
}

void Context::setAuxStreams(cudaStream_t* streams, int32_t count) noexcept {
  guard(reporter_, "IExecutionContext::setAuxStreams", [&]() -> Status {
    TRY(require(count >= 0 && (streams || count == 0), "auxStreams is null, or nbStreams ", count, " negative"));
    for (int32_t i = 0; i < count; ++i) TRY(check_stream(device(), streams[i]));
    return {};  // the engine uses none beside the stream of enqueueV3
  });
}

nvinfer1::IRuntimeConfig* Context::getRuntimeConfig() const noexcept {
  return guard(reporter_, "IExecutionContext::getRuntimeConfig", static_cast<nvinfer1::IRuntimeConfig*>(nullptr),
               [&]() -> nvinfer1::IRuntimeConfig* { return new RuntimeConfig(strategy_); });
}

bool Context::setInputConsumedEvent(cudaEvent_t event) noexcept {
  return event ? missing(reporter_, "IExecutionContext::setInputConsumedEvent", false) : true;
}

bool Context::setDebugListener(nvinfer1::IDebugListener* listener) noexcept {
  return listener ? missing(reporter_, "IExecutionContext::setDebugListener", false) : true;
}

bool Context::setTensorDebugState(char const*, bool) noexcept {
  return missing(reporter_, "IExecutionContext::setTensorDebugState", false);
}

bool Context::getDebugState(char const* name) const noexcept {
  return guard(reporter_, "IExecutionContext::getDebugState", false, [&]() -> Result<bool> {
    TRY(name_argument(name, "name"));
    return false;
  });
}

bool Context::setAllTensorsDebugState(bool) noexcept {
  return missing(reporter_, "IExecutionContext::setAllTensorsDebugState", false);
}
bool Context::setUnfusedTensorsDebugState(bool) noexcept {
  return missing(reporter_, "IExecutionContext::setUnfusedTensorsDebugState", false);
}
bool Context::setCommunicator(void*) noexcept {
  return missing(reporter_, "IExecutionContext::setCommunicator", false);
}

}  // namespace kiln::api
