/// Explains, from a plan, how its layers came to be run as they are.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

namespace kiln {

/// A line a step: its place, time, tactic and name. Steps of a body follow the step that has it: "3.1.2" is step 2 of
/// body 1 of step 3.
std::string list_steps(const plan::Plan& plan);

/// For each step that runs `layer`: what could have run it, with times, and what was refused, with reasons. `layer` is
/// a step's name or one of a layer it came from; if none is called so, a step's number as `list_steps` has it; else a
/// part of such names. Fails if there is no such step.
Result<std::string> explain(const plan::Plan& plan, std::string_view layer);

}  // namespace kiln
