/// Convolutions of FP32 with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

/// A convolution, then optionally a bias, a residual and a clamp: kernels/conv, /winograd and /depthwise.
const Tactic& convolution_tactic();

}  // namespace kiln::cpu
