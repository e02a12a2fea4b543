/// A mark in a host stream that can be waited for and timed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "backend/cpu/device/host_graph.h"
#include "backend/cpu/device/host_queue.h"

namespace kiln::cpu {

/// Recorded by HostStream::record, any number of times; what is asked is about the latest. One that was never recorded
/// counts as reached.
class HostEvent {
 public:
  enum class Timing : uint8_t { kOff, kOn };
  explicit HostEvent(Timing timing) : timing_(timing) {}

  /// Returns when the mark is reached, having run what lies before it if nobody else does; the error of that work.
  Status synchronize();
  /// Whether the mark is reached; if not, it soon will be without anybody waiting. Fails as `synchronize` does.
  Result<bool> query();
  /// The time from `start` to `end`, ms. Fails with kState unless both keep time, were recorded and are reached.
  static Result<float> elapsed_ms(const HostEvent& start, const HostEvent& end);

 private:
  friend class HostStream;
  struct Mark {
    std::shared_ptr<HostQueue> queue;
    uint64_t position = 0;
    std::weak_ptr<HostCapture> capture;  ///< that it was recorded in, instead of a queue
    bool captured = false;
  };
  Mark mark() const;
  static void stamp(HostQueue&, const HostItem& item);
  Result<int64_t> time_ns() const;

  const Timing timing_;
  mutable std::mutex mutex_;
  Mark mark_;
  uint64_t uses_ = 0;  // counts records; a stamp of an earlier one comes too late
  int64_t time_ns_ = 0;
};

}  // namespace kiln::cpu
