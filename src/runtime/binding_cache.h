/// The prepared bindings of a context: its latest sets of shapes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/context_memory.h"
#include "runtime/shape_state.h"
#include "steps/keeps_state.h"

namespace kiln::runtime {

/// Whose faults are asked for: in words alone, since both are told once.
enum class Runs : uint8_t {
  kEarlier,  ///< runs before the call that asks
  kLatest    ///< the run that the caller has queued and waited for, after it had asked for earlier ones
};

/// The state that steps keep from run to run, whichever of their kernels is bound.
class StepStates {
 public:
  explicit StepStates(const Engine& engine) : engine_(engine) {}
  /// The state of step `s` of a profile. A step of the same name in another profile, of several the one at the same
  /// place among them, goes on where this one is left.
  Result<std::byte*> of(const KeepsState& step, const plan::Profile& profile, size_t s);
  /// Makes the objects of a profile's steps: what cannot be made fails before any run. The error names the step.
  Status make_objects(int profile);

 private:
  /// Name of a step, its place among those of that name, and the bytes that it keeps.
  using Key = std::tuple<std::string, std::ptrdiff_t, size_t>;
  const Engine& engine_;
  std::map<Key, Buffer> states_;
  /// Objects by name and place of their step, and the step: profiles that load another have an object of their own.
  std::map<std::tuple<std::string, std::ptrdiff_t, const KeepsState*>, std::unique_ptr<StateObject>> objects_;
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
