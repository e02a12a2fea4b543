#include "base/forks.h"

#include <pthread.h>

#include <atomic>

namespace kiln {
namespace {

std::atomic<uint32_t> count{0};

bool count_forks() {
  // Without memory for the handler, nothing counts: as if nobody forked.
  return pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); }) == 0;
}

}  // namespace

uint32_t fork_count() {
  [[maybe_unused]] static const bool counted = count_forks();
  return count.load(std::memory_order_relaxed);
}

}  // namespace kiln
