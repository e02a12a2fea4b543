/// Does the runs of a context: by its host's threads, or on a device of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/log.h"
#include "device/async.h"
#include "runtime/binding.h"
#include "runtime/step_range.h"

namespace kiln::runtime {

/// Told of a step that fails while it runs, on the thread that runs it.
class FaultObserver {
 public:
  virtual ~FaultObserver() = default;
  /// `stream` is that of the run; null where it is not known any more.
  virtual void faulted(const Error& error, const Stream* stream) noexcept = 0;
};

/// Told of each run of a body in a run that is timed, on the thread that runs it.
class BodyObserver {
 public:
  virtual ~BodyObserver() = default;
  /// `body` is of Plan::bodies; the times are those of its steps.
  virtual void body_ran(int body, std::span<const float> times_ms) noexcept = 0;
};

/// Gives memory of outputs whose size is known only while the run goes on.
class OutputMemory {
 public:
  virtual ~OutputMemory() = default;
  /// Memory for an output of the engine with these extents; null only if it is empty.
  virtual Result<void*> memory_of(int output, const Extents& extents) = 0;
};

class ValueWatch;

/// A program's settings for the runs from here on. The objects behind its pointers must outlive all runs; null: none.
struct RunSettings {
  bool timed = false;
  FaultObserver* faults = nullptr;
  OutputMemory* output_memory = nullptr;
  BodyObserver* bodies = nullptr;         ///< its runs take longer on a device of its own, which the host waits for
  Event* inputs_consumed = nullptr;       ///< recorded in every run when all that reads the inputs is done
  Log* log = nullptr;                     ///< told why runs take longer than they might
  Allocator* temporary_memory = nullptr;  ///< of what steps read of shape inputs; null: where the engine's is from
  RangeDetail ranges = RangeDetail::kNone;
  ValueWatch* watch = nullptr;  ///< shows values of the run that goes on, which nobody records; set by the context

  BodyObserver* body_observer() const { return timed ? bodies : nullptr; }
  Status mark_inputs_consumed(Stream& stream) const {
    return inputs_consumed ? inputs_consumed->record(stream) : Status();
  }
};

struct Run {
  Binding& binding;
  const IoAddresses& addresses;
  bool repeats;  ///< whether binding and addresses are those of the run before
};

/// Used by its context's thread alone. Goes before the engine and the settings, and after all bindings.
class Runner {
 public:
  virtual ~Runner() = default;

  /// How many bindings may be prepared at once.
  virtual size_t most_bindings() const = 0;
  /// The address of a weight that a step reads; null: the step keeps what it needs of it.
  virtual std::byte* weight(const HostTensor& value) const = 0;
  /// The address of a weight of which a step reads a view: no step knows that this is a weight.
  virtual Result<std::byte*> viewed_weight(const HostTensor& value) = 0;
  /// The address of a shape input that has these values; `kept` holds them there. Nothing: the program's address, as of
  /// each run.
  virtual Result<std::optional<std::byte*>> shape_input(std::span<const std::byte> values, Buffer& kept) = 0;
  /// Told of bodies that run; null: nobody is.
  virtual BodyObserver* body_observer() const = 0;
  /// Shows values of the run that goes on; null: nobody looks.
  virtual ValueWatch* watch() const = 0;
  /// Makes what runs of a binding need: its steps are bound, its tensors have their places.
  virtual Status prepare(Binding& binding) = 0;
  /// Lets go of a binding whose runs are done, or keeps it where a graph of the program's may still run it.
  virtual void retire(std::unique_ptr<Binding> binding) = 0;
  /// Lets go of what was recorded of a segment's runs, which are done: its steps or its memory become others.
  virtual void forget(const Binding& binding, size_t segment) = 0;
  /// Lets go of memory of tensors, or keeps it, likewise.
  virtual void retire(Buffer memory) = 0;

  /// Queues one run, or makes it part of what `stream` captures.
  virtual Status enqueue(const Run& run, Stream& stream) = 0;
  /// Runs a segment of a binding of several, which is bound, and waits for it where another one follows: that one reads
  /// sizes. The first waits for what `stream` has queued.
  virtual Status run_segment(Binding& binding, size_t segment, Stream& stream) = 0;
  /// Whether the latest `enqueue` was captured.
  virtual bool latest_was_captured() const = 0;
  /// Returns when all runs are done.
  virtual Status wait_idle() = 0;
  /// `wait_idle`, and forgets what was recorded of runs.
  virtual Status forget_runs() = 0;
  /// The times of the latest run, by step; waits for that run.
  virtual Result<std::vector<float>> times_ms() const = 0;
  /// Gives streams for what runs beside other steps, as far as they go.
  virtual Status set_aux_streams(std::vector<std::unique_ptr<Stream>> streams) = 0;
};

}  // namespace kiln::runtime
