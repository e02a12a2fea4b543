/// One run in flight: shapes, addresses and memory over an engine. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/binding_cache.h"
#include "runtime/shape_state.h"
#include "runtime/value_watch.h"

namespace kiln::runtime {

/// Receives the time of each step after a run that was asked for times.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void step_done(const plan::Step& step, float time_ms) = 0;
};

class Context {
 public:
  using Memory = MemoryPolicy;
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Engine> engine, Memory memory);
  ~Context();

  const Engine& engine() const { return *engine_; }
  int profile() const { return shapes_.profile_index(); }
  /// Forgets the shapes set before.
  Status select_profile(int profile);

  /// Fails if an extent is outside the profile's range; the message names input, axis and limit.
  Status set_input_extents(int input, std::span<const int64_t> extents) {
    TRY(check_not_watched());
    return shapes_.set_input_extents(input, extents);
  }
  /// The extents as set, or the only ones that the profile allows; -1 where nothing is known yet.
  Extents input_extents(int input) const { return shapes_.input_extents(input); }
  /// -1 where an input that decides it is not set, or data decides it.
  Extents output_extents(int output) const;
  /// The extents that an output had in the latest run; -1 where data decides and no run has.
  Extents latest_output_extents(int output) const;
  /// Bytes of memory that have room for an output, whatever data decides; -1 where nothing bounds it. After
  /// `infer_shapes`.
  int64_t largest_output_bytes(int output) const;
  /// Fails for an output whose size nothing bounds: no memory that was given before the run is certainly enough.
  Status check_bound(int output) const;
  /// The values of any of the plan's programs; -1 where an input that decides one is not set.
  Extents known_extents(std::span<const sym::Program> programs) const { return shapes_.known_extents(programs); }
  /// Inputs whose extents, or (shape inputs) addresses, are still to be set.
  std::vector<int> unset_inputs() const { return shapes_.unset_inputs(addresses_); }
  /// Whether there are none; costs nothing, however many inputs there are.
  bool all_inputs_set() const { return shapes_.all_inputs_set(addresses_); }

  void set_input_address(int input, const void* data) { repeats_ &= addresses_.set_input(input, data); }
  void set_output_address(int output, void* data) { repeats_ &= addresses_.set_output(output, data); }
  void set_address_source(AddressSource source) { addresses_.source = source; }
  AddressSource address_source() const { return addresses_.source; }
  const void* input_address(int input) const { return addresses_.input(static_cast<size_t>(input)); }
  /// Sets the memory for Memory::kGiven: at least Engine::memory_bytes of the profile, aligned to 256.
  Status set_memory(void* data, int64_t size_bytes);
  /// Sets the memory for shape inputs that steps read, on a device of its own; null: memory from the engine's source.
  /// It must outlive the context.
  void set_temporary_memory(Allocator* memory) { settings_.temporary_memory = memory; }

  /// Evaluates shapes and checks assumptions, after which `output_extents` answers; needs no memory of tensors. Outputs
  /// that are shape tensors are written, where they have addresses.
  /// An observer that asks during a run gets what that has.
  Status infer_shapes() { return settings_.watch ? Status() : shapes_.infer(addresses_); }
  /// `infer_shapes`, and prepares every step; does nothing if nothing changed. May allocate. On a device of its own the
  /// latest four sets of shapes stay prepared.
  Status bind();
  /// Queues one run with the addresses of now. Allocates nothing after the first call at a shape, except in a capture:
  /// what is recorded on a host stream has a run of its own (shared by captures of the same addresses), which fails
  /// once shapes have changed. It needs the context until its end. On another device the calling thread launches the
  /// steps (device_runner.h).
  Status enqueue(Stream& stream);

  /// Gives streams for what runs beside other steps, as far as they go; on a host device nothing does.
  Status set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) {
    return runner_->set_aux_streams(std::move(streams));
  }
  /// Whether later runs are timed.
  void set_timing(bool on) { settings_.timed = on; }
  /// Reports the latest run's times, and waits for that run; on a host device, where runs begin when somebody waits,
  /// the caller has waited for a captured one. Fails where that run was not timed, has not begun, or failed.
  Status report_times(StepObserver& observer) const;
  /// Whether the latest `enqueue` recorded a run instead of queueing it.
  bool latest_was_captured() const { return runner_->latest_was_captured(); }
  /// Asked for the memory of outputs whose size data decides, as soon as it is known, in `enqueue`. Null: the addresses
  /// as set, which have room for `largest_output_bytes`. Must outlive all runs.
  void set_output_memory(OutputMemory* memory) { settings_.output_memory = memory; }
  /// Told of bodies in runs that are timed. Null: none. Must outlive all runs.
  void set_body_observer(BodyObserver* observer) { settings_.bodies = observer; }
  /// Shows later runs' tensors to the observer, and asks it which it wants. Null: none, and while nothing is wanted,
  /// runs are what they are without one. A run of which something is wanted goes on in `enqueue`, which waits for it
  /// step by step; it cannot be captured. Must outlive all runs.
  void set_value_observer(ValueObserver* observer) { watch_.set_observer(observer); }
  /// Says how much of later runs a profiler is told, if one is attached.
  void set_ranges(RangeDetail detail) { settings_.ranges = detail; }
  /// Null: none. Must outlive all runs.
  void set_fault_observer(FaultObserver* observer) { settings_.faults = observer; }
  /// Told why runs take longer than they might. Null: none. Must outlive the context.
  void set_log(Log* log) { settings_.log = log; }
  /// Recorded in every run from here on when all that reads the inputs is done. Null: none. Must outlive all runs.
  void set_inputs_consumed(Event* event) { settings_.inputs_consumed = event; }
  /// Fails where the data of finished runs broke a rule (an index out of range) and this is found after the call that
  /// queued them: on a device of its own. `enqueue` asks too, and runs nothing if there is something. Told once.
  Status check_runs(Runs which = Runs::kEarlier) { return bindings_.check_runs(which); }

 private:
  Context(std::shared_ptr<const Engine> engine, Memory memory);
  Status prepare_run();
  Status enqueue_segments(Stream& stream);
  Status enqueue_watched(Stream& stream);
  /// Fails in calls of a value observer's: the run that it watches needs what they would change.
  Status check_not_watched() const;
  Status take_sizes(Binding& binding, const plan::Segment& segment);

  std::shared_ptr<const Engine> engine_;
  RunSettings settings_;
  ValueWatch watch_;
  IoAddresses addresses_;
  ShapeState shapes_;
  ContextMemory memory_;
  std::unique_ptr<Runner> runner_;
  BindingCache bindings_;
  bool repeats_ = false;  ///< whether the next run has the addresses of the last one
};

}  // namespace kiln::runtime
