/// What a process that was forked off has to know: the threads of the process before it are not in it, and what they
/// had locked at the fork stays locked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace kiln {

/// How many forks lie between the process in which this was first called and the current one. Whoever has threads, or
/// shares locks with some, keeps the count of the time it was made, and uses neither at another one.
uint32_t fork_count();

/// What a process makes for itself when first asked for, and never frees: one that is forked off makes its own.
template <class T>
class PerProcess {
 public:
  template <class Make>
  T& get(Make make) {
    const uint32_t forks = fork_count();
    Made* made = made_.load(std::memory_order_acquire);
    while (!made || made->forks != forks) {
      std::unique_ptr<Made> fresh(new Made{make(), forks});
      if (made_.compare_exchange_strong(made, fresh.get(), std::memory_order_acq_rel)) made = fresh.release();
    }
    return made->value;
  }

 private:
  struct Made {
    T value;
    uint32_t forks;
  };
  std::atomic<Made*> made_{nullptr};
};

}  // namespace kiln
