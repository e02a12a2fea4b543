/// The epilogue of a contraction, its work on the sums before it writes them, as text of its kernel.
#pragma once

#include <string>

#include "steps/epilogue.h"

namespace kiln::cuda {

using Epilogue = steps::Epilogue;

/// Pointers of an epilogue: bias, residual, then the hook's operands. Kernels take it as it lies here.
struct EpilogueArguments {
  static constexpr size_t kMost = 8;
  static constexpr size_t kFixed = 2;  ///< before the hook's operands
  const void* operand[kMost] = {};
};

/// Whether kernels can have it: operands are floats and not too many.
Status validate(const Epilogue& epilogue);
/// Whether its functions may be approximations (KernelSource::quick).
bool is_quick(const Epilogue& epilogue);
/// Prelude of a contraction's kernel: `struct Epilogue` with
/// `apply(float (&x)[V], index of the first in the result, its column)`, or in two parts: `Operands<V>` with
/// `fetch(epilogue, index, column)` and `apply(x)`. Fits any kernel of kernels/gemm and conv.
std::string epilogue_source(const Epilogue& epilogue);

}  // namespace kiln::cuda
