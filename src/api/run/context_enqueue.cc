// Running a context: on the program's stream, or waited for.
#include "api/base/convert.h"
#include "api/run/context.h"

#include <algorithm>

#include "api/run/program_stream.h"

namespace kiln::api {

namespace {

/// The memory that a program's allocator gives; null where it throws, which it has no right to.
void* memory_from(nvinfer1::IOutputAllocator& allocator, const char* name, void* current, int64_t size,
                  cudaStream_t stream) noexcept {
  try {
    return allocator.reallocateOutputAsync(name, current, static_cast<uint64_t>(size), 256, stream);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

/// Asks an output's allocator for memory, and tells it the shape. Without one, the memory is what the program set.
Result<void*> Context::memory_of(int output, const Extents& extents) {
  const auto i = static_cast<size_t>(output);
  nvinfer1::IOutputAllocator* allocator = output_allocators_[i];
  const plan::IoTensor& tensor = plan().outputs[i];
  if (!allocator) {
    TRY(context_->check_bound(output));
    return output_addresses_[i];
  }
  const int64_t size = size_bytes(tensor.dtype, tensor.format.storage_volume(extents));
  const bool executes = context_->address_source() == runtime::AddressSource::kBindings;
  void* const current = executes && given_memory_[i] ? given_memory_[i] : output_addresses_[i];
  // Allocators are never asked for nothing, and must give an address even of an empty tensor.
  void* memory = memory_from(*allocator, tensor.name.c_str(), current, std::max<int64_t>(size, 1), latest_stream_);
  if (!memory)
    return error(Code::kOutOfMemory, "output '", tensor.name, "': its allocator did not give ", size, " bytes");
  given_memory_[i] = memory;
  allocator->notifyShape(tensor.name.c_str(), to_api(extents));
  return memory;
}

/// Asks for the memory of outputs that have an allocator and whose shapes are known before the run.
Status Context::ask_output_allocators() {
  TRY(context_->infer_shapes());
  for (size_t i = 0; i < output_allocators_.size(); ++i) {
    const auto output = static_cast<int>(i);
    const Extents extents = context_->output_extents(output);
    if (output_allocators_[i] && std::ranges::count(extents, -1) == 0)
      context_->set_output_address(output, TRY(memory_of(output, extents)));
  }
  return {};
}

void Context::setProfiler(nvinfer1::IProfiler* profiler) noexcept {
  profiler_ = profiler;
  context_->set_timing(profiler != nullptr);
}

Status Context::report_times() const {
  struct Forward final : runtime::StepObserver {
    explicit Forward(nvinfer1::IProfiler& profiler) : profiler(profiler) {}
    void step_done(const plan::Step& step, float time_ms) override {
      profiler.reportLayerTime(step.name.c_str(), time_ms);
    }
    nvinfer1::IProfiler& profiler;
  } forward(*profiler_);
  return context_->report_times(forward);
}

/// Waits for launches of a captured graph, which this context does not see. On a GPU the graph's events tell when they
/// are done; the stream that was captured may be gone. On the host a run begins only when somebody waits for it, so
/// this waits for the stream that was captured, unless its handle shows that the program destroyed it. The program
/// itself waits for launches on other streams. A failure meanwhile stays with the stream, which reports it.
Status Context::wait_for_graph() const {
  if (!device().is_host()) return {};
  ProgramStream program;
  const Result<Ref<Stream>> opened = program.open(device(), latest_stream_);
  if (!opened) return {};
  Stream& stream = *opened;
  if (stream.capturing()) return error(Code::kState, "the run is being captured: there are no times yet");
  const Status done = stream.synchronize();
  if (!done) stream.fault(done.error());
  return done;
}

bool Context::reportToProfiler() const noexcept {
  return guard(reporter_, "IExecutionContext::reportToProfiler", [&]() -> Status {
    TRY(require(profiler_, "no profiler is set"));
    if (settings_.emits_profile) return {};  // enqueueV3 has told it
    if (!has_run_) return error(Code::kState, "nothing was enqueued");
    if (context_->latest_was_captured()) TRY(wait_for_graph());
    return report_times();
  });
}

Status Context::check_not_called() const {
  return debug_tensors_.is_calling()
             ? error(Code::kState,
                     "the context is in a run, which has called its debug listener: it cannot run another one")
             : Status();
}

/// Brings what the program has said of debug tensors to the run that follows.
void Context::apply_debug_states(cudaStream_t handle) {
  debug_tensors_.set_stream(handle);
  if (debug_tensors_.take_change()) context_->set_value_observer(debug_tensors_.is_on() ? &debug_tensors_ : nullptr);
}

Status Context::enqueue(Stream& stream, cudaStream_t handle) {
  latest_stream_ = handle;
  apply_debug_states(handle);
  TRY(context_->enqueue(stream));
  has_run_ = true;
  return {};
}

/// Gives shape outputs their own addresses back. They are written whenever shapes are inferred, at a time when memory
/// that an allocator gave may be gone.
void Context::forget_shape_memory() {
  for (size_t i = 0; i < output_allocators_.size(); ++i)
    if (output_allocators_[i] && plan().outputs[i].is_shape)
      context_->set_output_address(static_cast<int>(i), output_addresses_[i]);
}

/// Waits for the run. The observer has reported failures on a host stream; nobody has reported those on other devices.
Status Context::wait_for(Stream& stream, bool& faulted) {
  Status done = stream.synchronize();
  if (done && !device().is_host()) done = context_->check_runs(runtime::Runs::kLatest);
  faulted = !done;
  return device().is_host() ? Status() : done;
}

/// Runs where outputs' allocators give memory, as they are asked and told on the way.
Status Context::enqueue_outputs(Stream& stream, cudaStream_t handle) {
  if (num_output_allocators_ == 0) return enqueue(stream, handle);
  TRY(ask_output_allocators());
  context_->set_output_memory(this);
  Status queued = enqueue(stream, handle);
  context_->set_output_memory(nullptr);
  forget_shape_memory();
  return queued;
}

bool Context::enqueueV3(cudaStream_t handle) noexcept {
  bool faulted = false;  // the observer has told why
  const bool queued = guard(reporter_, "IExecutionContext::enqueueV3", [&]() -> Status {
    TRY(check_not_called());
    ProgramStream program;
    Stream& stream = TRY(program.open(device(), handle));
    latest_stream_ = handle;
    context_->set_address_source(runtime::AddressSource::kByName);
    TRY(enqueue_outputs(stream, handle));
    const bool reports = profiler_ && settings_.emits_profile;
    if (!settings_.debug_sync && !reports) return {};
    if (context_->latest_was_captured()) return {};  // nothing has run
    TRY(wait_for(stream, faulted));
    return reports && !faulted ? report_times() : Status();
  });
  return queued && !faulted;
}

bool Context::executeV2(void* const* bindings) noexcept {
  bool faulted = false;
  const bool queued = guard(reporter_, "IExecutionContext::executeV2", [&]() -> Status {
    TRY(check_not_called());
    TRY(require(bindings, "bindings is null"));
    const size_t inputs = plan().inputs.size();
    for (size_t i = 0; i < inputs; ++i) context_->set_input_address(static_cast<int>(i), bindings[i]);
    for (size_t i = 0; i < plan().outputs.size(); ++i) set_output_address(static_cast<int>(i), bindings[inputs + i]);
    if (!own_stream_) own_stream_ = TRY(device().create_stream());
    latest_stream_ = nullptr;
    context_->set_address_source(runtime::AddressSource::kBindings);
    TRY(enqueue_outputs(*own_stream_, nullptr));
    TRY(wait_for(*own_stream_, faulted));
    if (!faulted && profiler_) TRY(report_times());
    return {};
  });
  return queued && !faulted;
}

}  // namespace kiln::api
