/// What steps keep from run to run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "runtime/engine.h"
#include "steps/keeps_state.h"

namespace kiln::runtime {

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

}  // namespace kiln::runtime
