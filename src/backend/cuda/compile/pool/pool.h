/// Sources of the kernels of kernels/pool.
#pragma once

#include <span>

#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/kernels/pool/pool.h"

namespace kiln::cuda {

bool can_pool(PoolKind kind, DType type);
KernelSource pool_source(DType type, PoolKind kind, const PoolPieces& pieces);
KernelSource pool_source(DType type, const PoolTall& tall);
/// The kernels pool_<vec>, and pool_1 for what is not aligned or has no whole vectors. `window`: of pictures; few taps
/// have kernels of their own, also, with `lines`, for columns that lie together.
KernelSource pool_source(DType type, PoolKind kind, int vec, std::span<const int64_t> window = {}, bool lines = false);

}  // namespace kiln::cuda
