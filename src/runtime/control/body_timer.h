/// Times the steps of a body's runs for an observer.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "device/device.h"
#include "runtime/runner.h"

namespace kiln::runtime {

/// On a host by its clock. On a device of its own by events, for which a run waits. A first step's time has in it what
/// the run does before, such as preparing steps for other shapes.
class BodyTimer {
 public:
  explicit BodyTimer(Device& device) : device_(device) {}

  /// Begins a run. Nothing is timed while a stream captures.
  Status begin(size_t num_steps, Stream* stream);
  /// Forgets a run that failed, of which nobody is told.
  void stop() { is_on_ = false; }
  /// Whether a run has begun that nobody was told of.
  bool is_on() const { return is_on_; }
  /// A step ends, and the next one begins.
  Status step_done(size_t step);
  /// Tells the times of the run, which is over.
  Status tell(BodyObserver& observer, int body);

 private:
  using Clock = std::chrono::steady_clock;
  Device& device_;
  Stream* stream_ = nullptr;
  bool is_on_ = false;
  Clock::time_point last_;
  std::vector<std::unique_ptr<Event>> marks_;  ///< on a device of its own: the beginning, and the end of each step
  std::vector<float> times_ms_;
};

}  // namespace kiln::runtime
