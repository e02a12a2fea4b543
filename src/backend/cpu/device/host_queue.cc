#include "backend/cpu/device/host_queue.h"

#include "backend/cpu/device/host_graph.h"
#include "backend/cpu/device/standby.h"

namespace kiln::cpu {
namespace {

constexpr size_t kFirstDepth = 64;
constexpr size_t kDepth = 1024;  // what a GPU's queue holds, too, before a launch waits

}  // namespace

HostQueue::HostQueue(Standby& standby) : standby_(standby), ring_(kFirstDepth) {}
HostQueue::~HostQueue() = default;

uint64_t HostQueue::push(HostItem item) {
  std::unique_lock lock(mutex_);
  if (capture_) {
    capture_->add(std::move(item));
    return pushed_.load(std::memory_order_relaxed);
  }
  for (;;) {
    const uint64_t done = done_.load(std::memory_order_relaxed);
    if (pushed_.load(std::memory_order_relaxed) - done < ring_.size()) break;
    // Work that queues more work on its own stream cannot wait for itself.
    if (ring_.size() < kDepth || driver_ == std::this_thread::get_id())
      grow();
    else
      await(lock, done + 1);
  }
  const uint64_t position = pushed_.load(std::memory_order_relaxed);
  ring_[position & (ring_.size() - 1)] = std::move(item);
  pushed_.store(position + 1, std::memory_order_release);
  const bool attended = driver_ != std::thread::id();
  lock.unlock();
  if (!attended) standby_.watch();
  return position + 1;
}

void HostQueue::grow() {
  std::vector<HostItem> larger(2 * ring_.size());
  for (uint64_t p = done_.load(std::memory_order_relaxed); p != pushed_.load(std::memory_order_relaxed); ++p)
    larger[p & (larger.size() - 1)] = std::move(ring_[p & (ring_.size() - 1)]);
  ring_ = std::move(larger);
}

/// Takes items off and runs them until `position` is reached; nobody else drives.
void HostQueue::drive(std::unique_lock<std::mutex>& lock, uint64_t position) {
  driver_ = std::this_thread::get_id();
  for (;;) {
    const uint64_t done = done_.load(std::memory_order_relaxed);
    if (done >= position) break;
    {
      const HostItem item = std::move(ring_[done & (ring_.size() - 1)]);
      lock.unlock();
      item.run(*this, item);
    }
    lock.lock();
    done_.store(done + 1, std::memory_order_release);
    if (waiters_ > 0) progress_.notify_all();
  }
  driver_ = std::thread::id();
  if (waiters_ > 0) progress_.notify_all();  // one of them drives on
}

void HostQueue::await(std::unique_lock<std::mutex>& lock, uint64_t position) {
  while (!reached(position)) {
    if (driver_ == std::thread::id()) {
      drive(lock, position);
      continue;
    }
    ++waiters_;
    progress_.wait(lock, [&] { return reached(position) || driver_ == std::thread::id(); });
    --waiters_;
  }
}

Status HostQueue::run_until(uint64_t position) {
  if (reached(position)) return {};
  std::unique_lock lock(mutex_);
  if (driver_ == std::this_thread::get_id())
    return error(Code::kState, "work queued on a stream waits for that stream; it would never end");
  await(lock, position);
  const bool leaves_work = driver_ == std::thread::id() && !idle();
  lock.unlock();
  if (leaves_work) standby_.watch();
  return {};
}

void HostQueue::run_unattended() {
  std::unique_lock lock(mutex_);
  while (driver_ == std::thread::id() && !idle()) drive(lock, pushed());
}

void HostQueue::urge() {
  if (uint64_t head; unattended(head)) standby_.urge(*this);
}

bool HostQueue::unattended(uint64_t& head) const {
  const std::lock_guard lock(mutex_);
  head = done_.load(std::memory_order_relaxed);
  return driver_ == std::thread::id() && !idle();
}

void HostQueue::fault(Error error) {
  const std::lock_guard lock(mutex_);
  if (faulted()) return;  // the first failure counts: later ones are its consequences
  error_ = std::move(error);
  faulted_.store(true, std::memory_order_release);
}

Status HostQueue::take_fault() {
  if (!faulted()) return {};
  const std::lock_guard lock(mutex_);
  if (!faulted_.exchange(false, std::memory_order_acq_rel)) return {};
  // kState stands for calls that a stream refuses, and this is work that failed.
  if (error_.code == Code::kState) error_.code = Code::kDevice;
  return std::unexpected(std::move(error_));
}

void HostQueue::share_fault(const HostQueue& other) {
  if (&other == this || !other.faulted()) return;
  Error copy;
  {
    const std::lock_guard lock(other.mutex_);
    if (!other.faulted()) return;
    copy = other.error_;
  }
  fault(std::move(copy));
}

std::shared_ptr<HostCapture> HostQueue::capture() const {
  if (!capturing()) return nullptr;
  const std::lock_guard lock(mutex_);
  return capture_;
}

void HostQueue::set_capture(std::shared_ptr<HostCapture> capture) {
  const std::lock_guard lock(mutex_);
  capture_.swap(capture);
  capturing_.store(capture_ != nullptr, std::memory_order_release);
}

}  // namespace kiln::cpu
