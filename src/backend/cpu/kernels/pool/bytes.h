/// Maximum pooling of bytes.
#pragma once

#include "backend/cpu/kernels/pool/pool.h"

namespace kiln::cpu {

/// The greatest of each window of bytes, signed or not, channels last and dense; `kind` is kMax. A window wholly in
/// padding gives the least byte.
void pool_bytes(Team& team, const PoolShape& shape, bool is_signed, const uint8_t* in, uint8_t* out);

}  // namespace kiln::cpu
