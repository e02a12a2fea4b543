/// A branch: one of two bodies.
#pragma once

#include "runtime/control/control.h"
#include "steps/if.h"

namespace kiln::runtime {

Result<std::unique_ptr<BoundStep>> bind_if(const steps::If& branch, const ControlSpec& spec);

}  // namespace kiln::runtime
