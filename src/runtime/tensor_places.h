/// The places of the tensors of a binding's steps.
#pragma once

#include "runtime/engine.h"
#include "runtime/runner.h"
#include "runtime/shape_state.h"

namespace kiln::runtime {

/// Gives each tensor of the bound steps a pointer or a patch. `memory` begins with the profile's arena.
Status place_tensors(Binding& binding, std::byte* memory, const Engine& engine, const ShapeState& shapes,
                     const IoAddresses& addresses, Runner& runner);

}  // namespace kiln::runtime
