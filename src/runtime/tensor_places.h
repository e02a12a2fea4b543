/// The places of the tensors of a binding's steps.
#pragma once

#include "runtime/engine.h"
#include "runtime/runner.h"
#include "runtime/shape_state.h"

namespace kiln::runtime {

/// Gives each tensor of a segment's steps a pointer or a patch. The binding's memory begins with the profile's arena.
Result<StepPointers> place_tensors(Binding& binding, const plan::Segment& segment, const Engine& engine,
                                   const ShapeState& shapes, const IoAddresses& addresses, Runner& runner);

}  // namespace kiln::runtime
