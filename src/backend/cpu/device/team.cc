#include "backend/cpu/device/team.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace kiln::cpu {
namespace {

constexpr uint32_t kInside = 0xfff;
constexpr uint32_t kOpen = 0x1000;
constexpr uint32_t kJob = 0x2000;
constexpr int kMaxSize = 256;

constexpr int kSpins = 4000;   // about 40 us: longer than the steps between two forks of one network
constexpr int kYields = 4000;  // some ms on an idle machine; after that a wake-up costs a system call

thread_local bool inside_a_part = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits a little: first by spinning, after many turns by giving up the rest of the time slice.
void back_off(int turn) {
  if (turn < kSpins)
    pause();
  else
    sched_yield();
}

/// Takes this thread off the caller's core if it finds itself there: a scheduler that sees the other cores busy leaves
/// the two together for seconds, and each then waits for the other's time slice (measured: a team of two as slow as
/// one).
class Apart {
 public:
  Apart() { known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 && CPU_COUNT(&allowed_) > 1; }
  void keep_from(int caller_cpu) const {
    if (!known_ || caller_cpu < 0 || sched_getcpu() != caller_cpu) return;
    cpu_set_t rest = allowed_;
    CPU_CLR(static_cast<size_t>(caller_cpu), &rest);
    if (CPU_COUNT(&rest) > 0) sched_setaffinity(0, sizeof rest, &rest);  // failing, it stays where it is
  }

 private:
  cpu_set_t allowed_;
  bool known_ = false;
};

}  // namespace

int default_team_size() {
  if (const char* text = std::getenv("KILN_THREADS")) {
    int size = 0;
    const char* end = text + std::strlen(text);
    const auto [rest, failed] = std::from_chars(text, end, size);
    if (failed == std::errc() && rest == end && size >= 1 && size <= kMaxSize) return size;
  }
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::clamp(CPU_COUNT(&allowed), 1, kMaxSize);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxSize);
}

Team::Team(int size) : shares_(static_cast<size_t>(std::clamp(size, 1, kMaxSize))) {
  size = static_cast<int>(shares_.size());
  threads_.reserve(static_cast<size_t>(size - 1));
  for (int worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
}

Team::~Team() {
  stop_.store(true, std::memory_order_seq_cst);
  gate_.fetch_add(kJob, std::memory_order_seq_cst);
  gate_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(int64_t parts, FunctionRef<void(int64_t, int)> work) {
  const bool alone = parts <= 1 || threads_.empty() || inside_a_part || busy_.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (int64_t part = 0; part < parts; ++part) work(part, 0);
    return;
  }
  work_ = &work;
  deal(parts);
  caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  // The gate's opening and a sleeper's announcement are both sequentially consistent, so that one of them sees the
  // other.
  const uint32_t shut = gate_.load(std::memory_order_relaxed);
  gate_.store((shut + kJob) | kOpen, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst)) gate_.notify_all();

  inside_a_part = true;
  take_parts(0);
  inside_a_part = false;

  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int turn = 0; gate_.load(std::memory_order_acquire) & kInside; ++turn) back_off(turn);
  busy_.store(false, std::memory_order_release);
}

void Team::deal(int64_t parts) {
  const auto size = static_cast<int64_t>(shares_.size());
  const int64_t each = parts / size, rest = parts % size;  // the first `rest` shares have one more
  int64_t begin = 0;
  for (int64_t s = 0; s < size; ++s) {
    Share& share = shares_[static_cast<size_t>(s)];
    share.next.store(begin, std::memory_order_relaxed);
    share.end = begin += each + (s < rest);
  }
}

/// Takes the parts of the worker's own share, then those that others have not come to.
void Team::take_parts(int worker) {
  const auto size = static_cast<int>(shares_.size());
  for (int turn = 0; turn < size; ++turn) {
    const int owner = worker + turn < size ? worker + turn : worker + turn - size;
    Share& share = shares_[static_cast<size_t>(owner)];
    if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
    for (;;) {
      const int64_t part = share.next.fetch_add(1, std::memory_order_relaxed);
      if (part >= share.end) break;
      (*work_)(part, worker);
    }
  }
}

/// Waits until the gate shows another job than `seen` does, and returns the gate's value.
uint32_t Team::wait_for_job(uint32_t seen) {
  const auto differs = [&](uint32_t gate) { return (gate ^ seen) >= kJob; };
  for (int turn = 0; turn < kSpins + kYields; ++turn) {
    const uint32_t gate = gate_.load(std::memory_order_acquire);
    if (differs(gate)) return gate;
    back_off(turn);
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  uint32_t gate = gate_.load(std::memory_order_seq_cst);
  while (!differs(gate)) {
    gate_.wait(gate, std::memory_order_seq_cst);
    gate = gate_.load(std::memory_order_seq_cst);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return gate;
}

void Team::serve(int worker) {
  inside_a_part = true;
  const Apart apart;
  uint32_t gate = 0;
  // `stop_` is read in every turn, because the exchange below may be what returns the gate's last value.
  while (!stop_.load(std::memory_order_acquire)) {
    gate = wait_for_job(gate);
    apart.keep_from(caller_cpu_.load(std::memory_order_relaxed));
    while ((gate & kOpen) && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) {
    }
    if (!(gate & kOpen)) continue;  // came too late
    take_parts(worker);
    gate_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace kiln::cpu
