/// Matrix products of FP32 with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cpu {

/// A product, then optionally a bias along its last axis, a residual and a clamp: kernels/gemm.
const Tactic& matrix_multiply_tactic();

}  // namespace kiln::cpu
