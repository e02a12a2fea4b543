/// Runs of one context on a device that works on its own: the calling thread launches the steps, the device does them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device/async.h"
#include "device/device.h"
#include "device/executor.h"
#include "plan/plan.h"
#include "runtime/branches.h"

namespace kiln::runtime {

/// A bound context's steps with the addresses of an enqueue.
struct Launch {
  std::span<const plan::Step> steps;
  std::span<const std::unique_ptr<BoundStep>> bound;
  void* const* pointers;  ///< inputs then outputs of step 0, of step 1, ...
  std::byte* workspace;
  Event* inputs_consumed = nullptr;  ///< recorded once the first `steps_to_inputs` steps are done; null: none
  size_t steps_to_inputs = 0;
  const Branches* branches = nullptr;  ///< null: all steps follow each other
  int64_t workspace_step = 0;          ///< from one stream's workspace to the next one's
};

/// Runs share their context's memory, so each waits for the one in front, whichever stream that is on. What is launched
/// with the same addresses again and again is recorded once and replayed.
class Launcher {
 public:
  explicit Launcher(Device& device) : device_(device) {}
  ~Launcher();

  /// Launches all steps; the error of the first that fails, with its name. Allocates nothing but for the first run, the
  /// first timed one, and the one that is recorded. While `stream` is being captured the launches become part of that.
  Status enqueue(const Launch& launch, Stream& stream, bool timed);
  /// Makes what runs on several streams need. Only what is captured, by the program or to be replayed, uses them: a
  /// launch by launch run is bound by its launches.
  Status prepare(const Branches& branches);
  /// To be used before those that `prepare` makes. Only while nothing is recorded.
  void set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) { given_streams_ = std::move(streams); }
  /// To be called when steps, extents or memory change. Waits for the last run.
  Status forget();
  Status wait_idle();
  /// Of the last run that was timed, by step; waits for it.
  Result<std::vector<float>> times_ms();
  /// Whether a graph of the program's holds launches, so that what they use must stay as long as the context.
  bool was_captured() const { return was_captured_; }

 private:
  struct Replay {
    std::vector<void*> pointers;
    int uses = 0;
    bool refused = false;  ///< a step waits for the device: it cannot be recorded
    std::unique_ptr<Recording> recording;
  };
  Status follow_last_run(Stream& stream);
  Status launch_all(const Launch& launch, Stream& stream, bool timed, Event* inputs_consumed);
  Status launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed);
  Status launch_step(const Launch& launch, size_t step, void* const* pointers, Stream& stream);
  Status make_timers(size_t count);
  Replay* replay_for(const Launch& launch);
  static Status record_all(void* launch, Stream* stream);

  Device& device_;
  std::unique_ptr<Event> done_;  ///< of the last run
  bool has_run_ = false, was_captured_ = false;
  std::vector<std::unique_ptr<Event>> timers_;  ///< before step 0, after step 0, ...
  size_t num_timed_ = 0;
  std::vector<std::unique_ptr<Stream>> given_streams_, own_streams_;  ///< auxiliary ones
  std::vector<std::unique_ptr<Event>> step_events_;                   ///< by step; null where nothing waits for it
  std::unique_ptr<Event> fork_;
  std::vector<Replay> replays_;
  size_t next_replay_ = 0;
};

/// One of our own defects must not end the host's process: it becomes an error of the stream.
Status run_step(BoundStep& step, const RunArguments& arguments);

}  // namespace kiln::runtime
