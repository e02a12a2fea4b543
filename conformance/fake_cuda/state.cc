#include "state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kiln::fake_cuda {

State& state() {
  static State& all = *new State;
  return all;
}

thread_local cuda::ContextHandle current_context = nullptr;
thread_local int capture_mode = cuda::kCaptureGlobal;
thread_local std::vector<std::weak_ptr<Capture>> strict_captures;
thread_local bool in_host_function = false;

namespace {

/// Breaks the thread's captures where it does what they forbid, as the driver does: what waits, allocates or copies at
/// once. Whether it did.
bool breaks_captures(std::string_view function) {
  static constexpr std::string_view kForbidden[] = {
      "cuMemAlloc_v2", "cuMemAllocManaged",  "cuMemHostAlloc",      "cuMemFree_v2",  "cuMemcpy",
      "cuEventQuery",  "cuEventSynchronize", "cuStreamSynchronize", "cuStreamQuery", "cuCtxSynchronize"};
  std::erase_if(strict_captures, [](const std::weak_ptr<Capture>& capture) { return capture.expired(); });
  if (strict_captures.empty() || capture_mode == cuda::kCaptureRelaxed) return false;
  if (std::ranges::find(kForbidden, function) == std::end(kForbidden)) return false;
  for (const std::weak_ptr<Capture>& capture : strict_captures)
    if (const auto held = capture.lock()) held->broken = true;
  return true;
}

}  // namespace

int enter(const char* function, Needs needs) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.calls[function];
  if (s.failure.left > 0 && s.failure.function == function && --s.failure.left == 0) return s.failure.result;
  if (needs == Needs::kNothing) return 0;
  if (!s.started) return cuda::kNotInitialized;
  if (in_host_function) return cuda::kNotPermitted;
  if (needs == Needs::kInit) return 0;
  if (!current_context) return cuda::kInvalidContext;
  if (breaks_captures(function)) return cuda::kCaptureUnsupported;
  return s.sticky[current_context->device];
}

void wait_for(const char* function, unsigned long long stream) {
  const State& s = state();
  if (!current_context || !s.is_endless[current_context->device]) return;
  if (stream != 0 && !s.endless_streams.contains(stream)) return;
  std::fprintf(stderr, "%s would wait for ever: a kernel does not end\n", function);
  std::abort();
}

Launched misbehave(const std::string& kernel) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  auto& wrong = s.misbehaviour;
  if (wrong.part.empty() || kernel.find(wrong.part) == kernel.npos) return {};
  ++wrong.times;
  switch (wrong.how) {
    case Fault::kAtLaunch: return {wrong.result, {}};
    case Fault::kTrap:
      return {0, [result = wrong.result] {
                state().sticky[current_context->device] = result;
                return 0;
              }};
    case Fault::kEndless: return {0, [] { return never_end(), 0; }};
  }
  return {};
}

const Allocation* find_allocation(const void* pointer, size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = s.allocations.upper_bound(address);
  if (after == s.allocations.begin()) return nullptr;
  const auto& [start, allocation] = *--after;
  return address - start <= allocation.bytes && bytes <= allocation.bytes - (address - start) ? &allocation : nullptr;
}

namespace {

void reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.num_devices = 1, s.compute_major = 9, s.compute_minor = 0, s.version = 13000;
  s.calls.clear();
  s.failure = {};
  s.misbehaviour = {};
  for (int& sticky : s.sticky) sticky = 0;
  for (bool& endless : s.is_endless) endless = false;
  s.endless_streams.clear();
  s.live_objects = 0;
}
void set_devices(int count, int major, int minor) {
  const std::lock_guard lock(state().mutex);
  state().num_devices = count, state().compute_major = major, state().compute_minor = minor;
}
void set_version(int version) {
  const std::lock_guard lock(state().mutex);
  state().version = version;
}
void fail(const char* function, int64_t nth, int result) {
  const std::lock_guard lock(state().mutex);
  state().failure = {function, nth, result};
}
int64_t num_calls(const char* function) {
  const std::lock_guard lock(state().mutex);
  if (function) return state().calls[function];
  int64_t total = 0;
  for (const auto& [name, count] : state().calls) total += count;
  return total;
}
int64_t live_bytes() {
  const std::lock_guard lock(state().mutex);
  int64_t total = 0;
  for (const auto& [address, allocation] : state().allocations) total += static_cast<int64_t>(allocation.bytes);
  return total;
}
int64_t live_objects() {
  const std::lock_guard lock(state().mutex);
  return state().live_objects;
}
void define_kernel(const char* start, Kernel kernel, int num_arguments) {
  const std::lock_guard lock(state().mutex);
  state().kernels[start] = {kernel, num_arguments};
}
void define_struct_kernel(const char* start, Kernel kernel, int argument_bytes) {
  const std::lock_guard lock(state().mutex);
  state().kernels[start] = {kernel, kernel ? 1 : 0, argument_bytes};
}
void set_misbehaviour(const char* part, Fault how, int result) {
  const std::lock_guard lock(state().mutex);
  state().misbehaviour = {part, how, result, 0};
}
int64_t num_misbehaved() {
  const std::lock_guard lock(state().mutex);
  return state().misbehaviour.times;
}

}  // namespace
}  // namespace kiln::fake_cuda

const kiln::fake_cuda::Control* kiln_fake_cuda() {
  using namespace kiln::fake_cuda;
  static const Control control{
      reset,         set_devices,          set_version,      fail,          num_calls, live_bytes, live_objects,
      define_kernel, define_struct_kernel, set_misbehaviour, num_misbehaved};
  return &control;
}
