/// The register tile of AVX-512's VNNI, which adds four products of bytes to a sum of 32 bits, without saturation on
/// the way.
#pragma once

#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"

namespace kiln::cpu {

/// Whether this machine multiplies bytes by VNNI, and may by the target in use.
bool has_vnni();

/// `dot` by VNNI; call it only if has_vnni().
void vnni_dot(const DotTile& tile);

/// vnni_dot, and `finish` of its sums, which stay in registers: `tile.sums` is not written. `how` has no residual.
void vnni_dot_and_finish(const DotTile& tile, const Finish& how);

}  // namespace kiln::cpu
