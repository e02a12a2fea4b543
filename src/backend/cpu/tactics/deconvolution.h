/// Transposed convolutions of FP32 with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

/// A deconvolution with constant weights, then optionally a bias, a residual and a clamp: kernels/deconv.
const Tactic& deconvolution_tactic();

}  // namespace kiln::cpu
