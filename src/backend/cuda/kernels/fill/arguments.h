#pragma once

#include "backend/cuda/kernels/nest/arguments.h"
#include "ops/random_state.h"

namespace kiln::cuda {

/// alpha and beta lie on the device, or are given.
struct FillArgument {
  void* y = nullptr;
  const void *alpha = nullptr, *beta = nullptr;  ///< null: the numbers below
  double alpha_number = 0, beta_number = 0;
  RandomState first;             ///< of a launch without a state
  RandomState* state = nullptr;  ///< on the device, of the context: it moves on with every run, replayed or not
  WideWalkArgument walk;         ///< over y
  int32_t beta_by_axis = 0;      ///< beta has an element an axis
};
struct ValuesArgument {
  static constexpr uint32_t kMost = 1024;
  void* y = nullptr;
  uint32_t count = 0;
  unsigned char bytes[kMost] = {};
};
struct ReadValuesArgument {
  const void* x = nullptr;
  void* y = nullptr;
  int64_t* numbers = nullptr;  ///< of the host, as the device sees it; null: nobody reads them
  uint32_t count = 0;
};

}  // namespace kiln::cuda
