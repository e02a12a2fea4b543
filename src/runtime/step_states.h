/// What steps keep from run to run.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/engine.h"
#include "steps/keeps_state.h"

namespace kiln::runtime {

/// A step by its name, and its place among the steps of that name in its block: the same in each profile that has it.
using StepName = std::pair<std::string, std::ptrdiff_t>;
/// The bodies around a step, the outermost first: the step that runs each, and its index among that step's bodies. A
/// profile's steps have none around them.
using BodyPath = std::vector<std::pair<StepName, size_t>>;

/// The path of body `index` of step `s` of a block.
BodyPath path_of_body(const BodyPath& around, const plan::Block& block, size_t s, size_t index);

/// The state that a context's steps keep from run to run, whatever shapes and kernels are bound. Used by one thread at
/// a time.
class StepStates {
 public:
  explicit StepStates(const Engine& engine) : engine_(engine) {}
  /// Returns the state of step `s` of a block, null where it keeps none. A step of the same name in another profile, of
  /// several the one at the same place among them, goes on where this one is left.
  Result<std::byte*> of(const KeepsState& step, const plan::Block& block, size_t s, const BodyPath& around = {});
  /// Makes the objects of a profile's own steps: what cannot be made fails before any run. Those of bodies are made
  /// when the bodies are bound. The error names the step.
  Status make_objects(int profile);

 private:
  /// A step, and the bytes that it keeps.
  using Key = std::tuple<BodyPath, StepName, size_t>;
  const Engine& engine_;
  std::map<Key, Buffer> states_;
  /// Objects by step and kernel: profiles and alternatives that load another have an object of their own.
  std::map<std::tuple<BodyPath, StepName, const KeepsState*>, std::unique_ptr<StateObject>> objects_;
};

}  // namespace kiln::runtime
