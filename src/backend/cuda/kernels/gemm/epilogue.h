/// What a contraction does with its sums before it writes them, as text of its kernel.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/nest_program.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// result = hook(min(max(sum + bias + residual, lo), hi)); NaN passes through the clamp.
struct Epilogue {
  std::optional<DType> bias;      ///< one a column
  std::optional<DType> residual;  ///< laid out as the result
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  std::optional<HookSpec> hook;
};

/// Pointers of an epilogue: bias, residual, then the hook's operands. Kernels take it as it lies here.
struct EpilogueArguments {
  static constexpr size_t kMost = 8;
  static constexpr size_t kFixed = 2;  ///< before the hook's operands
  const void* operand[kMost] = {};
};

/// A tensor that an epilogue reads; without a type there is none.
struct EpilogueRead {
  std::optional<DType> type;
  HookOperand reach;
};
/// In the order of EpilogueArguments.
std::vector<EpilogueRead> reads_of(const Epilogue& epilogue);

/// Whether kernels can have it: operands are floats and not too many.
Status validate(const Epilogue& epilogue);
/// Whether its functions may be approximations (KernelSource::quick).
bool is_quick(const Epilogue& epilogue);
/// Prelude of a contraction's kernel: `struct Epilogue` with
/// `apply(float (&x)[V], index of the first in the result, its column)`, or in two parts: `Operands<V>` with
/// `fetch(epilogue, index, column)` and `apply(x)`. Fits any kernel of kernels/gemm and conv.
std::string epilogue_source(const Epilogue& epilogue);

}  // namespace kiln::cuda
