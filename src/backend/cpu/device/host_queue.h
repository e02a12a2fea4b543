/// The queue of a host stream: work in order, run by whichever thread waits for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"

namespace kiln::cpu {

class HostCapture;
class HostQueue;
class Standby;

/// One piece of queued work. What it holds on to is let go of right after it ran, before it counts as done.
struct HostItem {
  using Run = void (*)(HostQueue& queue, const HostItem& item);
  Run run = nullptr;
  void (*work)() = nullptr;  ///< the function of a program's work, of the type that `run` knows
  void* argument = nullptr;
  std::shared_ptr<void> kept;
  uint64_t number = 0;
};

/// Any number of threads may push and wait. One at a time drives, that is, takes items off and runs them; a waiting
/// thread drives if nobody does, else sleeps. Positions count the items ever pushed: what is pushed gets position n,
/// and the queue has reached n once that many are done.
class HostQueue {
 public:
  explicit HostQueue(Standby& standby);
  ~HostQueue();

  /// Queues an item, or adds it to the capture under way; the position behind it. Allocates nothing once the ring has
  /// grown to the depth in use; from a depth of 1024 on, the calling thread runs the oldest item first.
  uint64_t push(HostItem item);
  /// Returns when `position` is reached. Fails from within the queue's own work, which would wait for itself.
  Status run_until(uint64_t position);
  /// Runs what is there unless another thread does; for threads on standby.
  void run_unattended();

  uint64_t pushed() const { return pushed_.load(std::memory_order_acquire); }
  bool reached(uint64_t position) const { return done_.load(std::memory_order_acquire) >= position; }
  bool idle() const { return reached(pushed()); }
  /// Asks the standby to run what waits here, now.
  void urge();
  /// Whether work waits that nobody runs; `head` is the position of its first item.
  bool unattended(uint64_t& head) const;

  void fault(Error error);
  bool faulted() const { return faulted_.load(std::memory_order_acquire); }
  /// The error of failed work, which is then forgotten.
  Status take_fault();
  /// Makes failed work of `other` this queue's failure as well.
  void share_fault(const HostQueue& other);

  /// The capture that pushed items are added to instead of being queued; null for none.
  std::shared_ptr<HostCapture> capture() const;
  bool capturing() const { return capturing_.load(std::memory_order_acquire); }
  void set_capture(std::shared_ptr<HostCapture> capture);

 private:
  void drive(std::unique_lock<std::mutex>& lock, uint64_t position);
  void await(std::unique_lock<std::mutex>& lock, uint64_t position);
  void grow();

  Standby& standby_;
  mutable std::mutex mutex_;
  std::condition_variable progress_;
  int waiters_ = 0;
  std::thread::id driver_;
  std::vector<HostItem> ring_;  // its size is a power of two; position p lies at p mod size
  std::atomic<uint64_t> pushed_{0};
  std::atomic<uint64_t> done_{0};
  std::shared_ptr<HostCapture> capture_;
  std::atomic<bool> capturing_{false};  // whether that is set, for those who take no lock
  std::atomic<bool> faulted_{false};
  Error error_;
};

}  // namespace kiln::cpu
