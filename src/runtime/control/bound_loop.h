/// A loop: a body, again and again.
#pragma once

#include "runtime/control/control.h"
#include "steps/loop.h"

namespace kiln::runtime {

Result<std::unique_ptr<BoundStep>> bind_loop(const steps::Loop& loop, const ControlSpec& spec);

}  // namespace kiln::runtime
