#include "runtime/host_runner.h"

#include <algorithm>
#include <chrono>

#include "runtime/launch.h"
#include "runtime/value_watch.h"

namespace kiln::runtime {

void HostRunner::fill(Invocation& invocation, const Binding& binding) {
  invocation.runner = this;
  invocation.binding = binding.id;
  invocation.at = binding.at;
  invocation.times_ms.resize(binding.steps.size());
}

Status HostRunner::prepare(Binding& binding) {
  for (Invocation& invocation : invocations_) fill(invocation, binding);
  next_ = 0;
  binding_ = &binding;
  return {};
}

/// Frees the memory of the binding's captured runs. From here on launching their graphs fails.
void HostRunner::retire(std::unique_ptr<Binding> binding) {
  if (latest_ && latest_->binding == binding->id) latest_ = nullptr;
  for (const std::unique_ptr<Invocation>& invocation : captured_) {
    if (invocation->binding != binding->id) continue;
    invocation->at = StepPointers();
    invocation->times_ms = std::vector<float>();
  }
  binding_ = nullptr;
}

Status HostRunner::wait_idle() {
  for (const Invocation& invocation : invocations_)
    if (invocation.in_flight.load(std::memory_order_acquire)) TRY(invocation.stream->synchronize());
  return {};
}

Status HostRunner::enqueue(const Run& run, Stream& stream) {
  latest_was_captured_ = stream.capturing();
  if (latest_was_captured_) [[unlikely]]
    return capture(run, stream);
  Invocation& invocation = invocations_[next_];
  if (invocation.in_flight.load(std::memory_order_acquire)) TRY(invocation.stream->synchronize());
  next_ = (next_ + 1) % invocations_.size();
  invocation.at.set(run.addresses);
  invocation.stream = &stream;
  invocation.timed = settings_.timed;
  invocation.has_times.store(false, std::memory_order_relaxed);
  invocation.in_flight.store(true, std::memory_order_release);
  latest_ = &invocation;
  if (Status queued = stream.launch_host(&HostRunner::run, &invocation); !queued) [[unlikely]] {
    invocation.in_flight.store(false, std::memory_order_release);
    return queued;
  }
  return settings_.mark_inputs_consumed(stream);
}

Status HostRunner::capture(const Run& run, Stream& stream) {
  auto invocation = std::make_unique<Invocation>();
  fill(*invocation, run.binding);
  invocation->stream = &stream;
  invocation->timed = settings_.timed;
  invocation->at.set(run.addresses);
  const auto known = std::ranges::find_if(captured_, [&](const std::unique_ptr<Invocation>& earlier) {
    return earlier->binding == invocation->binding && earlier->stream == &stream &&
           earlier->timed == invocation->timed && earlier->at.pointers == invocation->at.pointers;
  });
  latest_ = known == captured_.end() ? captured_.emplace_back(std::move(invocation)).get() : known->get();
  TRY(stream.launch_host(&HostRunner::run, latest_));
  return settings_.mark_inputs_consumed(stream);
}

void HostRunner::fault(Stream& stream, Error error) const {
  if (settings_.faults) settings_.faults->faulted(error, &stream);
  stream.fault(std::move(error));
}

void HostRunner::run(void* argument) {
  Invocation& invocation = *static_cast<Invocation*>(argument);
  const std::lock_guard running(invocation.running);
  invocation.has_times.store(false, std::memory_order_relaxed);
  if (invocation.runner->is_current(invocation)) invocation.runner->run_steps(invocation);
  invocation.has_times.store(invocation.timed && !invocation.stream->faulted(), std::memory_order_release);
  invocation.in_flight.store(false, std::memory_order_release);
}

/// Faults the stream where the binding is gone.
bool HostRunner::is_current(const Invocation& invocation) {
  if (binding_ && binding_->id == invocation.binding) return true;
  if (!invocation.stream->faulted())
    fault(*invocation.stream, {Code::kDevice,
                               "the run was captured before the context's shapes, profile or "
                               "memory changed; capture it again"});
  return false;
}

/// Runs one step, and notes how long it took unless `time_ms` is null. The error has its name.
Status HostRunner::run_step(size_t s, void** at, std::byte* workspace, float* time_ms) {
  using Clock = std::chrono::steady_clock;
  const plan::Step& step = binding_->profile.steps[s];
  const RunArguments arguments{at, at + step.inputs.size(), workspace, nullptr, binding_->sizes.of_step(s)};
  const StepRange range(step, settings_.ranges);
  const Clock::time_point start = time_ms ? Clock::now() : Clock::time_point{};
  if (Status ran = runtime::run_step(*binding_->steps[s], arguments); !ran)
    return error(ran.error().code, "step '", step.name, "': ", ran.error().message);
  if (time_ms) *time_ms = std::chrono::duration<float, std::milli>(Clock::now() - start).count();
  return {};
}

void HostRunner::run_steps(Invocation& invocation) {
  void** at = invocation.at.pointers.data();
  for (size_t s = 0; s < binding_->steps.size() && !invocation.stream->faulted(); ++s) {
    if (Status ran = run_step(s, at, invocation.at.workspace, invocation.timed ? &invocation.times_ms[s] : nullptr);
        !ran)
      return fault(*invocation.stream, ran.error());
    at += binding_->profile.steps[s].inputs.size() + binding_->profile.steps[s].outputs.size();
  }
}

/// The sizes that a segment decides have to be known when `enqueue` returns, so the calling thread runs them.
Status HostRunner::run_segment(Binding& binding, size_t segment, Stream& stream) {
  Invocation& invocation = invocations_[0];
  if (segment == 0) {
    TRY(wait_idle());
    TRY(stream.synchronize());
    invocation.stream = &stream;
    invocation.timed = settings_.timed;
    invocation.has_times.store(false, std::memory_order_relaxed);
    latest_ = &invocation;
    latest_was_captured_ = false;
  }
  StepPointers& pointers = binding.pointers_of(segment);
  void** at = pointers.pointers.data();
  for (size_t s = binding.segments[segment].first; s < binding.segments[segment].end; ++s) {
    TRY(run_step(s, at, pointers.workspace, invocation.timed ? &invocation.times_ms[s] : nullptr));
    at += binding.profile.steps[s].inputs.size();
    if (settings_.watch) [[unlikely]]
      TRY(settings_.watch->step_ran(
          {binding.profile, s, at, binding.symbols_of(segment), binding.sizes, binding.growing}));
    at += binding.profile.steps[s].outputs.size();
  }
  if (segment + 1 < binding.segments.size()) return {};
  invocation.has_times.store(invocation.timed, std::memory_order_release);
  return settings_.mark_inputs_consumed(stream);
}

/// The times of the latest run, which it waits for. A failure stays with the stream, so that the program's own wait
/// reports it too.
Result<std::vector<float>> HostRunner::times_ms() const {
  if (!latest_) return error(Code::kState, "nothing was enqueued since the context's profile or memory changed");
  if (latest_->in_flight.load(std::memory_order_acquire))
    if (Status done = latest_->stream->synchronize(); !done) {
      latest_->stream->fault(done.error());
      return error(done.error().code, "the run failed: ", done.error().message);
    }
  const std::lock_guard done(latest_->running);  // a graph may run it again
  if (!latest_->has_times.load(std::memory_order_acquire))
    return error(Code::kState, "the latest run has no times: it has not begun, has failed, or timing was off");
  return latest_->times_ms;
}

}  // namespace kiln::runtime
