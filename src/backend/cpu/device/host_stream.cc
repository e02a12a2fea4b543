#include "backend/cpu/device/host_stream.h"

namespace kiln::cpu {

HostStream::~HostStream() { drain(); }

Status HostStream::launch_host(void (*work)(void*), void* argument) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({work, argument});
  return {};
}

void HostStream::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return !running_; });
  while (!queue_.empty()) {
    const Item item = queue_.front();
    queue_.pop_front();
    running_ = true;
    lock.unlock();
    item.work(item.argument);
    lock.lock();
    running_ = false;
  }
  idle_.notify_all();
}

Status HostStream::synchronize() {
  drain();
  if (!faulted()) return {};
  const std::lock_guard lock(mutex_);
  faulted_.store(false, std::memory_order_release);
  return std::unexpected(std::move(error_));
}

void HostStream::fault(Error error) {
  const std::lock_guard lock(mutex_);
  if (faulted()) return;
  error_ = std::move(error);
  faulted_.store(true, std::memory_order_release);
}

}  // namespace kiln::cpu
