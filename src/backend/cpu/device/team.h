/// The team of threads that a CPU device's kernels share: fork-join over numbered parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/function_ref.h"

namespace kiln::cpu {

/// KILN_THREADS if that is a number from 1 to 256, else the number of cores this process may run on.
int default_team_size();

/// Threads that run parts together with their caller. Idle ones spin briefly, then yield, then sleep; one that wakes up
/// late is not waited for. Any number of threads may call `run`: one that finds the team busy does its parts alone.
/// Which thread runs a part never changes its result, so kernels split their work by shapes alone. Where the
/// team runs a call together, each thread begins with the same share of the parts, the caller with the first: kernels
/// that number their parts along their output find what the step before wrote in the same core's cache.
class Team {
 public:
  explicit Team(int size = default_team_size());
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// The caller included.
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls `work(part, worker)` once for each part in [0, parts), and returns when all have ended. `worker` is in
  /// [0, size()) and no two parts of one call run at once under the same one: it picks a slice of the call's workspace.
  /// A `run` within a part runs its parts in line, as worker 0. Allocates nothing. `work` must not throw.
  void run(int64_t parts, FunctionRef<void(int64_t part, int worker)> work);

 private:
  /// One thread's share: its parts [next, end) are not taken yet.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void serve(int worker);
  void deal(int64_t parts);
  void take_parts(int worker);
  uint32_t wait_for_job(uint32_t seen);

  // The gate: low 12 bits count the helpers inside, bit 12 says that the job is open, the rest counts jobs. Work and
  // shares are written only while the gate is shut and nobody is inside.
  alignas(64) std::atomic<uint32_t> gate_{0};
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<int> caller_cpu_{-1};
  const FunctionRef<void(int64_t, int)>* work_ = nullptr;
  std::vector<Share> shares_;
  std::vector<std::thread> threads_;
};

}  // namespace kiln::cpu
