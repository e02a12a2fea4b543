/// Loaded steps that keep something from run to run.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "steps/executor.h"

namespace kiln {

/// What a step keeps for a context on the host.
class StateObject {
 public:
  virtual ~StateObject() = default;
};

/// A step whose runs depend on those before (a random generator moves on). Each context has a copy of the state, which
/// outlives bindings.
class KeepsState : public LoadedStep {
 public:
  const KeepsState* keeps_state() const final { return this; }
  /// The state before a context's first run. Empty: this step keeps nothing after all.
  virtual std::vector<std::byte> initial_state() const = 0;
  /// An object for a context's runs, in place of bytes; null: there is none. `bind_with_state` gets its address.
  virtual Result<std::unique_ptr<StateObject>> initial_object() const { return nullptr; }
  /// Whether a run is more than its outputs, so that it is wanted where they are all empty: it calls code of a program.
  virtual bool runs_for_nothing() const { return false; }
  /// The same as LoadedStep::bind, for runs that read and write the state at `state`, on the step's device.
  Result<std::unique_ptr<BoundStep>> bind_with_state(const StepShapes& shapes, std::byte* state) const;

 protected:
  /// `bind_with_state`, of shapes that the step takes. Without a state each run is a first one.
  virtual Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes, std::byte* state) const = 0;

 private:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const final {
    return bind_checked(shapes, nullptr);
  }
};

}  // namespace kiln
