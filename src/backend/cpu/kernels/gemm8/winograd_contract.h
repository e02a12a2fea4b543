/// Convolutions of bytes whose weights are transformed (winograd.h).
#pragma once

#include "backend/cpu/kernels/gemm8/contract.h"

namespace kiln::cpu {

/// Whether contract_by_winograd can do it: weights are transformed, the window suits, and there is neither a residual
/// nor a hook.
bool goes_by_winograd(const ByteShape& shape, const PackedBytes& w, const Epilogue& epilogue);

/// As `contract`. `workspace` has winograd_workspace_bytes, aligned to kCacheLine.
void contract_by_winograd(Team& team, const ByteShape& shape, const uint8_t* x, const PackedBytes& w,
                          const ByteScales& scales, const ByteResult& y, const Epilogue& epilogue, void* workspace);
/// Nothing where the window does not suit.
int64_t winograd_workspace_bytes(const ByteShape& shape, int64_t channels, int64_t columns, int team_size);

}  // namespace kiln::cpu
