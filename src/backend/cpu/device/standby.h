/// Threads that run host streams for which nobody waits: a program may queue work and go on with something else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/forks.h"

namespace kiln::cpu {

class HostQueue;

/// Waking a sleeping thread costs more than most launches do, and a thread that takes work from under one that is about
/// to wait for it costs a hundred times more. So no launch wakes anybody while one thread is on watch: it looks at the
/// queues from time to time, and runs one whose first item has not moved between two looks. If nothing was queued for a
/// while, it goes to sleep, and the next launch wakes it. While it runs work, another thread can take the watch.
class Standby {
 public:
  Standby() = default;
  /// All queues have left.
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  void join(HostQueue& queue);
  /// Returns when no thread of the standby uses the queue any more.
  void leave(HostQueue& queue);

  /// Work was queued that nobody runs.
  void watch() {
    if (!watching_.load(std::memory_order_acquire)) call();
  }
  /// Somebody asks for the queue's work: it need not wait for a second look.
  void urge(HostQueue& queue);

  /// Whether this process was forked off the one that made the standby: its threads are not here, and locks of its
  /// queues may be held by them.
  bool lost() const { return forks_ != fork_count(); }

 private:
  struct Member {
    HostQueue* queue = nullptr;
    uint64_t head = 0;    ///< at the last look
    bool waited = false;  ///< work was waiting then
    bool urgent = false;
    bool running = false;  ///< by a thread of the standby
  };
  struct Look {
    Member* stale = nullptr;  ///< one to run
    bool more = false;        ///< others wait as well
    uint64_t pushed = 0;      ///< by all queues
  };

  void call();
  void call(std::unique_lock<std::mutex>& lock);
  void serve();
  void keep_watch(std::unique_lock<std::mutex>& lock);
  void run(std::unique_lock<std::mutex>& lock, Member& member);
  Look look();
  Member* member(const HostQueue& queue);

  const uint32_t forks_ = fork_count();
  std::mutex mutex_;
  std::condition_variable called_up_;  // sleepers wait for it
  std::condition_variable urged_;      // the thread on watch, between two looks
  std::condition_variable finished_;   // threads in `leave`
  std::atomic<bool> watching_{false};  // or somebody is on the way
  bool called_ = false;
  bool urgent_ = false;
  bool stop_ = false;
  int asleep_ = 0;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::thread> threads_;
};

}  // namespace kiln::cpu
