/// Ramps, random numbers, and values that bind knows: kernels/fill/fill.cuh.
#pragma once

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "ops/fill.h"
#include "tensor/dtype.h"

namespace kiln::cuda {

/// The kernels' argument: kernels/fill/fill.cuh declares it, byte for byte.
struct FillArgument {
  void* y = nullptr;
  const void *alpha = nullptr, *beta = nullptr;
  double alpha_number = 0, beta_number = 0;
  RandomState first;
  RandomState* state = nullptr;
  WideWalkArgument walk;
  int32_t beta_by_axis = 0;
};
static_assert(sizeof(FillArgument) == 168 && sizeof(RandomState) == 24 &&
              sizeof(WideWalkArgument) == 88);  // as kernels do
struct ValuesArgument {
  static constexpr uint32_t kMost = 1024;
  void* y = nullptr;
  uint32_t count = 0;
  unsigned char bytes[kMost] = {};
};

}  // namespace kiln::cuda
