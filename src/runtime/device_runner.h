/// Runs of one context on a device that works on its own: the calling thread launches the steps, the device does them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime/replays.h"

namespace kiln::runtime {

/// Runs share their context's memory, so each waits for the one in front, whichever stream that is on. Those that come
/// again and again are recorded and replayed.
class DeviceRunner {
 public:
  explicit DeviceRunner(Device& device) : device_(device), replays_(device) {}
  ~DeviceRunner();

  /// Launches all steps; the error of the first that fails, with its name. Allocates nothing but for the first run, the
  /// first timed one, and the one that is recorded. While `stream` is being captured the launches become part of that.
  Status enqueue(const Launch& launch, Stream& stream, bool timed);
  /// Makes what runs on several streams need. Only what is captured, by the program or to be replayed, uses them: a
  /// launch by launch run is bound by its launches.
  Status prepare(const Branches& branches);
  /// Gives it streams to use before those that `prepare` makes. Only while nothing is recorded.
  void set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) { given_streams_ = std::move(streams); }
  /// Drops a binding's recordings, before its steps go; its runs are done.
  void forget(uint64_t binding) { replays_.forget(binding); }
  /// Drops all recordings. Waits for the last run.
  Status forget();
  Status wait_idle();
  /// The times of the latest run, by step; waits for it. After a capture they are those of the latest run that any
  /// graph captured from these steps was launched for; fails where there was none, or where the run was not timed.
  Result<std::vector<float>> times_ms() const;
  /// Whether a graph of the program's holds launches, so that what they use must stay as long as the context.
  bool was_captured() const { return was_captured_; }
  bool latest_was_captured() const { return latest_was_captured_; }

 private:
  Status follow_last_run(Stream& stream);
  Status launch_untimed(const Launch& launch, Stream& stream);
  using Timers = std::vector<std::unique_ptr<Event>>;  ///< before step 0, after step 0, ...
  Status enqueue_captured(const Launch& launch, Stream& stream, bool timed);
  Status launch_all(const Launch& launch, Stream& stream, const Timers* timers, Event* inputs_consumed);
  Status launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed);
  Status make_timers(Timers& timers, size_t count);
  static Status record_all(void* launch, Stream* stream);

  Device& device_;
  std::unique_ptr<Event> done_;  ///< of the last run
  bool has_run_ = false, was_captured_ = false, latest_was_captured_ = false;
  Timers timers_;
  /// By the first of a profile's steps. Graphs go on using them, and nobody tells when one is gone; as runs follow each
  /// other, all graphs of the same steps have the same.
  std::map<const plan::Step*, Timers> captured_timers_;
  const Timers* latest_timers_ = nullptr;  ///< of the latest run; null: it was not timed
  size_t num_timed_ = 0;
  std::vector<std::unique_ptr<Stream>> given_streams_, own_streams_;  ///< auxiliary ones
  std::vector<std::unique_ptr<Event>> step_events_;                   ///< by step; null where nothing waits for it
  std::unique_ptr<Event> fork_;
  Replays replays_;
};

}  // namespace kiln::runtime
