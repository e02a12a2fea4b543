#include "backend/cpu/device/host_event.h"

#include <chrono>

namespace kiln::cpu {
namespace {

/// Returns the failure of the queue's work, if there is one, after everything queued behind it has seen the failure.
Status outcome(HostQueue& queue) {
  if (!queue.faulted()) return {};
  TRY(queue.run_until(queue.pushed()));
  return queue.take_fault();
}

std::unexpected<Error> captured() {
  return error(Code::kState, "the event was last recorded in a capture, where no time passes");
}

}  // namespace

HostEvent::Mark HostEvent::mark() const {
  const std::lock_guard lock(mutex_);
  return mark_;
}

void HostEvent::stamp(HostQueue&, const HostItem& item) {
  auto& event = *static_cast<HostEvent*>(item.kept.get());
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  const std::lock_guard lock(event.mutex_);
  if (event.uses_ == item.number) event.time_ns_ = now;
}

Status HostEvent::synchronize() {
  const Mark mark = this->mark();
  if (mark.captured) return captured();
  if (!mark.queue) return {};
  TRY(mark.queue->run_until(mark.position));
  return outcome(*mark.queue);
}

Result<bool> HostEvent::query() {
  const Mark mark = this->mark();
  if (mark.captured) return captured();
  if (!mark.queue) return true;
  if (!mark.queue->reached(mark.position)) {
    mark.queue->urge();
    return false;
  }
  TRY(outcome(*mark.queue));
  return true;
}

Result<int64_t> HostEvent::time_ns() const {
  const std::lock_guard lock(mutex_);
  if (timing_ == Timing::kOff) return error(Code::kInvalidArgument, "the event keeps no time");
  if (mark_.captured) return captured();
  if (!mark_.queue) return error(Code::kInvalidArgument, "the event was never recorded");
  if (!mark_.queue->reached(mark_.position)) return error(Code::kState, "the event is not reached yet");
  return time_ns_;
}

Result<float> HostEvent::elapsed_ms(const HostEvent& start, const HostEvent& end) {
  const int64_t from = TRY(start.time_ns()), to = TRY(end.time_ns());
  return static_cast<float>(static_cast<double>(to - from) * 1e-6);
}

}  // namespace kiln::cpu
