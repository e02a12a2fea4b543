/// A stream of host work: a queue that whoever synchronises runs on its own thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "device/device.h"

namespace kiln::cpu {

class HostStream final : public Stream {
 public:
  ~HostStream() override;
  Status launch_host(void (*work)(void*), void* argument) override;
  Status synchronize() override;
  void fault(Error error) override;
  bool faulted() const override { return faulted_.load(std::memory_order_acquire); }

 private:
  struct Item {
    void (*work)(void*);
    void* argument;
  };
  void drain();

  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Item> queue_;
  bool running_ = false;
  std::atomic<bool> faulted_{false};
  Error error_;
};

}  // namespace kiln::cpu
