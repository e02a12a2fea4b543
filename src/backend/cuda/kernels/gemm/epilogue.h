/// The epilogue of a contraction, its work on the sums before it writes them.
#pragma once

#include <cstddef>

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

}  // namespace kiln::cuda
