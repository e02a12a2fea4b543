/// A body of a step, ready to run: what a binding is to a profile.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/control/body_timer.h"
#include "runtime/control/control.h"
#include "runtime/growing_memory.h"
#include "runtime/runner.h"
#include "runtime/size_store.h"

namespace kiln::runtime {

/// Gives outputs of a body more room while the body runs.
class OutputRoom {
 public:
  virtual ~OutputRoom() = default;
  /// Sets the pointer of an output, and the room that the body knows of. What is in the output need not be kept. Fails
  /// where its room cannot grow.
  virtual Status make_room(size_t output, int64_t bytes) = 0;
};

/// What one run of a body works on.
struct BodyRun {
  const void* const* inputs;  ///< by Body::inputs
  void* const* outputs;       ///< by Body::outputs; `room` may change them
  std::byte* arena;
  std::byte* workspace;
  Stream* stream;              ///< as in RunArguments
  OutputRoom* room = nullptr;  ///< asked where an output is larger than its room; null: that fails
};

/// Bound for symbols of the steps around it; those that its runs bind anew, and the sizes that its steps decide, follow
/// run by run. A run allocates nothing where these are what they were in the run before. Used by one thread at a time.
class BoundBody {
 public:
  /// Body `index` of the step. What its steps keep from run to run stays in the context, whatever is bound.
  BoundBody(const ControlSpec& spec, size_t index);
  ~BoundBody();

  const plan::Body& body() const { return body_; }
  /// Takes the symbols of the steps around it and, where no run binds any anew, binds what follows from them.
  Status bind(std::span<const int64_t> symbols);
  /// The extents of its inputs, for runs that bind symbols by them: to be told before each run in which they change.
  void set_input_extents(size_t input, const Extents& extents) { input_extents_[input] = extents; }
  Status run(const BodyRun& run);
  /// The extents of an output in the latest run, or in this one as far as they are known; valid until asked again.
  Result<std::span<const int64_t>> output_extents(size_t output);
  Result<int64_t> output_bytes(size_t output);
  /// Bytes that an input has; a run that would read more fails.
  void set_held(size_t input, int64_t bytes) { held_[input] = bytes; }
  /// Bytes that an output has room for; a run that would write more fails.
  void set_room(size_t output, int64_t bytes) { room_[output] = bytes; }
  /// Whether a run reads an input at all.
  bool reads_input(size_t input) const;
  bool has_check() const;
  Status check();
  /// Whether a run that nobody asked for goes unnoticed: it writes its outputs alone, and cannot fail.
  bool leaves_no_trace() const;

 private:
  struct Part;
  Status bind_symbols(const BodyRun& run);
  Status bind_part(size_t part, const BodyRun* run);
  Status bind_steps(const Part& part, std::span<const Extents> extents, Stream* stream);
  Status make_room(Part& part, const BodyRun& run);
  void find_output_parts();
  Result<std::vector<Extents>> extents_of_inputs() const;
  Status place(Part& part, const BodyRun& run);
  Status run_part(Part& part, const BodyRun& run);
  Status take_sizes(size_t part);
  Status check_guards(int part) const;
  void find_guard_parts();

  const Engine& engine_;
  const plan::Body& body_;
  const int index_, block_;  ///< of Plan::bodies, and as the engine counts blocks
  Runner& runner_;
  StepStates& states_;
  const BodyPath path_;
  BodyTimer timer_;
  std::vector<int64_t> symbols_;
  std::vector<Extents> input_extents_, output_extents_;
  std::vector<int64_t> held_, room_;
  std::vector<std::unique_ptr<BoundStep>> steps_;
  SizeStore sizes_;
  std::vector<Part> parts_;       ///< by segment
  std::vector<int> guard_parts_;  ///< by guard: the last segment that decides what it reads; -1: none does
  GrowingMemory growing_;
  Buffer workspace_;          ///< where steps want more than the body was planned with
  bool keeps_state_ = false;  ///< whether some step keeps something from run to run
};

}  // namespace kiln::runtime
