/// Constants of steps: in which order executors get their elements.
#pragma once

#include "device/executor.h"

namespace kiln {

/// Fails unless input `i` of a step is declared row-major. For kernels that read a constant's elements when they are
/// loaded (to pack them, or to compute by them): constants come in the order that the step declares.
Status require_linear(const StepSpec& spec, size_t i);

}  // namespace kiln
