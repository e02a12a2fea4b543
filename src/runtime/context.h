/// One run in flight: shapes, addresses and memory over an engine. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "device/async.h"
#include "runtime/binding.h"
#include "runtime/engine.h"
#include "runtime/device_runner.h"

namespace kiln::runtime {

/// Receives the time of each step after a run that was asked for times.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void step_done(const plan::Step& step, float time_ms) = 0;
};

/// Told of a step that fails while it runs, on the thread that runs it.
class FaultObserver {
 public:
  virtual ~FaultObserver() = default;
  virtual void faulted(const Error& error) noexcept = 0;
};

class Context {
 public:
  /// Whether the context allocates its memory (for the present profile, or at once for the profile that needs most) or
  /// is given it before the first enqueue.
  enum class Memory : uint8_t { kOwn, kOwnLargest, kGiven };
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Engine> engine, Memory memory);
  ~Context();

  const Engine& engine() const { return *engine_; }
  int profile() const { return profile_; }
  /// Forgets the shapes set before.
  Status select_profile(int profile);

  /// Fails if an extent is outside the profile's range; the message names input, axis and limit.
  Status set_input_extents(int input, std::span<const int64_t> extents);
  /// As set, or the only ones that the profile allows; -1 where nothing is known yet.
  Extents input_extents(int input) const;
  /// -1 where an input that decides it is not set.
  Extents output_extents(int output) const;
  /// The values of any of the plan's programs; -1 where an input that decides one is not set.
  Extents known_extents(std::span<const sym::Program> programs) const;
  /// Inputs whose extents, or (shape inputs) addresses, are still to be set.
  std::vector<int> unset_inputs() const;
  /// Whether there are none; costs nothing, however many inputs there are.
  bool all_inputs_set() const;

  void set_input_address(int input, const void* data) {
    repeats_ &= std::exchange(input_addresses_[static_cast<size_t>(input)], data) == data;
  }
  void set_output_address(int output, void* data) {
    repeats_ &= std::exchange(output_addresses_[static_cast<size_t>(output)], data) == data;
  }
  const void* input_address(int input) const { return input_addresses_[static_cast<size_t>(input)]; }
  void* output_address(int output) const { return output_addresses_[static_cast<size_t>(output)]; }
  /// For Memory::kGiven: at least Engine::memory_bytes of the profile, aligned to 256.
  Status set_memory(void* data, int64_t size_bytes);

  /// Where what a step reads of shape inputs is kept on a device of its own; null: where the engine's memory is from.
  /// Must outlive the context.
  void set_temporary_memory(Allocator* memory) { temporary_memory_ = memory; }

  /// Evaluates shapes and checks assumptions, after which `output_extents` answers; needs no memory of tensors. Outputs
  /// that are shape tensors are written, where they have addresses.
  Status infer_shapes();
  /// `infer_shapes`, and prepares every step; does nothing if nothing changed. May allocate. On a device of its own the
  /// latest four sets of shapes stay prepared.
  Status bind();
  /// Queues one run with the addresses of now. Allocates nothing after the first call at a shape, except in a capture:
  /// what is recorded on a host stream has a run of its own (shared by captures of the same addresses), which fails
  /// once shapes have changed. It needs the context until its end. On another device the calling thread launches the
  /// steps (device_runner.h).
  Status enqueue(Stream& stream);

  /// To be used, as far as they go, for what runs beside other steps; on a host device nothing does.
  Status set_aux_streams(std::vector<std::unique_ptr<Stream>> streams);

  /// Whether later runs are timed.
  void set_timing(bool on) { timing_ = on; }
  /// Reports the latest run's times, and waits for that run; on a host device, where runs begin when somebody waits,
  /// the caller has waited for a captured one. Fails where that run was not timed, has not begun, or failed.
  Status report_times(StepObserver& observer) const;
  /// Whether the latest `enqueue` recorded a run instead of queueing it.
  bool latest_was_captured() const { return launcher_ ? launcher_->latest_was_captured() : latest_was_captured_; }
  /// Null: none. Must outlive all runs.
  void set_fault_observer(FaultObserver* observer) { fault_observer_ = observer; }
  /// Recorded in every run from here on when all that reads the inputs is done. Null: none. Must outlive all runs.
  void set_inputs_consumed(Event* event) { inputs_consumed_ = event; }
  /// What the data of runs that are done has broken (an index out of range), where it is found after the call that
  /// queued them: on a device of its own. `enqueue` asks too, and runs nothing if there is something. Told once.
  Status check_runs();

 private:
  struct Owner {
    int step, first_slot;
  };
  explicit Context(std::shared_ptr<const Engine> engine, Memory memory);
  const plan::Profile& plan_profile() const;
  Status read_shape_values(bool& changed);
  Status bind_symbols();
  Status write_shape_outputs() const;
  bool take_earlier_binding();
  Status make_binding();
  Status make_room_for_binding();
  void drop_bindings(size_t count);
  Status bind_steps(Binding& binding);
  Result<std::byte*> state_of(const KeepsState& step, size_t s);
  Status place_tensors(Binding& binding);
  Status reserve_memory(int64_t size_bytes);
  Status place_tensor(Binding& binding, const Owner& owner, int id, std::byte* memory, Invocation& invocation);
  Result<std::byte*> weight_address(const plan::Tensor& weight, bool is_view);
  Result<std::byte*> shape_values(Binding& binding, int input);
  Result<std::byte*> copy_to_device(Buffer& buffer, std::span<const std::byte> bytes, Allocator* memory);
  size_t num_steps_to_inputs() const;
  void tell_faults();
  Status launch(Stream& stream, bool repeats);
  Status check_addresses() const;
  Status wait_idle();
  Status enqueue_captured(Stream& stream);
  void forget_captured(uint64_t binding);
  void set_addresses(Invocation& invocation) const;
  void fault(Stream& stream, Error error) const;
  static void run_invocation(void* invocation);
  Result<std::vector<float>> host_times_ms() const;

  std::shared_ptr<const Engine> engine_;
  const Memory memory_policy_;
  int profile_ = 0;
  bool shapes_known_ = false;
  bool bound_ = false;
  bool timing_ = false;
  bool repeats_ = false;  ///< whether the next run has the addresses of the last one
  FaultObserver* fault_observer_ = nullptr;
  Event* inputs_consumed_ = nullptr;
  Allocator* temporary_memory_ = nullptr;

  std::vector<Extents> input_extents_;  ///< empty extents with `extents_set_` false: not set
  std::vector<bool> extents_set_;
  std::ptrdiff_t num_extents_unset_ = 0;
  std::vector<int> shape_inputs_, shape_outputs_;
  std::vector<std::vector<int64_t>> input_values_;  ///< of shape inputs, as bound
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;

  std::vector<int64_t> symbols_;
  size_t steps_to_inputs_ = 0;  ///< after which no step reads an input
  Buffer own_memory_;
  std::byte* given_memory_ = nullptr;
  int64_t given_bytes_ = 0;

  std::vector<std::unique_ptr<Binding>> bindings_;  ///< by use: that of now, if `bound_`, or of the last run is last
  uint64_t num_bindings_made_ = 0;
  uint64_t num_address_changes_ = 0;
  std::vector<std::unique_ptr<Invocation>> captured_;  ///< what graphs run
  Invocation* latest_ = nullptr;                       ///< on a host device; null: none, or its binding is gone
  bool latest_was_captured_ = false;                   ///< on a host device
  /// Name of a step, its place among those of that name, and the bytes that it keeps.
  using StateKey = std::tuple<std::string, std::ptrdiff_t, size_t>;
  std::map<StateKey, Buffer> states_;  ///< what steps keep from run to run

  // On a device of its own:
  std::map<const HostTensor*, Buffer> viewed_weights_;  ///< by the engine's elements of them
  std::vector<Buffer> old_memory_;                      ///< that graphs of the program may still use
  std::vector<std::unique_ptr<Binding>> old_bindings_;
  std::unique_ptr<DeviceRunner> launcher_;  ///< null on a host device; goes first: waits for the last run
};

}  // namespace kiln::runtime
