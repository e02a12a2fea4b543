/// Runs on a device that works on its own: the calling thread launches the steps, the device does them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "runtime/engine.h"
#include "runtime/replays.h"
#include "runtime/runner.h"

namespace kiln::runtime {

/// Runs share their context's memory, so each waits for the one in front, whichever stream that is on. Those that come
/// again and again are recorded and replayed.
class DeviceRunner final : public Runner {
 public:
  DeviceRunner(const Engine& engine, const RunSettings& settings);

  size_t most_bindings() const override { return 4; }  // programs with a few sets of shapes come round again
  std::byte* weight(const HostTensor&) const override { return nullptr; }
  Result<std::byte*> viewed_weight(const HostTensor& value) override;
  Result<std::optional<std::byte*>> shape_input(std::span<const std::byte> values, Buffer& kept) override;
  BodyObserver* body_observer() const override { return settings_.body_observer(); }
  ValueWatch* watch() const override { return settings_.watch; }
  /// Makes what runs on several streams need. Only what is captured, by the program or to be replayed, uses them: a
  /// launch by launch run is bound by its launches.
  Status prepare(Binding& binding) override;
  void retire(std::unique_ptr<Binding> binding) override;
  void retire(Buffer memory) override;
  void forget(const Binding& binding, size_t segment) override;

  /// Launches all steps; the error of the first that fails, with its name. Allocates nothing but for the first run, the
  /// first timed one, and the one that is recorded. While `stream` is being captured the launches become part of that.
  Status enqueue(const Run& run, Stream& stream) override;
  Status run_segment(Binding& binding, size_t segment, Stream& stream) override;
  bool latest_was_captured() const override { return latest_was_captured_; }
  Status wait_idle() override;
  Status forget_runs() override;
  /// After a capture these are the times of the latest run that any graph captured from these steps was launched for;
  /// fails where there was none, or where the run was not timed.
  Result<std::vector<float>> times_ms() const override;
  Status set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) override;

 private:
  /// Of a run: before the first step of a segment and behind each, then those of the next segment.
  using Timers = std::vector<std::unique_ptr<Event>>;
  Launch launch_of(Binding& binding, size_t segment = 0) const;
  Replays& replays_of(size_t segment);
  size_t num_steps_to_inputs(const plan::Profile& profile) const;
  Status follow_last_run(Stream& stream);
  void meet(const Binding& binding);
  Status launch_timed(const Launch& launch, Stream& stream, Event* inputs_consumed);
  Status launch_untimed(const Launch& launch, Stream& stream, Event* inputs_consumed);
  static Status replay(Recording& recording, Stream& stream, Event* inputs_consumed);
  Status launch_captured(const Launch& launch, Stream& stream);
  Status launch_all(const Launch& launch, Stream& stream, const Timers* timers, Event* inputs_consumed);
  Status launch_branches(const Launch& launch, Stream& stream, Event* inputs_consumed);
  Status mark_end(Stream& stream, Status launched);
  Status make_timers(Timers& timers, const Binding& binding);
  static Status record_all(void* launch, Stream* stream);

  const Engine& engine_;
  const RunSettings& settings_;
  Device& device_;
  std::map<const HostTensor*, Buffer> viewed_weights_;  ///< by the engine's elements of them
  size_t steps_to_inputs_ = 0;                          ///< after which no step reads an input
  uint64_t num_address_changes_ = 0;
  const bool has_plugins_;
  uint64_t met_last_ = 0;        ///< the binding of the latest run; 0: there was none
  std::unique_ptr<Event> done_;  ///< of the last run
  bool has_run_ = false, latest_was_captured_ = false;

  /// Whether a graph of the program's holds launches: nobody tells when one is gone, so what they use must stay.
  bool was_captured_ = false;
  std::vector<Buffer> old_memory_;
  std::vector<std::unique_ptr<Binding>> old_bindings_;

  Timers timers_;
  /// Timers by the first of a profile's steps. Graphs go on using them; as runs follow each other, all graphs of the
  /// same steps have the same.
  std::map<const plan::Step*, Timers> captured_timers_;
  const Timers* latest_timers_ = nullptr;                             ///< of the latest run; null: it was not timed
  std::span<const plan::Segment> timed_segments_;                     ///< that `latest_timers_` are of
  std::vector<std::unique_ptr<Stream>> given_streams_, own_streams_;  ///< auxiliary ones
  std::vector<std::unique_ptr<Event>> step_events_;                   ///< by step; null where nothing waits for it
  std::unique_ptr<Event> fork_;
  std::vector<std::unique_ptr<Replays>> replays_;  ///< by segment, as many as have run; one at least
};

}  // namespace kiln::runtime
