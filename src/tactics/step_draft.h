/// The draft of a step as every backend begins it.
#pragma once

#include "steps/step.h"
#include "tactics/tactic.h"

namespace kiln {

/// Without an executor and what that chooses.
inline StepDraft step_draft(AnyStep step, int in_place_input = -1) {
  return {.step = std::move(step), .in_place_input = in_place_input};
}

}  // namespace kiln
