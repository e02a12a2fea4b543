/// A profile's steps with those of the bodies within them, for texts that show all of a plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace kiln::plan {

/// A step, and where it stands.
struct NestedStep {
  const Block* block = nullptr;  ///< the profile, or a body
  size_t step = 0;               ///< of the block
  const Body* body = nullptr;    ///< the block as a body; null: it is the profile
  std::optional<size_t> around;  ///< in the list: the step that the body is one of
  std::string number;            ///< "3", or "3.1.2": of step 3, body 1, its step 2

  const Step& get() const { return block->steps[step]; }
};

/// All steps that runs of a profile may come to: each step, and then those of its bodies.
std::vector<NestedStep> nested_steps(const Plan& plan, const Block& profile);

}  // namespace kiln::plan
