/// The epilogue of a contraction as text of its kernel.
#pragma once

#include <string>

#include "backend/cuda/kernels/gemm/epilogue.h"

namespace kiln::cuda {

/// Whether its functions may be approximations (KernelSource::quick).
bool is_quick(const Epilogue& epilogue);
/// Prelude of a contraction's kernel: `struct Epilogue` with
/// `apply(float (&x)[V], index of the first in the result, its column)`, or in two parts: `Operands<V>` with
/// `fetch(epilogue, index, column)` and `apply(x)`. Fits any kernel of kernels/gemm and conv.
/// Sums of bytes have `scales`.
std::string epilogue_source(const Epilogue& epilogue, const std::optional<ByteScales>& scales = {});

}  // namespace kiln::cuda
