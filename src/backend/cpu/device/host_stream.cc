#include "backend/cpu/device/host_stream.h"

namespace kiln::cpu {
namespace {

using Plain = void (*)(void*);
using Kept = void (*)(void*, bool);

void run_plain(HostQueue&, const HostItem& item) { reinterpret_cast<Plain>(item.work)(item.argument); }

void run_kept(HostQueue& queue, const HostItem& item) {
  reinterpret_cast<Kept>(item.work)(item.kept.get(), queue.faulted());
}

/// Drives the other queue to the item's position. Whatever the other queue waits for was queued still earlier, so that
/// waits cannot form a circle.
void run_wait(HostQueue& queue, const HostItem& item) {
  auto& other = *static_cast<HostQueue*>(item.kept.get());
  if (Status reached = other.run_until(item.number); !reached) queue.fault(std::move(reached).error());
  queue.share_fault(other);
}

void run_graph(HostQueue& queue, const HostItem& item) { static_cast<const HostGraph*>(item.kept.get())->run(queue); }

}  // namespace

HostStream::HostStream(std::shared_ptr<Standby> standby)
    : standby_(std::move(standby)), queue_(std::make_shared<HostQueue>(*standby_)) {
  standby_->join(*queue_);
}

HostStream::~HostStream() {
  if (standby_->lost()) {  // to free them would wait for threads that are not here
    static_cast<void>(new std::shared_ptr<HostQueue>(std::move(queue_)));
    static_cast<void>(new std::shared_ptr<Standby>(std::move(standby_)));
    return;
  }
  abandon_capture();
  // This fails only if the stream's own work destroys the stream; work queued behind it then has no place to run.
  static_cast<void>(queue_->run_until(queue_->pushed()));
  standby_->leave(*queue_);
}

Status HostStream::launch_host(void (*work)(void*), void* argument) {
  TRY(refuse_if_lost());
  queue_->push({run_plain, reinterpret_cast<void (*)()>(work), argument, nullptr, 0});
  return {};
}

Status HostStream::launch_kept(void (*work)(void*, bool), std::shared_ptr<void> argument) {
  queue_->push({run_kept, reinterpret_cast<void (*)()>(work), nullptr, std::move(argument), 0});
  return {};
}

Status HostStream::refuse_if_lost() const {
  return require(!standby_->lost(),
                 "the stream belongs to the process that this one was forked off: it has no thread here");
}

/// Spoils the capture in progress, since a capture forbids this call.
Status HostStream::refuse_in_capture(const char* call) {
  const auto capture = queue_->capture();
  if (!capture) return {};
  capture->invalidate();
  return error(Code::kState, call, ": the stream is being captured, so that nothing runs; the capture is spoilt");
}

Status HostStream::synchronize() {
  TRY(refuse_if_lost());
  TRY(refuse_in_capture("synchronize"));
  TRY(queue_->run_until(queue_->pushed()));
  return queue_->take_fault();
}

Result<bool> HostStream::query() {
  TRY(refuse_if_lost());
  TRY(refuse_in_capture("query"));
  if (!queue_->idle()) {
    queue_->urge();
    return false;
  }
  TRY(queue_->take_fault());
  return true;
}

Status HostStream::record(const std::shared_ptr<HostEvent>& event) {
  uint64_t use = 0;
  {
    const std::lock_guard lock(event->mutex_);
    use = ++event->uses_;
  }
  HostEvent::Mark mark;
  if (const auto capture = queue_->capture()) {
    mark.capture = capture;
    mark.captured = true;
  } else {
    // The event's lock is not held here: a push may run queued work, and that work may include a stamp of this event.
    mark.queue = queue_;
    mark.position = event->timing_ == HostEvent::Timing::kOn
                        ? queue_->push({HostEvent::stamp, nullptr, nullptr, event, use})
                        : queue_->pushed();
  }
  const std::lock_guard lock(event->mutex_);
  if (event->uses_ == use) event->mark_ = std::move(mark);
  return {};
}

Status HostStream::wait(const HostEvent& event) {
  const HostEvent::Mark mark = event.mark();
  const auto own = queue_->capture();
  if (mark.captured) {
    const auto capture = mark.capture.lock();
    if (!capture) return error(Code::kState, "the event was recorded in a capture that has ended");
    if (own == capture) return {};
    if (own) {
      own->invalidate();
      capture->invalidate();
      return error(Code::kState, "the stream and the event belong to two captures, which cannot be joined");
    }
    capture->join(queue_);
    queue_->set_capture(capture);
    return {};
  }
  if (own) {
    if (!mark.queue) return {};
    own->invalidate();
    return error(Code::kState, "captured work cannot wait for an event from outside the capture; it is spoilt");
  }
  if (!mark.queue || mark.queue == queue_) return {};
  if (mark.queue->reached(mark.position) && !mark.queue->faulted()) return {};
  queue_->push({run_wait, nullptr, nullptr, mark.queue, mark.position});
  return {};
}

void HostStream::follow(const HostStream& other) {
  const uint64_t position = other.queue_->pushed();
  if (&other == this || other.queue_->reached(position)) return;
  if (queue_->capture() || other.queue_->capture()) return;
  queue_->push({run_wait, nullptr, nullptr, other.queue_, position});
}

Status HostStream::begin_capture() {
  if (queue_->capture()) return error(Code::kState, "the stream is being captured already");
  auto capture = std::make_shared<HostCapture>(*queue_);
  capture->join(queue_);
  queue_->set_capture(std::move(capture));
  return {};
}

void HostStream::abandon_capture() {
  if (const auto capture = queue_->capture()) {
    capture->invalidate();
    queue_->set_capture(nullptr);
  }
}

Result<std::shared_ptr<const HostGraph>> HostStream::end_capture() {
  const auto capture = queue_->capture();
  if (!capture) return error(Code::kState, "the stream is not being captured");
  if (!capture->began_on(*queue_)) return error(Code::kState, "the capture began on another stream; end it there");
  auto graph = capture->end();
  if (!graph) return error(Code::kState, "the capture was spoilt by a call that it does not allow");
  return graph;
}

Status HostStream::launch(std::shared_ptr<const HostGraph> graph) {
  queue_->push({run_graph, nullptr, nullptr, std::const_pointer_cast<HostGraph>(std::move(graph)), 0});
  return {};
}

}  // namespace kiln::cpu
