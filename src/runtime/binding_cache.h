/// The prepared bindings of a context: its latest sets of shapes.
#pragma once

#include <memory>
#include <vector>

#include "runtime/context_memory.h"
#include "runtime/shape_state.h"
#include "runtime/step_states.h"

namespace kiln::runtime {

/// Whose faults are asked for: in words alone, since both are told once.
enum class Runs : uint8_t {
  kEarlier,  ///< runs before the call that asks
  kLatest    ///< the run that the caller has queued and waited for, after it had asked for earlier ones
};

class BindingCache {
 public:
  BindingCache(const Engine& engine, ContextMemory& memory, Runner& runner, const RunSettings& settings)
      : engine_(engine), memory_(memory), runner_(runner), settings_(settings), states_(engine) {}
  ~BindingCache();

  /// Makes the objects that a profile's steps keep.
  Status make_objects(int profile) { return states_.make_objects(profile); }
  /// Makes `current` the binding of these shapes, which are inferred: an earlier one, or a new one, for which one that
  /// was not used for long may go. May allocate.
  Status bind(const ShapeState& shapes, const IoAddresses& addresses);
  /// Whether `current` is the binding of these shapes.
  bool is_bound(const ShapeState& shapes) const { return bound_version_ == shapes.version(); }
  Binding& current() { return *bindings_.back(); }
  /// Binds a segment behind the first of `current`, for the sizes that are known now, and gives it the addresses of
  /// now. Earlier runs of it are done. May allocate where the sizes are others than in the run before.
  Status bind_later(size_t segment, const ShapeState& shapes, const IoAddresses& addresses);
  /// Drops all bindings, whose runs are done.
  void clear() { drop(bindings_.size()); }
  /// Fails where the data of finished runs broke a rule. Told once.
  Status check_runs(Runs which = Runs::kEarlier) { return has_checks_ ? ask_steps(which) : Status(); }
  /// The same, told to the observer: for runs that no call of the program's will ask about.
  void tell_faults();

 private:
  Status ask_steps(Runs which);
  bool take_earlier(const ShapeState& shapes);
  Status make(const ShapeState& shapes, const IoAddresses& addresses);
  Status make_room();
  void drop(size_t count);
  Status make_workspace(Binding& binding);
  Status bind_steps(Binding& binding, const plan::Segment& segment, const ShapeState& shapes);
  Result<std::byte*> memory_for(const Binding& binding);

  const Engine& engine_;
  ContextMemory& memory_;
  Runner& runner_;
  const RunSettings& settings_;
  StepStates states_;
  std::vector<std::unique_ptr<Binding>> bindings_;  ///< by use: that of now, or of the last run, is last
  uint64_t num_made_ = 0;
  bool has_checks_ = false;     ///< whether some step of some binding may have something to tell
  uint64_t bound_version_ = 0;  ///< of the shapes that `current` is for; 0: none
};

}  // namespace kiln::runtime
